// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/rules.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {

/// How the simulations behind validation points are carried out.
struct ValidationRunSettings {
  std::uint64_t seed = 1;             // of the random masks
  std::vector<std::string> settings;  // "path=value", of every machine that has the parameter
  Execution execution;
  LayoutRequest layout;
  unsigned jobs = 1;  // processes
};

/// Called after each run with the number of those that are done.
using ValidationProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Keeps results as they come, and knows those that came before; by the place of their run. Either
/// may be empty.
struct ValidationKeeper {
  std::function<std::optional<ValidationRunResult>(std::size_t place)> find = {};
  std::function<void(std::size_t place, const ValidationRunResult& result)> add = {};
};

/// A result as text, for a journal, and back without loss.
std::string text_of(const ValidationRunResult& result);
ValidationRunResult validation_result(const std::string& text);

/// All that the results of `runs` depend on: what each is, and the parameters of its machine.
std::string text_of_runs(const MachineTable& table, const std::vector<ValidationRun>& runs,
                         const ValidationRunSettings& settings);

/// Simulates each of `runs`, in processes of their own if there is more than one job, and returns
/// the results in their order, which do not depend on the jobs. A run that does not fit memory,
/// is not supported or cannot be completed is a result without cycles; RequestError and
/// InternalError are thrown.
std::vector<ValidationRunResult> simulate_runs(const MachineTable& table,
                                               const std::vector<ValidationRun>& runs,
                                               const ValidationRunSettings& settings,
                                               const ValidationProgress& progress,
                                               const ValidationKeeper& keeper = {});

/// The cycles of the metric that the PopSparse measurements use: the statistic `kernel_cycles`,
/// or all cycles of a machine that does not have it.
Cycle kernel_cycles(const OpResult& result);

}  // namespace lacuna
