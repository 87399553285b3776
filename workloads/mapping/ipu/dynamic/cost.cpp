// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/cost.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// Sub-groups that are looked at before the matching one, on average, and that one.
std::uint64_t looked_at(const BucketSearch& search, std::uint64_t each) {
  return ((search.groups - 1) * each + 2 * each) / 2;
}

Cycle clocks_of(const SupervisorClocks& clocks, const BucketSearch& search) {
  return clocks.entry + clocks.other * (search.buckets - search.matching) * search.groups +
         search.matching * (looked_at(search, clocks.find) + clocks.start);
}

/// A pass of a worker over the non-zeros of a row, for some of its columns: bundles to set it up,
/// and of each non-zero.
struct Pass {
  std::uint64_t setup = 0;
  std::uint64_t nonzero = 0;
};

/// A codelet whose workers walk rows: bundles before the first, and of a row with its passes those
/// beside its non-zeros and those of each. The numbers are those of PopLibs (7eac0f26), of the
/// estimators in popsparse and, at run time, of the assembly.
struct RowCodelet {
  std::uint64_t entry = 0;
  std::uint64_t row = 0;
  std::uint64_t nonzero = 0;

  void add(std::uint64_t times, Pass pass) {
    row += times * pass.setup;
    nonzero += times * pass.nonzero;
  }

  std::uint64_t bundles(std::uint64_t rows, std::uint64_t nonzeros) const {
    return entry + rows * (row + nonzero * nonzeros);
  }
};

/// Two bundles of each non-zero for four FP16 columns, three for eight: the loads of X, and the
/// multiply-accumulates beside them.
RowCodelet half_forward(std::uint64_t columns, Form form) {
  if (columns == 8) return {28, 15, 3};
  if (columns == 4) return {30, 11, 2};
  const std::uint64_t eights = columns / 8;
  const std::uint64_t odd = columns % 4;
  RowCodelet codelet{33, form == Form::run_time ? 13U : 12U};
  if (form == Form::run_time) {
    codelet.add(eights, {17, 3});
  } else if (eights != 0) {
    // the estimator charges the set-up of a group of eight columns once, hardware each time
    codelet.add(1, {16, 3 * eights});
  }
  if (columns % 8 >= 4) codelet.add(1, {13, 2});
  if (odd != 0) codelet.add(1, {11, 2 * odd});
  return codelet;
}

/// The assembly has not been counted; its loops are taken to be those of the FP16 codelet.
RowCodelet single_forward(std::uint64_t columns, Form form) {
  if (columns == 4) return {25, 13, 3};
  if (columns == 2) return {27, 11, 2};
  const std::uint64_t fours = columns / 4;
  const std::uint64_t odd_or_pair = columns % 4 != 0 ? 3 : 1;  // branches to what is left
  RowCodelet codelet{30, 13 + odd_or_pair};
  if (form == Form::run_time) {
    codelet.add(fours, {12, 3});
    if (columns % 4 >= 2) codelet.add(1, {8, 2});
  } else {
    if (fours != 0) codelet.add(1, {12, 3 * fours});
    if (columns % 4 >= 2) codelet.add(1, {8, columns / 2 * 2});
  }
  if (columns % 2 != 0) codelet.add(1, {8, 2});
  return codelet;
}

/// On the buckets of the forward product; four FP16 columns are five bundles of each non-zero.
RowCodelet half_transposed(std::uint64_t columns) {
  if (columns == 8) return {20, 18, 10};
  if (columns == 4) return {20, 21, 7};
  RowCodelet codelet{26, 30};
  if (columns >= 4) codelet.add(1, {0, 2 + 5 * (columns / 4)});
  if (columns % 4 != 0) codelet.add(1, {0, 5 + 3 * (columns % 4)});
  return codelet;
}

RowCodelet single_transposed(std::uint64_t columns) {
  RowCodelet codelet{23, 32};
  if (columns >= 2) codelet.add(1, {0, 2 + 3 * (columns / 2)});
  if (columns % 2 != 0) codelet.add(1, {0, 4});
  return codelet;
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

Cycle dynamic_forward_search(const BucketSearch& search) {
  return clocks_of(kForwardSupervisor, search);
}

Cycle dynamic_transposed_search(const BucketSearch& search) {
  return clocks_of(kTransposedSupervisor, search);
}

Cycle dynamic_block_search(const BucketSearch& search) {
  return clocks_of(kBlockSupervisor, search);
}

std::uint64_t dynamic_forward_bundles(const Types& types, std::uint64_t rows,
                                      std::uint64_t nonzeros, std::uint64_t columns, Form form) {
  const RowCodelet codelet =
      types.half() ? half_forward(columns, form) : single_forward(columns, form);
  return codelet.bundles(rows, nonzeros);
}

std::uint64_t dynamic_transposed_bundles(const Target& target, const Types& types,
                                         std::uint64_t rows, std::uint64_t nonzeros,
                                         std::uint64_t columns) {
  const RowCodelet codelet = types.half() ? half_transposed(columns) : single_transposed(columns);
  return codelet.bundles(rows, ceil_div(nonzeros, target.workers));
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
      rows * (blocks * (cost.weights + kBlockClocks.block + kBlockClocks.pass * cost.passes) +
              (retained ? kBlockClocks.row : 0)) +
      kBlockClocks.exit;
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
  return kTransposeSupervisor + target.worker_clocks(bundles);
}

Cycle dynamic_zero_clocks(const Target& target, std::uint64_t elements, Form form) {
  const std::uint64_t share = ceil_div(elements, target.workers);
  if (form == Form::planner) return target.worker_clocks(share);
  return target.worker_clocks(kZeroEntry + ceil_div(elements, 2 * std::uint64_t{target.workers}));
}

}  // namespace lacuna::ipu
