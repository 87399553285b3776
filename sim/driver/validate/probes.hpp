// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Points of probes and stencils on wafers that no product or collective is behind. Runs the
/// programs of traces/programs and fills in the outcomes that are unsupported
/// so far. Else says why there is nothing to run.
void simulate_wafer_probes(const ValidationPoints& points, const MachineTable& table,
                           const ValidationRunSettings& run, Outcomes& outcomes);

}  // namespace lacuna
