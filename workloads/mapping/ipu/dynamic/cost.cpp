// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/cost.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

std::uint64_t when(bool condition, std::uint64_t amount) { return condition ? amount : 0; }

/// Sub-groups that are looked at before the matching one, on average, and that one.
std::uint64_t looked_at(const BucketSearch& search, std::uint64_t each) {
  return ((search.groups - 1) * each + 2 * each) / 2;
}

std::uint64_t half_forward(std::uint64_t x, std::uint64_t y, std::uint64_t z, Form form) {
  if (z == 8) return 28 + x * (15 + 3 * y);
  if (z == 4) return 30 + x * (11 + 2 * y);
  const std::uint64_t eights = z / 8;
  const std::uint64_t rest =
      when((z & 4U) != 0, 13 + 2 * y) + when((z & 3U) != 0, 11 + 2 * y * (z & 3U));
  // The estimator charges the set-up of a group of eight columns once, hardware each time.
  if (form == Form::run_time) return 33 + x * (13 + eights * (17 + 3 * y) + rest);
  return 33 + x * (12 + when(eights != 0, 16 + eights * 3 * y) + rest);
}

std::uint64_t single_forward(std::uint64_t x, std::uint64_t y, std::uint64_t z, Form form) {
  if (z == 4) return 25 + x * (13 + 3 * y);
  if (z == 2) return 27 + x * (11 + 2 * y);
  const std::uint64_t odd = when((z & 1U) != 0, 8 + 2 * y) + ((z & 3U) != 0 ? 3 : 1);
  // The assembly has not been counted; its loops are taken to be those of the FP16 codelet.
  if (form == Form::run_time) {
    return 30 + x * (13 + z / 4 * (12 + 3 * y) + when((z & 2U) != 0, 8 + 2 * y) + odd);
  }
  return 30 +
         x * (13 + when(z >= 4, 12 + z / 4 * 3 * y) + when((z & 2U) != 0, 8 + z / 2 * 2 * y) + odd);
}

/// Bundles of a worker for a pass over one block, apart from its columns.
std::uint64_t block_overhead(const Types& types, unsigned block, std::uint64_t columns) {
  const std::size_t at = columns >= 3 ? 2 : (columns == 2 ? 1 : 0);
  const auto pick = [&](std::uint64_t one, std::uint64_t two, std::uint64_t more) {
    return at == 0 ? one : (at == 1 ? two : more);
  };
  const bool narrow = types.partials == DType::fp16;
  switch (block) {
    case 4:
      if (narrow) return pick(15, 16, 17);
      return types.half() ? pick(17, 18, 19) : 14;
    case 8:
      if (narrow) return pick(19, 20, 20);
      return types.half() ? pick(22, 23, 23) : pick(22, 22, 23);
    case 16:
      return narrow ? pick(22, 23, 22) : pick(24, 25, 24);
    default:
      throw InternalError("no dynamic codelet for blocks of this side");
  }
}

}  // namespace

std::vector<WorkerTile> split_tile(std::uint64_t rows, std::uint64_t columns, unsigned workers) {
  const std::uint64_t share = ceil_div(rows * columns, workers);
  const std::uint64_t r = std::min(ceil_div(share, columns), rows);
  const std::uint64_t c = std::min(ceil_div(share, r), columns);
  std::vector<WorkerTile> tiles;
  for (std::uint64_t i = 0; i < rows / r; ++i) {
    for (std::uint64_t j = 0; j < columns / c; ++j) {
      const bool last_row = i + 1 == rows / r;
      const bool last_column = j + 1 == columns / c;
      tiles.push_back(
          {last_row ? rows - i * r : r, last_column ? columns - j * c : c, i * r, j * c});
    }
  }
  while (tiles.size() < workers) {
    const auto largest = std::max_element(tiles.begin(), tiles.end(), [](auto& a, auto& b) {
      return a.rows * a.columns < b.rows * b.columns;
    });
    WorkerTile rest = *largest;
    if (largest->rows > largest->columns) {
      largest->rows -= rest.rows = largest->rows / 2;
      rest.first_row += largest->rows;
    } else {
      largest->columns -= rest.columns = largest->columns / 2;
      rest.first_column += largest->columns;
    }
    if (rest.rows * rest.columns == 0) break;  // fewer elements than workers
    tiles.push_back(rest);
  }
  return tiles;
}

Cycle dynamic_forward_search(const BucketSearch& s) {
  return 30 + 32 * (s.buckets - s.matching) * s.groups + s.matching * (looked_at(s, 47) + 46);
}

Cycle dynamic_transposed_search(const BucketSearch& s) {
  return 30 + 32 * (s.buckets - s.matching) * s.groups + s.matching * (looked_at(s, 44) + 68);
}

Cycle dynamic_block_search(const BucketSearch& s) {
  return 40 + 33 * (s.buckets - s.matching) * s.groups + s.matching * (looked_at(s, 46) + 56);
}

std::uint64_t dynamic_forward_bundles(const Types& types, std::uint64_t rows,
                                      std::uint64_t nonzeros, std::uint64_t columns, Form form) {
  return types.half() ? half_forward(rows, nonzeros, columns, form)
                      : single_forward(rows, nonzeros, columns, form);
}

std::uint64_t dynamic_transposed_bundles(const Target& target, const Types& types,
                                         std::uint64_t rows, std::uint64_t nonzeros,
                                         std::uint64_t columns) {
  const std::uint64_t y = ceil_div(nonzeros, target.workers);
  const std::uint64_t z = columns;
  if (!types.half()) {
    return 23 +
           rows * (24 + 8 + when(z / 2 >= 1, (2 + 3 * (z / 2)) * y) + when((z & 1U) != 0, 4 * y));
  }
  if (z == 8) return 20 + rows * (18 + 10 * y);
  if (z == 4) return 20 + rows * (21 + 7 * y);
  return 26 + rows * (22 + 8 + when(z / 4 >= 1, (2 + 5 * (z / 4)) * y) +
                      when((z & 3U) != 0, (5 + 3 * (z & 3U)) * y));
}

DynamicBlockCost dynamic_block_cost(const Target& target, const Types& types, unsigned block,
                                    std::uint64_t columns, bool retained) {
  DynamicBlockCost cost;
  const bool narrow = types.partials == DType::fp16;
  cost.loads = target.amp.weight_loads(std::uint64_t{block} * block * (types.half() ? 2 : 4));
  cost.weights = target.amp.weight_clocks(std::uint64_t{block} * block * (types.half() ? 2 : 4));
  const AmpMode mode = amp_mode(types);
  cost.passes = target.amp.passes(mode, block, block);
  std::uint64_t column = block == 4 ? 2 : 4;
  if (!types.half()) column = block == 4 ? 4 : 8;
  column += static_cast<std::uint64_t>(target.amp.more_bundles(mode, block, block));
  if (block == 4) {
    cost.entry = 26;
  } else if (block == 8) {
    cost.entry = types.half() && !narrow ? 20 : 23;
  } else {
    cost.entry = narrow ? 22 : 23;
  }
  cost.block = block_overhead(types, block, columns) + columns * column +
               static_cast<std::uint64_t>(target.amp.more_fill(mode, block, block)) -
               (retained ? 3 : 0);
  return cost;
}

Cycle dynamic_block_clocks(const Target& target, const Types& types, unsigned block,
                           const BucketSearch& search, std::uint64_t rows, std::uint64_t blocks,
                           std::uint64_t columns, bool retained) {
  const DynamicBlockCost cost = dynamic_block_cost(target, types, block, columns, retained);
  const Cycle supervisor =
      dynamic_block_search(search) +
      rows * (blocks * (cost.weights + 3 + 12 * cost.passes) + (retained ? 1 : 0)) + 2;
  return supervisor + target.worker_clocks(cost.entry + rows * blocks * cost.passes * cost.block);
}

Cycle block_transpose_clocks(const Target& target, const Types& types, unsigned block,
                             std::uint64_t blocks) {
  const std::uint64_t grain = types.half() ? 4 : 2;
  const std::uint64_t clocks = types.half() ? 4 : 3;  // for a grain
  const std::uint64_t side = block / grain;
  const std::uint64_t share = ceil_div(blocks, target.workers);
  std::uint64_t bundles = 0;
  if (side == 1) {
    bundles = share <= 1 ? 29 : 37 + (share - 2) * clocks;
  } else {
    bundles = 29 + share * (18 + side * (12 + clocks * (side - 2)));
  }
  return 7 + target.worker_clocks(bundles);
}

Cycle dynamic_zero_clocks(const Target& target, std::uint64_t elements, Form form) {
  const std::uint64_t share = ceil_div(elements, target.workers);
  if (form == Form::planner) return target.worker_clocks(share);
  return target.worker_clocks(14 + ceil_div(elements, 2 * std::uint64_t{target.workers}));
}

}  // namespace lacuna::ipu
