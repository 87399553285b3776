// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/task_outcome.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Runs `program` on a wafer of its own, in the way that the options ask for and the program
/// allows: rows as lanes, unit by unit, or a module for each router and core.
WaferOutcome simulate(const HardwareParams& params, const Program& program,
                      const RunOptions& options);
TaskOutcome simulate(const TaskParams& params, const TaskProgram& program,
                     const RunOptions& options);

}  // namespace lacuna::wse
