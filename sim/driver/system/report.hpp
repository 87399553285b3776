// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/system/job.hpp"
#include "sim/driver/system/record.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The errors of times of weight updates like this one; none if none like it was measured.
std::optional<TrustErrors> errors_of(const SystemMachine& machine,
                                     const system::TrainingParams& training);

/// What is read off any run alike, whatever joins its chips: times by `uses`, joules, rates, and
/// `own` quantities of a kind of systems.
SystemRecord record_of_run(const std::string& system, const std::string& work,
                           const StepCounts& counts, const system::RunResult& run,
                           system::Uses uses, const EnergyAccount& energy,
                           const std::vector<NamedQuantity>& own);

/// What a step on chips joined by links came to.
SystemRecord record_of(const SystemMachine& machine, const system::TrainingParams& training,
                       const TrainingResult& result, const SystemWishes& wishes);

}  // namespace lacuna
