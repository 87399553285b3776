// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/kernel/engine.hpp"

namespace lacuna {

/// Our number for a published one that is no product: what a vertex program for this kernel does on
/// the modelled tile of the system, or a rate or latency that follows from its parameters. In the
/// unit of the point; nothing if no rule knows its system, workload and metric.
std::optional<double> measure_point(const ValidationPoint& point, const MachineTable& table,
                                    const std::vector<std::string>& settings, Engine engine);

}  // namespace lacuna
