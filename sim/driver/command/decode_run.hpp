// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// True if `run` is of a language model.
bool asks_for_decode(const Options& options);

/// `run` of a decoding step of a model on a wafer: --model NAME --decode.
int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams);

}  // namespace lacuna
