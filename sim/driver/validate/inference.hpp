// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Points of language models on wafers: runs the programs of workloads/mapping/wse/inference and
/// fills in the outcomes that are unsupported so far, or says why there is nothing to run.
void simulate_inference(const ValidationPoints& points, const MachineTable& table,
                        const ValidationRunSettings& run, Outcomes& outcomes);

}  // namespace lacuna
