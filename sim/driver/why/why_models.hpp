// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/why/why.hpp"

namespace lacuna {

/// What may be why a language model, or the training of one, is not faster on a machine or a
/// system of chips, by its preset or file. RequestError if nothing can be taken away from it.
std::vector<DeclaredCause> causes_of_models(const MachineTable& kinds, const std::string& machine,
                                            bool trains);

/// Asks one run after the other. `seconds` throws of what is refused or has no room: it was not
/// run.
WhyRunner one_by_one(std::function<double(const WhyAsk&)> seconds);

}  // namespace lacuna
