// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/kernel/engine.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Our number for a published one that is no product. It is what a vertex program for this kernel
/// does on the modelled tile, or a rate or latency that follows from parameters. In the unit of the
/// point; nothing if no rule knows its system, workload and metric.
std::optional<double> simulate_point(const ValidationPoint& point, const MachineTable& table,
                                     const std::vector<std::string>& settings, Engine engine);

/// Points that are no products, but for which there is such a rule: fills in the outcomes that are
/// unsupported so far.
void simulate_kernels(const ValidationPoints& points, const MachineTable& table,
                      const ValidationRunSettings& run, Outcomes& outcomes);

}  // namespace lacuna
