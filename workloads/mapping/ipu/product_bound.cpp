// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/product_bound.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/product_types.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

/// Clocks in which a tile receives `bytes`, at double width.
Cycle receives(const Target& target, std::uint64_t bytes) {
  return bytes / (2 * std::uint64_t{target.exchange_bytes});
}

/// Of `bytes` that `parts` tiles all need and are home of together, what one of them lacks.
std::uint64_t lacks(std::uint64_t bytes, std::uint64_t parts) { return bytes - bytes / parts; }

/// The largest part of a plan: what it multiplies in each step, and once what it receives of the
/// operands and sends for of the sums.
Cycle least_of(const Target& target, const Types& types, Cycle sync, const DensePlan& plan,
               const LayerOp& op) {
  const std::uint64_t in = std::min<std::uint64_t>(plan.in_channels, op.k);
  const std::uint64_t out = std::min<std::uint64_t>(plan.out_channels, op.m);
  const Cycle multiply =
      conv_vertex_clocks(target, types,
                         {plan.field, plan.in_channels / conv_in_group(target, types),
                          plan.out_channels / conv_out_group(target, types)},
                         Form::run_time);
  const std::uint64_t operands = lacks(plan.field * in * types.bytes(), plan.out_split) +
                                 lacks(in * out * types.bytes(), plan.field_split);
  Cycle least = plan.steps() * multiply + receives(target, operands);
  if (operands != 0) least += sync;
  if (plan.in_split == 1) return least;
  const std::uint64_t sums = plan.field * out * types.partial_bytes();
  // the first of several stages has the sums of at least two tiles
  const bool staged = plan.in_split > target.one_stage_depth;
  return least + plan.steps() * (receives(target, lacks(sums, staged ? 2 : plan.in_split)) + sync);
}

/// The band with most non-zeros for each of its tiles: one of these has the mean.
Cycle least_of(const Target& target, const Types& types, Cycle sync, const StaticPlan& plan,
               std::uint64_t nonzeros) {
  Cycle most = 0;
  for (const ColumnPart& part : plan.parts) {
    const std::vector<unsigned> tiles = tiles_of_bands(plan.bands, nonzeros, part.tiles);
    for (std::size_t b = 0; b < tiles.size(); ++b) {
      const std::uint64_t mean = ceil_div(plan.bands[b].nonzeros, tiles[b]);
      Cycle clocks = 0;
      if (plan.block == 1) {
        const ElementWiseBundles w = element_wise_bundles(types, part.columns(), Form::run_time);
        clocks = target.worker_clocks(w.entry + mean * std::min(w.row, w.nonzero) / target.workers);
      } else {
        clocks = block_vertex_clocks(target, types, plan.block, 1, mean,
                                     part.columns() / target.workers);
      }
      most = std::max(most, clocks);
    }
  }
  return most + sync;
}

}  // namespace

std::optional<Cycle> least_cycles(const ChipParams& chip, const PlannerParams& planner,
                                  const LayerOp& op, const Mask* mask) {
  const Target target = make_target(chip, planner);
  const Cycle sync = chip.sync.cycles;
  GemmProblem problem;
  problem.dtype = op.dtype;
  problem.partials = op.partials;
  try {
    if (mask == nullptr || op.mode == Mode::dense) {
      const Types types = dense_types(planner, problem);
      return least_of(target, types, sync, plan_dense(target, types, op.m, op.k, op.n), op);
    }
    if (op.mode == Mode::dynamic) return std::nullopt;
    const Mask blocks = usable_blocks(*mask);
    if (blocks.blocks() == 0) return std::nullopt;
    const Types types = static_types(problem);
    return least_of(target, types, sync, plan_static(target, types, blocks, op.n), blocks.blocks());
  } catch (const SimulationError&) {
    return std::nullopt;
  }
}

}  // namespace lacuna::ipu
