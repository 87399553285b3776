// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dense/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/reduce/reduce_stages.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kMostSteps = 64;

/// A number of parts and the size of the largest.
struct Split {
  std::uint64_t parts;
  std::uint64_t size;
};

/// Whether none of so many parts, all but the last as large as the first, is empty.
bool fills(std::uint64_t size, std::uint64_t parts) {
  return parts <= size && ceil_div(size, ceil_div(size, parts)) == parts;
}

/// The splits of `size` into at most `most` parts that differ in the size of the largest part; if
/// `wanted` is not 0, that into as many.
std::vector<Split> splits(std::uint64_t size, std::uint64_t most, unsigned wanted) {
  if (wanted != 0) {
    if (wanted > most || !fills(size, wanted)) return {};
    return {{wanted, ceil_div(size, wanted)}};
  }
  std::vector<Split> all;
  for (std::uint64_t parts = 1; parts <= std::min(size, most); ++parts) {
    const std::uint64_t part = ceil_div(size, parts);
    if (all.empty() || part != all.back().size) all.push_back({parts, part});
  }
  return all;
}

/// The partition under consideration.
struct Candidate {
  Split field;
  Split out;  // sizes in groups of 16
  Split in;   // sizes in input groups
};

class Search {
 public:
  Search(const Target& target, const Types& types) : target_(target), types_(types) {}

  std::optional<DensePlan> run(std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    const Target::Parts& wanted = target_.dense;
    const std::vector<Split> fields = splits(n, target_.tiles, wanted.columns);
    const std::vector<Split> outs =
        splits(ceil_div(m, conv_out_group(target_, types_)), target_.tiles, wanted.rows);
    const std::vector<Split> ins =
        splits(ceil_div(k, conv_in_group(target_, types_)), target_.tiles, wanted.contraction);
    for (const Split& field : fields) {
      for (const Split& out : outs) {
        if (field.parts * out.parts > target_.tiles) break;
        for (const Split& in : ins) {
          if (field.parts * out.parts * in.parts > target_.tiles) break;
          consider({field, out, in});
        }
      }
    }
    if (best_) {
      const DensePlan& plan = *best_;
      best_->staged = in_stages(plan.estimate, plan.field * plan.out_channels, plan.in_split);
    }
    return best_;
  }

  std::uint64_t least_bytes() const { return least_bytes_; }

 private:
  void consider(const Candidate& c) {
    const std::uint64_t field = c.field.size;
    const std::uint64_t out = c.out.size * conv_out_group(target_, types_);
    const std::uint64_t in = c.in.size * conv_in_group(target_, types_);
    const std::uint64_t bytes =
        (field * in + in * out) * types_.bytes() + field * out * types_.partial_bytes();
    least_bytes_ = std::min(least_bytes_, bytes);
    if (bytes > target_.planning_bytes) return;
    const DenseEstimate estimate = estimate_of(c, field, out, in);
    const DenseEstimate staged =
        target_.staged_estimate ? in_stages(estimate, field * out, c.in.parts) : estimate;
    if (best_ && staged.total() >= best_->staged.total()) return;
    DensePlan plan;
    plan.field_split = c.field.parts;
    plan.out_split = c.out.parts;
    plan.in_split = c.in.parts;
    plan.field = field;
    plan.out_channels = out;
    plan.in_channels = in;
    plan.tile_bytes = bytes;
    plan.estimate = estimate;
    plan.staged = staged;
    best_ = plan;
  }

  /// The estimate, with the sums of `all` elements over `depth` tiles as they are made: in stages,
  /// of which each but the first begins by sending what the one before has left, and of one
  /// contiguous input where that can be.
  DenseEstimate in_stages(DenseEstimate estimate, std::uint64_t all, std::uint64_t depth) const {
    if (depth == 1) return estimate;
    const StageDepths most{target_.one_stage_depth, target_.two_stage_depth};
    estimate.partials = estimate.reduce = 0;
    std::uint64_t left = all;
    const std::vector<std::uint64_t> depths = stage_depths(depth, most);
    for (std::size_t s = 0; s < depths.size(); ++s) {
      estimate.partials += ceil_div(left * types_.partial_bytes(), target_.exchange_bytes);
      left = ceil_div(left, depths[s]);
      const DType to = s + 1 < depths.size() ? types_.partials : result_type();
      estimate.reduce += dense_reduce_clocks(target_, left, depths[s], types_.partials, to);
    }
    return estimate;
  }

  DenseEstimate estimate_of(const Candidate& c, std::uint64_t field, std::uint64_t out,
                            std::uint64_t in) const {
    const unsigned word = target_.exchange_bytes;
    DenseEstimate e;
    e.compute = conv_vertex_clocks(target_, types_, {field, c.in.size, c.out.size});
    // A part that is spread over the tiles which share it lacks only the others' shares. An even
    // number of them listen in pairs, and receive two words in a clock.
    const std::uint64_t inputs = field * in - field * in / c.out.parts;
    e.inputs = ceil_div(inputs * types_.bytes(), c.out.parts % 2 == 0 ? 2 * word : word);
    const std::uint64_t weights = in * out - in * out / c.field.parts;
    e.weights = ceil_div(weights * types_.bytes(), word);
    e.partials = ceil_div(field * out * types_.partial_bytes(), word);
    if (c.in.parts > 1) {
      e.reduce = reduce_clocks(target_, ceil_div(field * out, c.in.parts), c.in.parts,
                               types_.partials, result_type());
    }
    return e;
  }

  DType result_type() const { return types_.data == DType::fp32 ? DType::fp32 : DType::fp16; }

  Target target_;
  Types types_;
  std::optional<DensePlan> best_;
  std::uint64_t least_bytes_ = std::numeric_limits<std::uint64_t>::max();
};

/// By which plans of steps are compared.
Cycle cost_of(const Target& target, const DensePlan& plan) {
  return plan.of_steps(target.staged_estimate ? plan.staged : plan.estimate).total();
}

/// The cheapest plan with exactly `steps` serial steps along rows and columns.
std::optional<DensePlan> plan_steps(const Target& target, const Types& types, std::uint64_t m,
                                    std::uint64_t k, std::uint64_t n, std::uint64_t steps) {
  std::optional<DensePlan> best;
  for (std::uint64_t of_n = 1; of_n <= steps; ++of_n) {
    const std::uint64_t of_m = steps / of_n;
    if (of_m * of_n != steps || of_n > n || of_m > m) continue;
    const bool wanted = (target.dense_row_steps == 0 || target.dense_row_steps == of_m) &&
                        (target.dense_column_steps == 0 || target.dense_column_steps == of_n);
    const bool held = target.dense_row_steps + target.dense_column_steps != 0;
    if (!wanted || (held && !(fills(m, of_m) && fills(n, of_n)))) continue;
    const std::uint64_t step_m = ceil_div(m, of_m);
    const std::uint64_t step_n = ceil_div(n, of_n);
    std::optional<DensePlan> plan = plan_dense_step(target, types, step_m, k, step_n);
    if (!plan) continue;
    plan->serial_m = of_m;
    plan->serial_n = of_n;
    plan->step_m = step_m;
    plan->step_n = step_n;
    if (!best || cost_of(target, *plan) < cost_of(target, *best)) best = plan;
  }
  return best;
}

/// The cheapest plan within `target.planning_bytes` and `limit` bytes of a tile in equal steps over
/// the rows, one of them included.
std::optional<DensePlan> plan_row_steps(const Target& target, const Types& types, std::uint64_t m,
                                        std::uint64_t k, std::uint64_t n, std::uint64_t limit) {
  const std::uint64_t group = conv_out_group(target, types);
  const std::uint64_t groups = ceil_div(m, group);
  std::optional<DensePlan> best;
  for (std::uint64_t steps = 1; steps <= std::min(groups, kMostSteps); ++steps) {
    if (groups % steps != 0) continue;
    const std::uint64_t rows = steps == 1 ? m : groups / steps * group;
    std::optional<DensePlan> plan = plan_dense_step(target, types, rows, k, n);
    if (!plan) continue;
    plan->serial_m = steps;
    plan->step_m = rows;
    plan->step_n = n;
    if (dense_tile_bytes(types, *plan) > limit) continue;
    if (!best || cost_of(target, *plan) < cost_of(target, *best)) best = plan;
  }
  return best;
}

/// The best plan that takes no more than `limit` bytes of a tile.
std::optional<DensePlan> plan_within(const Target& target, const Types& types, std::uint64_t m,
                                     std::uint64_t k, std::uint64_t n, std::uint64_t limit) {
  if (target.dense_row_steps + target.dense_column_steps == 0) {
    const std::optional<DensePlan> rows = plan_row_steps(target, types, m, k, n, limit);
    if (rows) return rows;
  }
  std::optional<DensePlan> best;
  const auto cost = [&](const DensePlan& plan) { return cost_of(target, plan); };
  for (std::uint64_t steps = 1; steps <= kMostSteps; ++steps) {
    const std::optional<DensePlan> plan = plan_steps(target, types, m, k, n, steps);
    if (plan && dense_tile_bytes(types, *plan) <= limit) {
      return best && cost(*best) <= cost(*plan) ? *best : *plan;
    }
    // Beyond the target, what the homes of the operands leave.
    Target whole = target;
    const std::uint64_t homes = steps == 1 ? 0 : (m * k + k * n) * types.bytes() / target.tiles;
    const std::uint64_t outputs = m * n * types.bytes() / target.tiles;
    if (homes + outputs >= limit) continue;
    whole.planning_bytes = limit - homes - outputs;
    const std::optional<DensePlan> beyond = plan_steps(whole, types, m, k, n, steps);
    if (!beyond || dense_tile_bytes(types, *beyond) > limit) continue;
    if (!best || cost(*beyond) < cost(*best)) best = beyond;
  }
  return best;
}

}  // namespace

std::optional<DensePlan> plan_dense_step(const Target& target, const Types& types, std::uint64_t m,
                                         std::uint64_t k, std::uint64_t n) {
  return Search(target, types).run(m, k, n);
}

std::uint64_t dense_home_words(bool weights, std::uint64_t words, std::uint64_t parts) {
  return std::max<std::uint64_t>(round_up(ceil_div(words, parts), 2), weights ? 64 : 32);
}

// Operands are dead when partials arrive, but for one that stays. A single step has the operands at
// home where they are used; the steps of a series take them from there.
std::uint64_t dense_tile_bytes(const Types& types, const DensePlan& plan) {
  const auto words = [](std::uint64_t elements, unsigned size) {
    return ceil_div(elements * size, 8) * 2;
  };
  const std::uint64_t input = words(plan.field * plan.in_channels, types.bytes());
  const std::uint64_t weights = words(plan.in_channels * plan.out_channels, types.bytes());
  const std::uint64_t partials = words(plan.field * plan.out_channels, types.partial_bytes());
  const std::uint64_t slice = round_up(ceil_div(partials, plan.in_split), 2);
  std::uint64_t home = slice * plan.steps();
  if (plan.steps() > 1) {
    home += plan.serial_n * dense_home_words(false, input, plan.out_split) +
            plan.serial_m * dense_home_words(true, weights, plan.field_split);
  }
  const std::uint64_t stays = plan.inputs_stay() ? input : (plan.weights_stay() ? weights : 0);
  return 4 * (home + partials + std::max(input + weights, stays + slice * (plan.in_split - 1)));
}

DensePlan plan_dense(const Target& target, const Types& types, std::uint64_t m, std::uint64_t k,
                     std::uint64_t n) {
  // Operands that the AMP reads at once begin at memory elements of their own, for which the second
  // and the third lose up to one each; only if nothing else fits do they share, and conflict.
  constexpr std::uint64_t kAlignment = std::uint64_t{2} * 16 * 1024;
  const std::uint64_t all = target.tile_bytes;
  for (const std::uint64_t limit : {all - std::min(all, kAlignment), all}) {
    const std::optional<DensePlan> plan = plan_within(target, types, m, k, n, limit);
    if (plan) return *plan;
  }
  Search search(target, types);
  search.run(m, k, n);
  const bool held = target.dense.fixed() || target.dense_row_steps + target.dense_column_steps != 0;
  const bool no_steps = !fills(m, std::max(1U, target.dense_row_steps)) ||
                        !fills(n, std::max(1U, target.dense_column_steps));
  const bool no_parts = search.least_bytes() == std::numeric_limits<std::uint64_t>::max();
  if (held && (no_steps || no_parts)) {
    throw UnsupportedError(fmt::format(
        "dense {} x {} x {}: planner.dense_columns = {}, dense_rows = {}, dense_contraction = {} "
        "(0: the cheapest), or its steps over {} rows, are no parts without an empty one of {} "
        "columns, {} groups of rows and {} of the contraction "
        "on {} tiles",
        m, k, n, target.dense.columns, target.dense.rows, target.dense.contraction, m, n,
        ceil_div(m, conv_out_group(target, types)), ceil_div(k, conv_in_group(target, types)),
        target.tiles));
  }
  throw OutOfMemoryError(fmt::format(
      "dense {} x {} x {}: the smallest partition needs {} bytes on a tile, of which a plan may "
      "use {}",
      m, k, n, search.least_bytes(), target.planning_bytes));
}

}  // namespace lacuna::ipu
