// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/system/ledger.hpp"
#include "models/system/wafer_system.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What the rows of a trace took on one wafer, in their order, all repeats of each together.
using RowCosts = std::vector<system::ChipCost>;

/// The same of a run; UnsupportedError if a row was not simulated.
RowCosts costs_of(const RunRecord& record);

/// A run of a trace on several wafers that share one store of weights. The trace is the share of
/// one wafer; its operations take the times that the wafer's model gave them.
struct WaferSystemRun {
  system::WaferSystemParams params;
  system::WaferEdge edge;
  std::vector<system::WaferPass> passes;  // in the order of the trace, those of all steps
  system::WaferSystemResult result;
  std::vector<system::MemoryAccount> memory;  // of the store, and of a wafer
  EnergyAccount energy;                       // of a step
  double flop = 0;                            // useful, of all wafers in a step

  double seconds_per_step() const {
    return static_cast<double>(result.ns) * 1e-9 / params.steps.value();
  }
};

/// Whether the weights of `machine` come from a store outside.
bool has_weight_store(const Machine& machine);

/// OutOfMemoryError if the store of a system does not hold the weights of a trace, their gradients
/// and the state of their optimizer. The same if a wafer does not hold what is kept for the
/// backward pass. `densities` has the part of its weights that each row keeps.
void check_wafer_accounts(const Machine& system, const WorkloadTrace& workload,
                          const std::vector<double>& densities);

/// Runs the rows of a trace that had such `costs` as passes of such a system, `steps`
/// times. A streamed product takes its weights from the store; the gradient of a weight takes its
/// indices and gives its values back; other operations take nothing. OutOfMemoryError if the store
/// does not hold the weights, their gradients and the state of their optimizer.
WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const RowCosts& costs, const system::SystemExecution& execution,
                                const Pricing& pricing);

/// Makes the total of `record`, of the rows of a trace on one chip of a system with a store, that
/// of the system: its time, its joules, its silicon, what all of its wafers do. Gives what it was
/// made of; nothing if `machine` is no such system or a row did not run, and if something has no
/// room, which the total then says.
std::optional<WaferSystemRun> complete_total(const Machine& machine, const WorkloadTrace& workload,
                                             const system::SystemExecution& execution,
                                             const Pricing& pricing, RunRecord& record);

}  // namespace lacuna
