// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/cost.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

ElementWiseBundles half_bundles(std::uint64_t columns, Form form) {
  const bool run_time = form == Form::run_time;
  if (columns == 4) return {31, 7, 2};
  if (columns == 8) return run_time ? ElementWiseBundles{30, 10, 3} : ElementWiseBundles{31, 8, 3};
  // Eight columns at a time, and at most one group of four; each group walks the row again.
  const std::uint64_t eights = columns / 8;
  const std::uint64_t rest = columns % 8 != 0 ? 1 : 0;
  return {33, (run_time ? 12U : 11U) + eights * 14 + rest * 9, eights * 3 + rest * 2};
}

ElementWiseBundles single_bundles(std::uint64_t columns) {
  if (columns == 2) return {29, 5, 2};
  if (columns == 4) return {30, 6, 3};
  const std::uint64_t fours = columns / 4;
  const std::uint64_t rest = columns % 4 != 0 ? 1 : 0;
  return {31, 12 + fours * 10 + rest * 10, fours * 3 + rest * 2};
}

/// Bundles of a worker for a block of at least one column, on the AMP the codelet was written for.
std::uint64_t counted_bundles(const Types& types, unsigned block, std::uint64_t columns) {
  const std::uint64_t more = columns - 1;
  switch (block) {
    case 4:
      if (!types.half()) return 12 + 4 * more;
      return columns <= 2 ? 7 + columns : 13 + columns;
    case 8:
      return types.half() ? 14 + 2 * more : 19 + 8 * more;
    case 16:
      if (types.half()) return 19 + 4 * more;
      return columns == 1 ? 58 : 2 * (37 + 8 * more);
    default:
      throw InternalError("no static codelet for blocks of this side");
  }
}

}  // namespace

ElementWiseBundles element_wise_bundles(const Types& types, std::uint64_t columns, Form form) {
  return types.half() ? half_bundles(columns, form) : single_bundles(columns);
}

BlockCost block_cost(const Target& target, const Types& types, unsigned block) {
  BlockCost cost{};
  cost.entry = 30;
  cost.row = 17;
  cost.block = 16;
  cost.loads = target.amp.weight_loads(std::uint64_t{block} * block * types.bytes());
  cost.weights = target.amp.weight_clocks(std::uint64_t{block} * block * types.bytes());
  const bool half = types.half();
  cost.entry_bundles = half ? (block == 4 ? 17 : 13) : (block == 16 ? 16 : 13);
  cost.row_bundles = half || block == 4 ? 1 : 4;
  return cost;
}

// The two passes over the inputs of a block of 16 in FP32 are one of the codelet.
unsigned block_passes(const Target& target, const Types& types, unsigned block) {
  const unsigned own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  return static_cast<unsigned>(ceil_div(target.amp.passes(amp_mode(types), block, block), own));
}

// A bundle of these codelets takes in 64 bits, and stores as many.
unsigned amp_bundles(const Target& target, const Types& types, unsigned block) {
  const unsigned own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  return std::max(
      own * target.amp.bundles(types.half() ? AmpMode::half : AmpMode::single, block, block),
      block * types.bytes() / 8);
}

std::uint64_t block_worker_bundles(const Target& target, const Types& types, unsigned block,
                                   std::uint64_t columns) {
  if (columns == 0) return 1;
  const AmpMode mode = amp_mode(types);
  const std::uint64_t own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  const auto fill = static_cast<std::uint64_t>(target.amp.more_fill(mode, block, block));
  const std::uint64_t counted =
      counted_bundles(types, block, columns) - columns * amp_bundles(Target(), types, block);
  return counted + columns * amp_bundles(target, types, block) + own * fill;
}

Cycle block_vertex_clocks(const Target& target, const Types& types, unsigned block,
                          std::uint64_t rows, std::uint64_t blocks, std::uint64_t columns) {
  const BlockCost cost = block_cost(target, types, block);
  const Cycle workers = target.worker_clocks(block_worker_bundles(target, types, block, columns));
  const std::uint64_t passes = block_passes(target, types, block);
  const Cycle row = passes * target.worker_clocks(cost.row_bundles) + cost.row +
                    blocks * (passes * (cost.block + workers) + cost.weights);
  return cost.entry + target.worker_clocks(cost.entry_bundles) + rows * row;
}

Cycle block_zero_clocks(const Target& target, const Types& types, unsigned block,
                        std::uint64_t bytes) {
  if (types.half() || block < 8) return 0;
  return target.worker_clocks(12 + ceil_div(ceil_div(bytes, 8), target.workers));
}

}  // namespace lacuna::ipu
