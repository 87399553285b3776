// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// `run` and `compare` of a language model: --model NAME with --decode, --prefill or --requests, on
/// wafers, IPUs and systems of IPUs.
int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams);

}  // namespace lacuna
