// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse::lanes {

/// What a run of tasks in lanes gave.
struct LaneRun {
  std::string refused;  // why lanes cannot run this program; the rest is empty then
  std::string shape;    // the declared shape that was taken
  unsigned width = 0;   // lanes that are computed with at once
  TaskOutcome outcome;
};

/// The widths that this build has and this machine can, the widest last.
std::vector<unsigned> lane_widths();

/// Runs a program of tasks with cores and routers as lanes; the outcome is that of Engine::clocked.
/// `width`: one of lane_widths(); 0: that with the fewest lanes that stand for nothing.
LaneRun simulate_lanes(const TaskParams& params, const TaskProgram& program, unsigned width = 0);

}  // namespace lacuna::wse::lanes
