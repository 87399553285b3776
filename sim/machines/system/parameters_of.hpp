// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// Visits all parameters of a machine by the paths that set them: of a system its own, then those
/// of its chip as chip.PATH.
void for_each_parameter(const Machine& machine, const ParameterSet::Visitor& visit);

/// The parameter that such a path sets, or nothing.
const ParamBase* find_parameter(const Machine& machine, const std::string& path);

/// All of them with their values.
std::vector<ParameterValue> parameter_values(const Machine& machine);

}  // namespace lacuna
