// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/product_bound.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/product_types.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/static/classes.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"
#include "workloads/mapping/ipu/static/runs.hpp"

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

/// Clocks of the vertex of a run, of which each worker has its share of rows or of columns.
Cycle vertex_clocks(const Target& target, const Types& types, unsigned block,
                    const StaticRuns::Run& run, std::uint64_t columns) {
  if (block != 1) {
    // the supervisor launches its workers again for each row
    return block_vertex_clocks(target, types, block, 1, run.nonzeros(), columns / target.workers) +
           (run.rows - 1) * block_cost(target, types, block).row;
  }
  const ElementWiseBundles w = element_wise_bundles(types, columns, Form::run_time);
  const std::uint64_t all = run.rows * w.row + (run.nonzeros() - run.rows) * w.nonzero;
  return target.worker_clocks(w.entry + all / target.workers);
}

/// Of the partials that are summed what the fullest tile receives, or copies beside these, and the
/// additions of its busiest worker.
Cycle least_of_sums(const Target& target, const Types& types, Cycle sync, const StaticPlan& plan,
                    const Mask& mask, const std::map<unsigned, StaticRuns>& runs) {
  const std::uint64_t grain = static_grain(types);
  const LinearMap home(mask.grid_rows() * plan.padded_n * plan.block,
                       plan.block == 1 ? grain : grain * grain, target.tiles);
  const SumPlan sums(target, types, plan, runs, mask.grid_rows(), home);
  const std::uint64_t width = 8 / types.partial_bytes();
  std::uint64_t most = 0;
  std::uint64_t bundles = 0;
  for (const TileSums& tile : sums.tiles()) {
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> of_workers(target.workers, 0);
    for (const SumVertex& vertex : tile.vertices) {
      const std::uint64_t depth = sums.classes()[vertex.of_class].depth;
      bytes += vertex.elements * depth * types.partial_bytes();
      of_workers.at(vertex.worker) += strided_reduce_bundles(
          target, ceil_div(vertex.elements, width), depth, types.partials, types.data);
    }
    most = std::max(most, bytes);
    bundles = std::max(bundles, *std::max_element(of_workers.begin(), of_workers.end()));
  }
  if (most == 0) return 0;
  const Cycle moved = target.copy_sums ? receives(target, most) : 0;
  return sync + moved + target.worker_clocks(bundles);
}

/// The sum over phases of the fullest tile's least cycles. A phase has what the tile receives or
/// copies before it reads, single elements that are put into order, its vertex, and its sums.
Cycle least_of(const Target& target, const Types& types, Cycle sync, const StaticPlan& plan,
               const Mask& mask) {
  const BandedNonzeros nonzeros(mask, plan);
  const std::uint64_t area = std::uint64_t{plan.block} * plan.block;
  std::map<unsigned, StaticRuns> known;
  std::uint64_t gathered = 0;
  std::uint64_t longest = 0;  // run, of blocks
  Cycle multiply = 0;
  for (const ColumnPart& part : plan.parts) {
    const StaticRuns& runs =
        known.try_emplace(part.tiles, mask, plan, nonzeros, part.tiles).first->second;
    const std::uint64_t width = part.columns() * plan.block;
    for (const StaticRuns::Run& run : runs.runs) {
      if (run.nonzeros() == 0) continue;
      std::uint64_t bytes = run.columns * width * types.bytes();
      if (plan.parts.size() > 1) bytes += run.nonzeros() * area * types.bytes();
      gathered = std::max(gathered, bytes);
      longest = std::max(longest, run.nonzeros());
      multiply = std::max(multiply, vertex_clocks(target, types, plan.block, run, part.columns()));
    }
  }
  Cycle least = receives(target, gathered) + sync + multiply;
  if (plan.block == 1 && target.order_elements && plan.parts.size() == 1) {
    constexpr std::uint64_t kWord = 4;
    constexpr std::uint64_t kBundles = 2;  // a load and a store of each word at least
    least += longest * types.bytes() / kWord * kBundles;
  }
  return least + least_of_sums(target, types, sync, plan, mask, known);
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
    return least_of(target, types, sync, plan_static(target, types, blocks, op.n), blocks);
  } catch (const SimulationError&) {
    return std::nullopt;
  }
}

}  // namespace lacuna::ipu
