// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// As simulate(), with every router and every core as a SystemC module of its own, wired through
/// ports: wafer.r3.c7.router, wafer.r3.c7.core. For small rectangles; the outcome is the same.
TaskOutcome simulate_task_modules(const TaskParams& params, const TaskProgram& program,
                                  const RunOptions& options);

/// The names of all modules of `program`, in the order of their construction.
std::vector<std::string> task_module_names(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
