// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna {

/// The whole program: reads the arguments (without the program's name), does what they ask and
/// returns the exit status. Every error is one message on streams.err.
int run_lacuna(const std::vector<std::string>& arguments, const MachineTable& machines,
               const Streams& streams);

}  // namespace lacuna
