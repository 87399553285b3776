// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/driver/system/job.hpp"
#include "sim/driver/system/record.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The errors of times of weight updates like this one; none if none like it was measured.
std::optional<TrustErrors> errors_of(const SystemMachine& machine,
                                     const system::TrainingParams& training);

/// What a step on chips joined by links came to.
SystemRecord record_of(const SystemMachine& machine, const system::TrainingParams& training,
                       const TrainingResult& result, const SystemWishes& wishes);

}  // namespace lacuna
