// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/sampled/sampled_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dynamic/buckets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/sampled/sampled_codelets.hpp"

namespace lacuna::ipu {
namespace {

/// Numbers of parts that differ in the size of the largest part.
std::vector<std::uint64_t> parts_of(std::uint64_t size, std::uint64_t most) {
  std::vector<std::uint64_t> parts;
  std::uint64_t last = 0;
  for (std::uint64_t p = 1; p <= std::min(size, most); ++p) {
    if (ceil_div(size, p) != last) parts.push_back(p);
    last = ceil_div(size, p);
  }
  return parts;
}

/// Cuts `counts` into bands of about the same sum, none empty.
std::vector<std::uint32_t> even_bands(const std::vector<std::uint64_t>& counts,
                                      std::uint64_t bands) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count + 1;
  std::vector<std::uint32_t> begin{0};
  std::uint64_t sum = 0;
  const auto size = static_cast<std::uint32_t>(counts.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    sum += counts[i] + 1;
    const std::uint64_t left = bands - begin.size();
    const bool full = sum * bands >= all * begin.size();
    if (left > 0 && (full || size - i - 1 <= left) && i + 1 < size) begin.push_back(i + 1);
  }
  begin.push_back(size);
  return begin;
}

class Search {
 public:
  Search(const Target& target, const Types& types, const Mask& mask, std::uint64_t contraction)
      : target_(target),
        types_(types),
        mask_(mask),
        block_(mask.block_rows),
        contraction_(contraction),
        grain_(sampled_grain(types, block_)) {
    row_counts_.assign(mask.grid_rows(), 0);
    column_counts_.assign(mask.grid_cols(), 0);
    for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
      row_counts_[row] = mask.offsets[row + 1] - mask.offsets[row];
    }
    for (const std::uint32_t column : mask.columns) ++column_counts_[column];
  }

  SampledPlan run() {
    std::vector<SampledPlan> candidates = best_guesses();
    SampledPlan best;
    for (SampledPlan& plan : candidates) {
      plan.row_begin = even_bands(row_counts_, plan.x);
      plan.column_begin = even_bands(column_counts_, plan.y);
      if (plan.row_begin.size() != plan.x + 1 || plan.column_begin.size() != plan.y + 1) continue;
      price(plan, largest(plan));
      if (plan.tile_bytes <= target_.tile_bytes && plan.estimate < best.estimate) best = plan;
    }
    if (best.estimate == kNever) {
      throw OutOfMemoryError(fmt::format(
          "sampled product {} x {} x {} with {} blocks of {} x {}: the smallest partition needs "
          "more than the {} bytes of a tile",
          mask_.rows, contraction_, mask_.cols, mask_.blocks(), block_, block_,
          target_.tile_bytes));
    }
    deal(best);
    return best;
  }

 private:
  /// What the fullest tile of a plan has.
  struct Fullest {
    std::uint64_t blocks = 0;
    std::uint64_t rows = 0;  // of bands, in blocks
    std::uint64_t columns = 0;
  };

  /// The best of all grids, were the blocks spread evenly.
  std::vector<SampledPlan> best_guesses() const {
    constexpr std::size_t kKept = 24;
    std::vector<SampledPlan> kept;
    const std::uint64_t grains = ceil_div(contraction_, grain_);
    for (const std::uint64_t x : parts_of(mask_.grid_rows(), target_.tiles)) {
      for (const std::uint64_t y : parts_of(mask_.grid_cols(), target_.tiles / x)) {
        for (const std::uint64_t z : parts_of(grains, target_.tiles / (x * y))) {
          SampledPlan plan;
          plan.block = block_;
          plan.x = x;
          plan.y = y;
          plan.z = z;
          plan.depth = ceil_div(grains, z) * grain_;
          price(plan, {ceil_div(mask_.blocks(), x * y), ceil_div(mask_.grid_rows(), x),
                       ceil_div(mask_.grid_cols(), y)});
          if (plan.tile_bytes > target_.tile_bytes) continue;
          const auto later = [](const SampledPlan& a, const SampledPlan& b) {
            return a.estimate < b.estimate;
          };
          kept.insert(std::upper_bound(kept.begin(), kept.end(), plan, later), plan);
          if (kept.size() > kKept) kept.pop_back();
        }
      }
    }
    return kept;
  }

  Cycle compute(SampledPlan& plan, const Fullest& f) const {
    const std::uint64_t rows = std::min(f.rows, f.blocks);
    const std::uint64_t share = ceil_div(f.blocks, target_.workers);
    const Cycle vector = target_.worker_clocks(
        sampled_bundles(types_, block_, ceil_div(rows, target_.workers), share, plan.depth));
    plan.amp = false;
    if (!sampled_amp_fits(types_, block_, plan.depth)) return vector;
    const Cycle amp =
        sampled_amp_clocks(target_, types_, block_, rows, f.blocks, plan.depth) +
        sampled_transpose_clocks(target_, types_, block_, f.rows + f.columns, plan.depth);
    plan.amp = amp < vector;
    return std::min(amp, vector);
  }

  void price(SampledPlan& plan, const Fullest& f) const {
    const std::uint64_t area = std::uint64_t{block_} * block_;
    const std::uint64_t a = f.rows * block_ * plan.depth * types_.bytes();
    const std::uint64_t b = f.columns * block_ * plan.depth * types_.bytes();
    const std::uint64_t partials = f.blocks * area;
    const std::uint64_t piece = ceil_div(f.blocks, plan.z) * area;
    const std::uint64_t received = plan.z > 1 ? (plan.z - 1) * piece : 0;
    plan.tile_bytes = a + b + (partials + received) * 4 + piece * types_.bytes() + 2 * f.blocks;
    plan.estimate = (plan.y > 1 ? a : 0) / target_.exchange_bytes +
                    (plan.x > 1 ? b : 0) / target_.exchange_bytes + received;
    plan.estimate += compute(plan, f);
    plan.estimate += plan.z > 1 ? reduce_clocks(target_, piece, plan.z, DType::fp32, types_.data)
                                : cast_clocks(target_, partials, DType::fp32, types_.data);
  }

  Fullest largest(const SampledPlan& plan) const {
    Fullest f;
    std::vector<std::uint32_t> band(mask_.grid_cols());
    for (std::uint64_t y = 0; y < plan.y; ++y) {
      f.columns = std::max(f.columns, plan.columns(y));
      std::fill(band.begin() + plan.column_begin[y], band.begin() + plan.column_begin[y + 1],
                static_cast<std::uint32_t>(y));
    }
    std::vector<std::uint64_t> counts(plan.y);
    for (std::uint64_t x = 0; x < plan.x; ++x) {
      f.rows = std::max(f.rows, plan.rows(x));
      std::fill(counts.begin(), counts.end(), 0);
      for (std::uint64_t i = mask_.offsets[plan.row_begin[x]];
           i < mask_.offsets[plan.row_begin[x + 1]]; ++i) {
        ++counts[band[mask_.columns[i]]];
      }
      f.blocks = std::max(f.blocks, *std::max_element(counts.begin(), counts.end()));
    }
    return f;
  }

  /// Blocks of a rectangle go in equal runs, row by row, to its pieces.
  void deal(SampledPlan& plan) const {
    std::vector<std::vector<SampledBlock>> all(plan.x * plan.y);
    std::uint64_t x = 0;
    for (std::uint32_t row = 0; row < mask_.grid_rows(); ++row) {
      while (row >= plan.row_begin[x + 1]) ++x;
      std::uint64_t y = 0;
      for (std::uint64_t i = mask_.offsets[row]; i < mask_.offsets[row + 1]; ++i) {
        while (mask_.columns[i] >= plan.column_begin[y + 1]) ++y;
        all[y * plan.x + x].push_back({row, mask_.columns[i], i});
      }
    }
    for (const std::vector<SampledBlock>& blocks : all) {
      const std::uint64_t share = ceil_div(blocks.size(), plan.z);
      std::vector<std::vector<SampledBlock>> pieces(plan.z);
      for (std::uint64_t i = 0; i < blocks.size(); ++i) pieces[i / share].push_back(blocks[i]);
      plan.pieces.push_back(std::move(pieces));
    }
  }

  const Target target_;
  const Types types_;
  const Mask& mask_;
  const unsigned block_;
  const std::uint64_t contraction_;
  const unsigned grain_;
  std::vector<std::uint64_t> row_counts_;
  std::vector<std::uint64_t> column_counts_;
};

std::vector<std::uint32_t> equal_bands(std::uint64_t size, std::uint64_t bands,
                                       std::uint64_t share) {
  std::vector<std::uint32_t> begin;
  for (std::uint64_t b = 0; b <= bands; ++b) {
    begin.push_back(static_cast<std::uint32_t>(std::min(size, b * share)));
  }
  return begin;
}

/// The number of a block in the mask.
std::uint64_t index_in(const Mask& mask, std::uint32_t row, std::uint32_t column) {
  const auto* const begin = mask.columns.data() + mask.offsets[row];
  const auto* const end = mask.columns.data() + mask.offsets[row + 1];
  return mask.offsets[row] +
         static_cast<std::uint64_t>(std::lower_bound(begin, end, column) - begin);
}

std::vector<SampledBlock> blocks_of(const Mask& mask, const SubGroup& group) {
  std::vector<SampledBlock> blocks;
  for (const BucketRow& row : group.rows) {
    for (const std::uint32_t column : row.columns) {
      blocks.push_back({row.row, column, index_in(mask, row.row, column)});
    }
  }
  return blocks;
}

/// As in the forward product: along the columns in every step, along the contraction and the rows
/// where a round is complete.
std::vector<GridStep> travel_steps(const DynamicPlan& grid, const BucketSet& buckets) {
  std::vector<GridStep> steps;
  for (std::uint64_t round = 0; round < buckets.steps_x; ++round) {
    for (std::uint64_t step = 0; step < buckets.steps_y; ++step) {
      if (round == 0 && step == 0) continue;
      for (std::uint64_t z = 0; z < grid.z; ++z) {
        const bool along = step > 0 || !steps.empty();
        steps.push_back(
            {z == 0 && step == 0 ? 1U : 0U, z == 0 && along ? 1U : 0U, z > 0 ? 1U : 0U});
      }
    }
  }
  return steps;
}

/// Deals what is in the buckets to pieces and spills; the most blocks of a rectangle.
std::uint64_t deal_buckets(SampledPlan& plan, const Mask& mask, const BucketSet& buckets) {
  std::uint64_t most = 0;
  for (std::uint64_t y = 0; y < plan.y; ++y) {
    for (std::uint64_t x = 0; x < plan.x; ++x) {
      auto& pieces = plan.pieces[y * plan.x + x];
      pieces.resize(plan.z);
      std::uint64_t all = 0;
      for (std::uint64_t z = 0; z < plan.z; ++z) {
        std::uint64_t first = 0;
        for (const SubGroup& group : buckets.buckets[plan.tile(x, y, z)].groups) {
          std::vector<SampledBlock> blocks = blocks_of(mask, group);
          const std::uint64_t count = blocks.size();
          if (group.x == x && group.y == y) {
            pieces[z].insert(pieces[z].end(), blocks.begin(), blocks.end());
          } else {
            plan.spills[plan.tile(x, y, z)].push_back({group.x, group.y, first, std::move(blocks)});
          }
          first += count;
        }
        all += pieces[z].size();
      }
      most = std::max(most, all);
    }
  }
  return most;
}

bool amp_is_sooner(const Target& target, const Types& types, const SampledPlan& plan,
                   const DynamicPlan& grid, std::uint64_t most) {
  if (!sampled_amp_fits(types, plan.block, plan.depth)) return false;
  const std::uint64_t vector = target.worker_clocks(
      sampled_bundles(types, plan.block, ceil_div(std::min(most, grid.tile_x), target.workers),
                      ceil_div(most, target.workers), plan.depth));
  const std::uint64_t rows = std::min(most, grid.tile_x);
  const Cycle amp =
      sampled_amp_clocks(target, types, plan.block, rows, most, plan.depth) +
      sampled_transpose_clocks(target, types, plan.block, grid.tile_x + grid.tile_y, plan.depth);
  return amp < vector;
}

}  // namespace

SampledPlan plan_sampled(const Target& target, const Types& types, const Mask& mask,
                         std::uint64_t contraction) {
  return Search(target, types, mask, contraction).run();
}

SampledPlan plan_sampled_buckets(const Target& target, const Types& types, const Mask& mask,
                                 const DynamicPlan& grid) {
  const BucketSet buckets = fill_buckets(grid, mask, target.workers);
  SampledPlan plan;
  plan.block = grid.block;
  plan.x = grid.x;
  plan.y = grid.y;
  plan.z = grid.z;
  plan.depth = grid.tile_z * grid.z_grain;
  plan.search = true;
  plan.bucket_words = ceil_div(grid.bucket_words * 2, 4);
  plan.row_begin = equal_bands(mask.grid_rows(), grid.x, grid.tile_x);
  plan.column_begin = equal_bands(mask.grid_cols(), grid.y, grid.tile_y);
  plan.pieces.resize(plan.x * plan.y);
  plan.bucket_blocks = grid.bucket_blocks;
  plan.steps = travel_steps(grid, buckets);
  if (!plan.steps.empty()) plan.spills.resize(grid.tiles());
  const std::uint64_t most = deal_buckets(plan, mask, buckets);
  plan.amp = amp_is_sooner(target, types, plan, grid, most);
  const std::uint64_t area = std::uint64_t{plan.block} * plan.block;
  plan.tile_bytes =
      (grid.tile_x + grid.tile_y) * plan.block * plan.depth * types.bytes() +
      plan.z * plan.bucket_words * 4 + most * area * 8 +
      (plan.steps.empty() ? 0 : 2 * (plan.bucket_words + plan.bucket_blocks * area) * 4) +
      ceil_div(most, plan.z) * area * types.bytes();
  if (plan.tile_bytes > target.tile_bytes) {
    throw OutOfMemoryError(fmt::format(
        "gradient of dynamic weights {} x {}: operands and partials need {} bytes on a tile, which "
        "has {}",
        mask.rows, mask.cols, plan.tile_bytes, target.tile_bytes));
  }
  return plan;
}

}  // namespace lacuna::ipu
