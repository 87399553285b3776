// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/system/wafer_system.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Bytes of one wafer at its fullest. What streams in, and gradients that go up, are not there.
struct WaferAccount {
  std::uint64_t weights = 0;      // that stay
  std::uint64_t activations = 0;  // that the backward pass needs
  std::uint64_t working = 0;      // the most that is there beside them
  std::uint64_t capacity = 0;

  std::uint64_t total() const { return weights + activations + working; }
};

/// What a row took on a wafer, all its repeats together.
struct WaferRow {
  std::uint64_t ns = 0;
  double density = 1;  // of its mask
  JouleRange joules;
};

/// The rows of a trace as one wafer did them, in their order.
struct WaferWork {
  std::vector<WaferRow> rows;
  std::uint64_t units = 0;  // of a row that a wafer ran; 0: none did
  double clock_ghz = 0;
};

/// The same of a run; UnsupportedError if a row was not simulated.
WaferWork work_of(const RunRecord& record);

/// What a pass is of.
enum class PassKind : std::uint8_t { forward, recompute, backward, optimizer, exchange };

/// A run of a trace on several wafers that share one store of weights. The trace is the share of
/// one wafer; its operations take the times that the wafer's model gave them.
struct WaferSystemRun {
  system::WaferSystemParams params;
  system::WaferEdge edge;
  std::vector<system::WaferPass> passes;  // in the order of the trace, those of all steps
  std::vector<PassKind> kinds;            // of each
  system::WaferSystemResult result;
  system::StoreAccount store;
  WaferAccount wafer;
  EnergyAccount energy;  // of all steps

  double seconds_per_step() const {
    return static_cast<double>(result.ns) * 1e-9 / params.steps.value();
  }
};

/// Whether the weights of `machine` come from a store outside.
bool has_weight_store(const Machine& machine);

/// Before anything is simulated: OutOfMemoryError if the machine of `point` has such a store and it
/// does not hold the weights, their gradients and the state of their optimizer, or a wafer does not
/// hold what is kept for the backward pass.
void check_weight_store(const Point& point, const RunSettings& common, MaskStore& masks);

/// The same of a system, a trace, and the part of its weights that each row keeps.
void check_wafer_accounts(const Machine& system, const WorkloadTrace& workload,
                          const std::vector<double>& densities);

/// Runs the rows of a trace that took such `work` as passes of such a system, `steps`
/// times. A streamed product takes its weights from the store; the gradient of a weight takes its
/// indices and gives its values back; other operations take nothing. OutOfMemoryError if the store
/// does not hold the weights, their gradients and the state of their optimizer.
WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const WaferWork& work, const system::SystemExecution& execution,
                                const Pricing& pricing);

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
