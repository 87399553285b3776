// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// Sums of `depth` rows of partials, `elements` long.
struct ReducePiece {
  std::uint64_t elements = 0;
  std::uint32_t depth = 0;
};

inline bool operator<(const ReducePiece& a, const ReducePiece& b) {
  return std::tie(a.elements, a.depth) < std::tie(b.elements, b.depth);
}

/// Writes the vertices that reduce, zero and copy into a program, in their run-time form.
class ReduceCodelets {
 public:
  ReduceCodelets(ProgramBuilder& builder, const Target& target, const Types& types, DType out);

  /// ReduceAdd of convolutions over all workers.
  std::uint32_t add_vertex(const ReducePiece& piece);

  /// ReduceAdd with one contiguous input, whose length is a multiple of the vector width.
  std::uint32_t contiguous_vertex(const ReducePiece& piece);

  /// The strided reductions of popops that each worker makes, one after another: 64 bits of a row
  /// at a time, whatever the accumulators could take.
  std::uint32_t strided_vertex(const std::vector<std::vector<ReducePiece>>& of_workers);

  /// Writes zeros, or copies, or casts partials to the output type, over all workers.
  std::uint32_t fill_vertex(std::uint64_t bytes);
  std::uint32_t zero_vertex(std::uint64_t bytes);  // of partials, before FP32 blocks
  std::uint32_t copy_vertex(std::uint64_t bytes);
  std::uint32_t cast_vertex(std::uint64_t elements);
  std::uint32_t empty_vertex();  // one clock: a step that is left out

  /// Puts elements of the data type into another order, one by one. The smallest store is of 32
  /// bits: two loads and a store for two halves, a load and a store for a single.
  std::uint32_t reorder_vertex(std::uint64_t elements);

 private:
  void make_sums();
  void make_moves();
  std::uint32_t shared_vertex(std::uint32_t codelet, std::uint64_t items);

  ProgramBuilder& builder_;
  const Target target_;
  const Types types_;
  const DType out_;
  std::uint32_t overhead_ = 0;  // bundles
  std::uint32_t store_ = 0;
  std::uint32_t launch_ = 0;  // supervisor's codelets
  std::uint32_t copy_launch_ = 0;
  std::uint32_t add_ = 0;  // worker's codelets
  std::uint32_t contiguous_ = 0;
  std::uint32_t contiguous_launch_ = 0;
  std::uint32_t strided_ = 0;
  std::uint32_t idle_ = 0;
  std::uint32_t empty_ = 0;
  std::uint32_t fill_ = 0;
  std::uint32_t zero_ = 0;
  std::uint32_t copy_ = 0;
  std::uint32_t cast_ = 0;
  std::uint32_t reorder_ = 0;
  std::map<ReducePiece, std::uint32_t> adds_;
  std::map<ReducePiece, std::uint32_t> contiguous_adds_;
  std::map<std::vector<std::vector<ReducePiece>>, std::uint32_t> strides_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> shared_;
};

}  // namespace lacuna::ipu
