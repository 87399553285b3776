// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/system/wafer_system.hpp"
#include "sim/driver/machine.hpp"
#include "sim/report/summary.hpp"
#include "sim/report/text_table.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// A run of a trace on several wafers that share one store of weights. The trace is the share of
/// one wafer; its operations take the times that the wafer's model gave them.
struct WaferSystemRun {
  system::WaferSystemParams params;
  system::WaferEdge edge;
  std::vector<system::WaferPass> passes;  // one for each operation, in the order of the trace
  system::WaferSystemResult result;
};

/// Whether the weights of `machine` come from a store outside: sys.memoryx.on.
bool has_weight_store(const Machine& machine);

/// Runs the operations of `record`, all of them simulated, as passes of such a system, sys.steps
/// times. A streamed product takes its weights from the store; the gradient of a weight takes its
/// indices and gives its values back; other operations take nothing.
WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const RunRecord& record, Engine engine);

/// What it came to, as tables.
std::string wafer_system_text(const WaferSystemRun& run);

/// Files of a result folder, by name: system_passes.csv, system_times.csv.
std::vector<std::pair<std::string, std::string>> wafer_system_files(const WaferSystemRun& run);

}  // namespace lacuna
