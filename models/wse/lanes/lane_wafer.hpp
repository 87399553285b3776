// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse::lanes {

/// Runs a program of tasks with cores and routers as lanes; the outcome is that of Engine::clocked.
/// `width`: one of step_widths(); 0: that with the fewest lanes that stand for nothing.
Attempt simulate_lanes(const TaskParams& params, const TaskProgram& program, unsigned width = 0);

}  // namespace lacuna::wse::lanes
