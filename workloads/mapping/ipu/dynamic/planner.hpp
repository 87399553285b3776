// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// What is known of a dynamic sparse product when it is planned: shapes, and how many blocks may
/// at most be non-zero.
struct DynamicProblem {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  unsigned block = 1;
  std::uint64_t most_nonzeros = 0;  // in blocks
};

/// The clocks a pass is expected to take, by phase.
struct DynamicEstimate {
  Cycle dense = 0;  // exchange of the dense operand
  Cycle buckets = 0;
  Cycle transpose = 0;
  Cycle zero = 0;
  Cycle multiply = 0;
  Cycle partials = 0;
  Cycle reduce = 0;

  Cycle total() const { return dense + buckets + transpose + zero + multiply + partials + reduce; }
};

/// The equal parts of rows, contraction and columns, one combination for each tile, and the
/// buckets of fixed size that the non-zeros of a combination travel in.
struct DynamicPlan {
  unsigned block = 1;
  unsigned z_grain = 1;
  std::uint64_t x = 1;       // parts of the rows
  std::uint64_t y = 1;       // parts of the contraction
  std::uint64_t z = 1;       // parts of the columns
  std::uint64_t tile_x = 0;  // of a tile, in blocks
  std::uint64_t tile_y = 0;
  std::uint64_t tile_z = 0;         // in grains of columns
  std::uint64_t bucket_blocks = 0;  // capacity
  std::uint64_t bucket_words = 0;   // 16-bit words of meta-information
  std::uint64_t bucket_bytes = 0;
  std::uint64_t tile_bytes = 0;
  DynamicEstimate forward;
  DynamicEstimate transposed;  // planned with it, whether it is executed or not

  std::uint64_t tiles() const { return x * y * z; }
};

/// The side of the blocks that dynamic codelets take: the largest of 16 (FP16 only), 8 and 4 that
/// divides `block`, else 1.
unsigned dynamic_block(const Types& types, unsigned block);

/// The cheapest plan for forward and transposed product together, after PopLibs
/// popsparse/FullyConnectedPlan.cpp (MIT). `oversize` is what buckets can hold beyond the mean.
/// OutOfMemoryError if nothing fits `target.planning_bytes`.
DynamicPlan plan_dynamic(const Target& target, const Types& types, const DynamicProblem& problem,
                         double oversize);

}  // namespace lacuna::ipu
