// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/static/cost.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// A rectangle of work that one worker has.
struct WorkerTile {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t first_row = 0;
  std::uint64_t first_column = 0;
};

/// Cuts rows x columns into at least as many rectangles as there are workers, if there are that
/// many elements. After PopLibs popsparse/FullyConnectedUtils.cpp (MIT).
std::vector<WorkerTile> split_tile(std::uint64_t rows, std::uint64_t columns, unsigned workers);

/// How a tile's supervisor finds its sub-groups: `buckets` of which `matching` hold one of the
/// tile's, with `groups` sub-groups in each.
struct BucketSearch {
  std::uint64_t buckets = 0;
  std::uint64_t matching = 0;
  std::uint64_t groups = 1;
};

/// What the supervisor of a codelet takes before its first bucket (entry), for a bucket that has
/// none of the tile's sub-groups (other), to find a sub-group of another bucket, and to start it.
/// The numbers are those of the estimators of PopLibs (7eac0f26),
/// popsparse/PerformanceEstimation.hpp.
struct SupervisorClocks {
  Cycle entry;
  Cycle other;
  Cycle find;
  Cycle start;
};
inline constexpr SupervisorClocks kForwardSupervisor{30, 32, 47, 46};
inline constexpr SupervisorClocks kTransposedSupervisor{30, 32, 44, 68};
inline constexpr SupervisorClocks kBlockSupervisor{40, 33, 46, 56};

/// What it takes beside that in the block codelet: for each block, for each pass over its weights,
/// for each row if weights are retained, and at the end.
struct BlockClocks {
  Cycle block;
  Cycle pass;
  Cycle row;
  Cycle exit;
};
inline constexpr BlockClocks kBlockClocks{3, 12, 1, 2};

/// What it takes to transpose blocks.
inline constexpr Cycle kTransposeSupervisor = 7;

/// Clocks of the one worker that controls a step of travelling buckets.
inline constexpr Cycle kStepControl = 36;

/// Bundles of a worker that zeros partials, before the first.
inline constexpr std::uint64_t kZeroEntry = 14;

/// Supervisor clocks to find and launch, apart from the workers.
Cycle dynamic_forward_search(const BucketSearch& search);
Cycle dynamic_transposed_search(const BucketSearch& search);
Cycle dynamic_block_search(const BucketSearch& search);

/// Bundles of a worker of the element-wise product: rows of `nonzeros` each, times `columns`.
std::uint64_t dynamic_forward_bundles(const Types& types, std::uint64_t rows,
                                      std::uint64_t nonzeros, std::uint64_t columns, Form form);

/// Bundles of a worker of the transposed product on the forward buckets; `nonzeros` of a row are
/// shared by the workers.
std::uint64_t dynamic_transposed_bundles(const Target& target, const Types& types,
                                         std::uint64_t rows, std::uint64_t nonzeros,
                                         std::uint64_t columns);

/// The parts of the block codelet; `passes` weight loads for each block.
struct DynamicBlockCost {
  std::uint64_t loads = 0;  // of one block, all passes
  Cycle weights = 0;        // for them
  std::uint64_t passes = 1;
  std::uint64_t entry = 0;  // bundles of a worker, once
  std::uint64_t block = 0;  // bundles of a worker for each pass of a block
};
DynamicBlockCost dynamic_block_cost(const Target& target, const Types& types, unsigned block,
                                    std::uint64_t columns, bool retained);

/// Clocks of the block codelet for rows of `blocks` blocks, workers with `columns` columns.
Cycle dynamic_block_clocks(const Target& target, const Types& types, unsigned block,
                           const BucketSearch& search, std::uint64_t rows, std::uint64_t blocks,
                           std::uint64_t columns, bool retained);

/// Clocks to transpose `blocks` blocks, for the transposed product of blocks.
Cycle block_transpose_clocks(const Target& target, const Types& types, unsigned block,
                             std::uint64_t blocks);

/// The planner's and the real clocks to zero `elements` FP32 partials.
Cycle dynamic_zero_clocks(const Target& target, std::uint64_t elements, Form form);

}  // namespace lacuna::ipu
