// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// What a unit of a wafer is, has and stands beside, by the name that event logs, waves, timelines
/// and modules give it: wafer.r3.c7.router, wafer.r3.c7.core, wafer.r3.c7, wafer.r3,
/// wafer.injector.c7. Empty if `name` is no such name; RequestError if it is, but there is no such
/// row or column.
std::string describe_wafer_unit(const WseParams& params, const std::string& machine,
                                const std::string& name);

}  // namespace lacuna
