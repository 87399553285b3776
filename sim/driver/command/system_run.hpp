// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// The names of the shipped descriptions of training steps.
std::vector<std::string> training_names();

/// True if `run` is of a system of chips and not of one.
bool asks_for_system(const Options& options);

/// `run` of a training step on a system: --machine SYSTEM --system-config FILE.
int run_system(const Options& options, const MachineTable& kinds, const Streams& streams);

/// `compare` of a training step on several systems: how it scales.
int compare_systems(const Options& options, const MachineTable& kinds, const Streams& streams);

/// `describe fit`: layouts of a training step on a system, by their memory.
int describe_fit(const Options& options, const MachineTable& kinds, const Streams& streams);

}  // namespace lacuna
