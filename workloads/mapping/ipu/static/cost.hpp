// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// Bundles of one worker of StaticSparseDenseElementWise: rows of non-zeros times `columns` of
/// the dense operand.
struct ElementWiseBundles {
  std::uint64_t entry;    // once per worker
  std::uint64_t row;      // for each row, its first non-zero included
  std::uint64_t nonzero;  // for each further non-zero of a row
};
ElementWiseBundles element_wise_bundles(const Types& types, std::uint64_t columns, Form form);

/// Bundles of a worker that has no rows, as counted in its assembly (confidence H).
inline constexpr std::uint64_t kElementWiseIdleBundles = 21;

/// The parts of StaticSparseDenseMatMulBlock, of which the supervisor loads the weights of each
/// block and launches the workers on `columns` columns each.
struct BlockCost {
  Cycle entry;                  // supervisor, once
  Cycle row;                    // supervisor, for each row of blocks
  Cycle block;                  // supervisor, for each block, weights and workers apart
  std::uint64_t loads;          // of weights, for each block
  Cycle weights;                // for them
  std::uint64_t entry_bundles;  // of every worker, once
  std::uint64_t row_bundles;    // of every worker, for the first block of a row
};
/// The clocks of BlockCost::block: before the weights, from them until the workers run, and from
/// their rendezvous to the next block. The sum, 16, is that of PopSparse's estimate
/// (StaticMatMulPartitioner.cpp, confidence H), its parts are those of the supervisor's
/// instructions, of which a launch and a rendezvous take 6 each (inferred, M).
inline constexpr Cycle kBeforeWeights = 2;
inline constexpr Cycle kBlockLaunch = 6;
inline constexpr Cycle kSyncAndNext = 6 + 2;
BlockCost block_cost(const Target& target, const Types& types, unsigned block);

/// Bundles of the AMP for one column of a block.
unsigned amp_bundles(const Target& target, const Types& types, unsigned block);

/// Bundles of a worker for one block, if it has `columns` columns.
std::uint64_t block_worker_bundles(const Target& target, const Types& types, unsigned block,
                                   std::uint64_t columns);

/// Passes over a block: more than one if the AMP has fewer columns than the block has rows. Each
/// loads the weights of its rows, launches the workers and reads the columns again.
unsigned block_passes(const Target& target, const Types& types, unsigned block);

/// Clocks of the vertex for `rows` rows of `blocks` blocks each, `columns` columns per worker.
Cycle block_vertex_clocks(const Target& target, const Types& types, unsigned block,
                          std::uint64_t rows, std::uint64_t blocks, std::uint64_t columns);

/// Clocks to zero `bytes` of partials, where the codelet needs it (FP32 blocks of 8 and 16).
Cycle block_zero_clocks(const Target& target, const Types& types, unsigned block,
                        std::uint64_t bytes);

}  // namespace lacuna::ipu
