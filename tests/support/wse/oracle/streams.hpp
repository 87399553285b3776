// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse::oracle {

/// What a wafer does with `program`, a streamed product or a weight gradient, by the documents,
/// and all events. Nothing if it is not over after `patience` cycles.
std::optional<WaferOutcome> run_streams(const HardwareParams& params, const Program& program,
                                        Cycle patience);

}  // namespace lacuna::wse::oracle
