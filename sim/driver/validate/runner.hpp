// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/driver/files/journal.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/progress.hpp"
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

/// A result as text, for a journal, and back without loss.
std::string text_of(const ValidationRunResult& result);
ValidationRunResult validation_result(const std::string& text);

/// All that the results of `runs` depend on: what each is, and the parameters of its machine.
std::string text_of_runs(const MachineTable& table, const std::vector<ValidationRun>& runs,
                         const ValidationRunSettings& settings);

/// Simulates each of `runs` in processes of their own, and returns the results in their order,
/// which do not depend on the jobs. Results are kept in the journal, if there is one, and those
/// that it has are taken. A run that does not fit memory, is not supported or cannot be completed
/// is a result without cycles; RequestError and InternalError are thrown, and SimulationError if
/// Ctrl-C ended it.
std::vector<ValidationRunResult> simulate_runs(const MachineTable& table,
                                               const std::vector<ValidationRun>& runs,
                                               const ValidationRunSettings& settings,
                                               Progress& progress, Journal* journal);

/// The cycles of the metric that the PopSparse measurements use: the statistic `kernel_cycles`,
/// or all cycles of a machine that does not have it.
Cycle kernel_cycles(const OpResult& result);

}  // namespace lacuna
