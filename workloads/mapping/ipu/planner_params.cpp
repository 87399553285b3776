// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/planner_params.hpp"

#include "models/ipu/memory_ports.hpp"

namespace lacuna::ipu {

Target make_target(const ChipParams& chip, const PlannerParams& planner) {
  Target target;
  target.tiles = chip.ipu.tiles;
  target.workers = chip.tile.workers;
  target.pipeline = WorkerPipeline(chip.tile);
  target.tile_bytes = std::uint64_t{chip.tile.memory.kib} * 1024;
  target.plain_bytes = std::uint64_t{chip.tile.memory.element.plain_kib} * 1024;
  target.planning_bytes =
      static_cast<std::uint64_t>(planner.available_memory * static_cast<double>(target.tile_bytes));
  target.amp = AmpUnit(chip.tile.amp, MemoryPorts(chip.tile.memory).whole_stores());
  target.one_stage_depth = planner.one_stage_depth;
  target.two_stage_depth = planner.two_stage_depth;
  target.staged_estimate = planner.staged_estimate;
  target.fast_reduce = planner.fast_reduce;
  target.long_single_passes = planner.long_fp32_passes;
  target.lone_pairs = planner.lone_pairs;
  target.short_pairs = planner.short_pairs;
  target.order_elements = planner.order_elements;
  target.sums = planner.sums;
  target.sums_delay = planner.sums_delay;
  target.few_workers = planner.few_workers;
  target.single_step = planner.single_step;
  target.copy_sums = planner.copy_sums;
  target.long_sums = planner.long_sums;
  target.static_parts = planner.static_parts;
  target.static_bands = planner.static_bands;
  target.dense = {planner.dense_columns, planner.dense_rows, planner.dense_contraction};
  target.dense_row_steps = planner.dense_row_steps;
  target.dense_column_steps = planner.dense_column_steps;
  target.dynamic = {planner.dynamic_columns, planner.dynamic_rows, planner.dynamic_contraction};
  return target;
}

}  // namespace lacuna::ipu
