// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dynamic/cost.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kMetaLimit = 65535;

double power(double x, std::uint64_t n) {
  double result = 1;
  for (; n != 0; n >>= 1U, x *= x) {
    if ((n & 1U) != 0) result *= x;
  }
  return result;
}

/// Rows of a rectangle that are expected to have a non-zero, and non-zeros of such a row.
struct Counts {
  std::uint64_t rows;
  std::uint64_t nonzeros;
};

Counts expected_counts(double density, std::uint64_t rows, std::uint64_t columns) {
  const double filled = static_cast<double>(rows) * (1 - power(1 - density, columns));
  const double all = static_cast<double>(rows * columns) * density;
  Counts counts{};
  counts.rows = std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(filled)), 1);
  counts.nonzeros = ceil_div(static_cast<std::uint64_t>(std::ceil(all)), counts.rows);
  return counts;
}

/// The part counts that differ in the size of the largest part; if `wanted` is not 0, that one.
std::vector<std::uint64_t> distinct_parts(std::uint64_t size, std::uint64_t most, unsigned wanted) {
  if (wanted != 0) {
    if (wanted > std::min(size, most)) return {};
    return {wanted};
  }
  std::vector<std::uint64_t> parts;
  std::uint64_t last = 0;
  for (std::uint64_t p = 1; p <= std::min(size, most); ++p) {
    const std::uint64_t part = ceil_div(size, p);
    if (part != last) parts.push_back(p);
    last = part;
  }
  return parts;
}

class Search {
 public:
  Search(const Target& target, const Types& types, const DynamicProblem& problem, double oversize)
      : target_(target),
        types_(types),
        problem_(problem),
        oversize_(oversize),
        block_(problem.block),
        rows_(ceil_div(problem.m, block_)),
        columns_(ceil_div(problem.k, block_)),
        density_(static_cast<double>(problem.most_nonzeros) /
                 static_cast<double>(rows_ * columns_)) {}

  DynamicPlan run() {
    if (block_ == 1) {
      search(types_.half() ? 4 : 2);
    } else {
      search(1);
      const unsigned wide = types_.half() ? 16 : 8;
      if (problem_.n % wide == 0) search(wide);
    }
    if (least_bytes_ == std::numeric_limits<std::uint64_t>::max() && target_.dynamic.fixed()) {
      throw UnsupportedError(fmt::format(
          "dynamic sparse {} x {} x {}: planner.dynamic_rows = {}, dynamic_contraction = {}, "
          "dynamic_columns = {} (0: the cheapest) are no parts of {} x {} blocks of {} and {} "
          "columns on {} tiles; columns are cut in equal parts",
          problem_.m, problem_.k, problem_.n, target_.dynamic.rows, target_.dynamic.contraction,
          target_.dynamic.columns, rows_, columns_, block_, problem_.n, target_.tiles));
    }
    if (best_total_ == kNever) {
      throw OutOfMemoryError(fmt::format(
          "dynamic sparse {} x {} x {}, at most {} blocks of {} x {}: the smallest partition needs "
          "{} bytes on a tile, of which a plan may use {}",
          problem_.m, problem_.k, problem_.n, problem_.most_nonzeros, block_, block_, least_bytes_,
          target_.planning_bytes));
    }
    return best_;
  }

 private:
  /// Bytes and elements of one pass, from which its memory follows.
  struct Footprint {
    std::uint64_t dense;       // S, the dense operand of a tile
    std::uint64_t partials;    // elements of a tile
    std::uint64_t depth;       // partials of an output
    std::uint64_t transposed;  // bytes of transposed buckets
  };

  void search(unsigned grain) {
    const std::uint64_t z_grains = ceil_div(problem_.n, grain);
    const std::vector<std::uint64_t> xs =
        distinct_parts(rows_, target_.tiles, target_.dynamic.rows);
    const std::vector<std::uint64_t> ys =
        distinct_parts(columns_, target_.tiles, target_.dynamic.contraction);
    for (const std::uint64_t x : xs) {
      for (const std::uint64_t y : ys) {
        if (x * y > target_.tiles) break;
        for (std::uint64_t z = 1; z <= z_grains && x * y * z <= target_.tiles; ++z) {
          const bool wanted = target_.dynamic.columns == 0 || target_.dynamic.columns == z;
          if (wanted && z_grains % z == 0) consider(grain, x, y, z);
        }
      }
    }
  }

  void consider(unsigned grain, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    DynamicPlan plan;
    plan.block = block_;
    plan.z_grain = grain;
    plan.x = x;
    plan.y = y;
    plan.z = z;
    plan.tile_x = ceil_div(rows_, x);
    plan.tile_y = ceil_div(columns_, y);
    plan.tile_z = ceil_div(problem_.n, grain) / z;
    if (block_ == 1 && beyond_reach(plan)) return;
    size_buckets(plan);
    const std::uint64_t bytes = std::max(bytes_of_pass(plan, forward_footprint(plan)),
                                         bytes_of_pass(plan, transposed_footprint(plan)));
    least_bytes_ = std::min(least_bytes_, bytes);
    if (bytes > target_.planning_bytes) return;
    plan.tile_bytes = bytes;
    plan.forward = forward(plan);
    if (plan.forward.total() > best_total_) return;
    plan.transposed = transposed(plan);
    const Cycle total = plan.forward.total() + plan.transposed.total();
    if (std::tie(total, bytes) >= std::tie(best_total_, best_.tile_bytes)) return;
    best_total_ = total;
    best_ = plan;
  }

  bool beyond_reach(const DynamicPlan& plan) const {
    const std::uint64_t offset =
        (plan.tile_y - 1) * plan.tile_z * plan.z_grain * (types_.half() ? 2 : 4);
    return std::max(offset, plan.tile_x - 1) > kMetaLimit;
  }

  void size_buckets(DynamicPlan& plan) const {
    const std::uint64_t mean = ceil_div(problem_.most_nonzeros, plan.tiles());
    const std::uint64_t area = std::uint64_t{block_} * block_;
    plan.bucket_blocks =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(mean) * (1 + oversize_)));
    while (plan.bucket_blocks * area * types_.bytes() % 4 != 0) ++plan.bucket_blocks;
    const Counts counts = expected_counts(density_, plan.tile_x, plan.tile_y);
    const double words = static_cast<double>(counts.rows * (2 + counts.nonzeros)) * (1 + oversize_);
    // Room for two sub-groups; an element-wise one has an entry for each worker.
    const std::uint64_t fixed = 2 * (block_ == 1 ? 9 + 5 * std::uint64_t{target_.workers} : 7);
    plan.bucket_words = round_up(fixed + static_cast<std::uint64_t>(std::ceil(words - 1e-9)), 4);
    plan.bucket_bytes = plan.bucket_blocks * area * types_.bytes() + 2 * plan.bucket_words;
  }

  static std::uint64_t columns_of_tile(const DynamicPlan& p) { return p.tile_z * p.z_grain; }

  Footprint forward_footprint(const DynamicPlan& p) const {
    const std::uint64_t columns = columns_of_tile(p);
    return {p.tile_y * block_ * columns * types_.bytes(), p.tile_x * block_ * columns, p.y, 0};
  }

  Footprint transposed_footprint(const DynamicPlan& p) const {
    const std::uint64_t columns = columns_of_tile(p);
    const std::uint64_t bucket = p.bucket_blocks * block_ * block_ * types_.bytes();
    return {p.tile_x * block_ * columns * types_.bytes(), p.tile_y * block_ * columns, p.x,
            block_ == 1 ? 0 : bucket};
  }

  std::uint64_t bytes_of_pass(const DynamicPlan& p, const Footprint& f) const {
    const unsigned pb = types_.partial_bytes();
    const bool cast = types_.partials != types_.data;
    // The test for temporary partials looks at the split of the columns instead of the depth.
    const std::uint64_t partials = cast || p.z > 1 ? pb * f.partials : 0;
    const std::uint64_t buckets = (p.z - 1) * p.bucket_bytes;
    const std::uint64_t incoming = f.depth > 1 ? pb * f.partials : 0;
    const std::uint64_t result =
        cast || f.depth > 1 ? ceil_div(f.partials, f.depth) * types_.bytes() : 0;
    return std::max({f.dense + buckets + partials + f.transposed,
                     2 * p.bucket_bytes + f.dense + partials + f.transposed,
                     partials + incoming + result});
  }

  Cycle exchange(std::uint64_t bytes, bool shared) const {
    return ceil_div(bytes, std::uint64_t{target_.exchange_bytes} * (shared ? 2 : 1));
  }

  bool in_pairs(std::uint64_t sharers) const {
    return sharers % 2 == 0 || sharers == target_.tiles;
  }

  /// What both passes have in common: a pass over the transposed matrix has x and y exchanged.
  DynamicEstimate common(const DynamicPlan& p, const Footprint& f, std::uint64_t grains,
                         std::uint64_t all_grains, bool dense_shared, bool buckets_shared) const {
    DynamicEstimate e;
    if (grains > ceil_div(all_grains, target_.tiles)) e.dense = exchange(f.dense, dense_shared);
    if (p.z > 1) e.buckets = exchange(p.z * p.bucket_bytes, buckets_shared);
    e.zero = dynamic_zero_clocks(target_, f.partials, Form::planner);
    if (f.depth > 1) {
      e.partials = exchange(f.partials * types_.partial_bytes(), false);
      e.reduce = reduce_clocks(target_, ceil_div(f.partials, f.depth), f.depth, types_.partials,
                               types_.data);
    } else if (types_.partials != types_.data) {
      e.reduce = cast_clocks(target_, f.partials, types_.partials, types_.data);
    }
    return e;
  }

  DynamicEstimate forward(const DynamicPlan& p) const {
    const std::uint64_t z_grains = p.tile_z * p.z;
    DynamicEstimate e = common(p, forward_footprint(p), p.tile_y * p.tile_z, columns_ * z_grains,
                               in_pairs(p.x), p.x == 1 && in_pairs(p.z));
    const Counts counts = expected_counts(density_, p.tile_x, p.tile_y);
    const BucketSearch search{p.z, p.z, 1};
    if (block_ == 1) {
      std::uint64_t worst = 0;
      for (const WorkerTile& w : split_tile(counts.rows, p.tile_z, target_.workers)) {
        worst = std::max(worst, dynamic_forward_bundles(types_, w.rows, counts.nonzeros,
                                                        w.columns * p.z_grain, Form::planner));
      }
      e.multiply = dynamic_forward_search(search) + target_.worker_clocks(worst);
    } else {
      e.multiply = block_multiply(p, search, counts.rows, counts.nonzeros, true);
    }
    return e;
  }

  DynamicEstimate transposed(const DynamicPlan& p) const {
    const std::uint64_t z_grains = p.tile_z * p.z;
    DynamicEstimate e = common(p, transposed_footprint(p), p.tile_x * p.tile_z, rows_ * z_grains,
                               p.x * p.z == 1 && in_pairs(p.y), p.y == 1 && in_pairs(p.z));
    const Counts counts = expected_counts(density_, p.tile_y, p.tile_x);
    const BucketSearch search{p.z, p.z, 1};
    if (block_ == 1) {
      e.multiply = dynamic_transposed_search(search) +
                   target_.worker_clocks(dynamic_transposed_bundles(
                       target_, types_, counts.nonzeros, p.tile_y, columns_of_tile(p)));
    } else {
      e.multiply = block_multiply(p, search, counts.nonzeros, counts.rows, false);
      e.transpose = block_transpose_clocks(target_, types_, block_, p.bucket_blocks);
    }
    return e;
  }

  Cycle block_multiply(const DynamicPlan& p, const BucketSearch& search, std::uint64_t rows,
                       std::uint64_t blocks, bool retained) const {
    Cycle worst = 0;
    for (const WorkerTile& w : split_tile(1, p.tile_z, target_.workers)) {
      worst = std::max(worst, dynamic_block_clocks(target_, types_, block_, search, rows, blocks,
                                                   w.columns * p.z_grain, retained));
    }
    return worst;
  }

  const Target target_;
  const Types types_;
  const DynamicProblem problem_;
  const double oversize_;
  const unsigned block_;
  const std::uint64_t rows_;  // in blocks
  const std::uint64_t columns_;
  const double density_;
  DynamicPlan best_;
  Cycle best_total_ = kNever;
  std::uint64_t least_bytes_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

unsigned dynamic_block(const Types& types, unsigned block) {
  for (const unsigned side : {16U, 8U, 4U}) {
    if (block % side == 0 && (side < 16 || types.half())) return side;
  }
  return 1;
}

DynamicPlan plan_dynamic(const Target& target, const Types& types, const DynamicProblem& problem,
                         double oversize) {
  return Search(target, types, problem, oversize).run();
}

}  // namespace lacuna::ipu
