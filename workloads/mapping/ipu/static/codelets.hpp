// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// What a tile's supervisor is given: for each row, how many non-zeros it has there.
struct RowCounts {
  const std::uint32_t* begin;
  const std::uint32_t* end;

  std::uint32_t size() const { return static_cast<std::uint32_t>(end - begin); }
};

/// The rows [first, last) that one worker takes.
struct RowRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// Gives the rows of a tile to its workers in order. Each takes rows until it has its share of the
/// non-zeros; with no more rows than workers, each takes one. Workers left over get an empty range.
/// After PopLibs popsparse/StaticMatMul.cpp (MIT).
std::vector<RowRange> divide_rows(const RowCounts& rows, unsigned workers);

/// Writes the vertices of static sparse products into a program, in their run-time form.
class StaticCodelets {
 public:
  StaticCodelets(ProgramBuilder& builder, const Target& target, const Types& types, unsigned block);

  /// A vertex that multiplies these rows with `columns` columns of the dense operand.
  std::uint32_t vertex(const RowCounts& rows, std::uint64_t columns);

 private:
  std::uint32_t element_vertex(const RowCounts& rows, std::uint64_t columns);
  std::uint32_t block_vertex(const RowCounts& rows, std::uint64_t columns);
  std::uint32_t row_codelet(std::uint64_t columns);
  std::uint32_t entry_codelet(std::uint64_t bundles);
  std::vector<std::uint32_t> block_sets(std::uint64_t columns);
  std::uint32_t block_worker(std::uint64_t columns, bool first);
  void make_element_bundles();
  void make_block_bundles();
  void make_block_supervisor();

  ProgramBuilder& builder_;
  const Target target_;
  const Types types_;
  const unsigned block_;

  std::uint32_t overhead_ = 0;  // bundles that only steer
  std::uint32_t store_ = 0;     // of 64 bits of partials
  std::uint32_t multiply_ = 0;  // reads an offset and a vector of the dense operand
  std::uint32_t multiply_more_ = 0;
  std::uint32_t accumulate_ = 0;     // reads the next non-zero
  std::uint32_t amp_first_ = 0;      // starts the sums
  std::uint32_t amp_ = 0;            // goes on with the partials in memory
  std::uint32_t amp_more_ = 0;       // reads no column of the dense operand
  std::uint32_t amp_input_ = kNone;  // of a narrow AMP: its passes share the partials
  std::uint32_t amp_only_ = kNone;
  std::uint32_t weights_ = 0;  // 64 bits from memory to the AMP unit
  std::uint32_t block_entry_ = 0;
  std::uint32_t block_row_ = 0;
  std::map<std::uint64_t, std::uint32_t> rows_of_columns_;  // codelets by columns
  std::map<std::uint64_t, std::uint32_t> entries_;          // codelets by bundles
  std::map<std::uint64_t, std::vector<std::uint32_t>> sets_of_columns_;
};

}  // namespace lacuna::ipu
