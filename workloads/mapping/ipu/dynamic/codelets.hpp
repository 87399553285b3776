// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/dynamic/cost.hpp"

namespace lacuna::ipu {

/// The rows of one matching sub-group in one bucket, by their numbers of non-zeros, and how many
/// other sub-groups the supervisor looks at in the bucket.
struct BucketWork {
  std::vector<std::uint32_t> row_counts;
  std::uint64_t others = 0;
};

/// The product with a matrix, or with its transpose from the same buckets.
enum class SparsePass { forward, transposed };

/// Writes the vertices of dynamic sparse products into a program, in their run-time form.
class DynamicCodelets {
 public:
  DynamicCodelets(ProgramBuilder& builder, const Target& target, const Types& types, unsigned block,
                  unsigned grain, SparsePass pass = SparsePass::forward);

  /// A vertex that searches these buckets, and multiplies what matches with `columns` columns.
  std::uint32_t vertex(const std::vector<BucketWork>& buckets, std::uint64_t columns);

  /// The control of one step of travelling buckets, by one worker: kStepControl.
  std::uint32_t control_vertex();

  /// Zeroes `elements` partials.
  std::uint32_t zero_vertex(std::uint64_t elements);

  /// Transposes each of `blocks` blocks of a bucket in place, before a transposed product.
  std::uint32_t transpose_vertex(std::uint64_t blocks);

 private:
  /// One kind of AMP bundle, and its number for a column of a block in one pass.
  struct AmpKind {
    std::uint32_t bundle;
    unsigned per_column;
  };

  void element_calls(const BucketWork& work, std::uint64_t columns, std::vector<Call>& supervisor,
                     std::vector<std::uint32_t>& sets);
  void block_calls(const BucketWork& work, std::uint64_t columns, std::vector<Call>& supervisor,
                   std::vector<std::uint32_t>& sets);
  std::uint32_t row_codelet(std::uint64_t columns);
  std::uint32_t transposed_row_codelet(std::uint64_t columns);
  std::vector<std::uint32_t> transposed_workers(const BucketWork& work, std::uint64_t columns);
  std::uint32_t block_worker(std::uint64_t columns);
  std::uint32_t clocks(std::uint64_t n);      // a supervisor's codelet
  std::uint32_t wait(std::uint64_t bundles);  // a worker's
  std::uint32_t launch(std::uint32_t set);
  const SupervisorClocks& supervisor_clocks() const;
  void make_element_bundles();
  void make_block_bundles();
  void make_block_row(std::uint64_t columns);

  ProgramBuilder& builder_;
  const Target target_;
  const Types types_;
  const unsigned block_;
  const unsigned grain_;
  const SparsePass pass_;
  std::uint32_t overhead_ = 0;
  std::uint32_t read_ = 0;   // 64 bits of partials
  std::uint32_t store_ = 0;  // likewise
  std::uint32_t multiply_ = 0;
  std::uint32_t multiply_more_ = 0;
  std::uint32_t accumulate_ = 0;
  std::uint32_t update_ = 0;  // 64 bits of partials read, and written
  std::uint32_t weights_ = 0;
  std::uint32_t zero_ = 0;
  std::uint32_t control_ = kNone;  // vertex
  std::uint32_t start_ = 0;        // codelet that launches worker set 0
  std::uint32_t block_row_ = 0;    // codelet of a row of blocks
  std::vector<AmpKind> amp_;
  std::map<std::uint64_t, std::uint32_t> rows_of_columns_;
  std::map<std::uint64_t, std::uint32_t> clocks_;
  std::map<std::uint64_t, std::uint32_t> waits_;
  std::map<std::uint32_t, std::uint32_t> launches_;
  std::map<std::uint64_t, std::uint32_t> zeros_;
};

}  // namespace lacuna::ipu
