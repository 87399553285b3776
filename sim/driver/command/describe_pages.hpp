// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// What chips are made of and what that takes; published areas beside those of the model.
std::string area_text(const MachineTable& kinds, const Options& options);

/// How far the model was from points that it has not seen, what was chosen by points, and what is
/// assumed.
std::string trust_text(const MachineTable& kinds, const Options& options);

}  // namespace lacuna
