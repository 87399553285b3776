// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Fills in the outcomes of points that are training steps on systems, as far as a shipped
/// description says how they were laid out. It is the description of the same system and workload,
/// or of another batch or round of the same model on it. Then accumulations follow from the batch
/// of the point.
void simulate_systems(const ValidationPoints& points, const MachineTable& table,
                      const ValidationRunSettings& settings, Outcomes& outcomes);

}  // namespace lacuna
