// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Before anything is simulated: OutOfMemoryError if the machine of `point` has such a store and it
/// does not hold the weights, their gradients and the state of their optimizer, or a wafer does not
/// hold what is kept for the backward pass.
void check_weight_store(const Point& point, const RunSettings& common, MaskStore& masks);

/// How systems scale of which each chip does its rows once, without its rows.
Scaling scaling_of_shares(const std::string& workload);
ScalingRow scaling_row(const std::string& name, const WaferSystemRun& run);

/// What it came to, as tables; with a row of each pass, or without.
std::string wafer_system_text(const WaferSystemRun& run, bool with_passes = true);

/// Its quantities: of a step.
std::vector<SystemMetric> wafer_system_metrics(const WaferSystemRun& run);

/// The passes, the time of each wafer, quantities of the whole with their units, memory.
std::vector<NamedTable> wafer_system_tables(const WaferSystemRun& run,
                                            const std::vector<SystemMetric>& metrics);

/// A stretch of a pass: on the first wafer, or (track 1) from its end there until it is in the
/// store.
struct PassBar {
  std::size_t pass = 0;
  std::size_t track = 0;
  Cycle from = 0;
  Cycle to = 0;
};
std::vector<PassBar> pass_bars(const WaferSystemRun& run);
inline const std::vector<std::string> kPassTracks = {"first wafer", "on the way to the store"};

/// What the store and a wafer hold.
std::vector<MemoryOfPlace> memory_places(const WaferSystemRun& run);

/// Passes in time, where the time of the wafers goes, memory of a wafer; `title` is the first line.
std::vector<Figure> wafer_system_figures(const WaferSystemRun& run, const std::string& title);

/// The tables as files of a result folder: passes.csv, time_stack.csv, metrics.csv, memory.csv; and
/// timeline.json.
std::vector<std::pair<std::string, std::string>> wafer_system_files(
    const WaferSystemRun& run, const std::vector<SystemMetric>& metrics);

}  // namespace lacuna
