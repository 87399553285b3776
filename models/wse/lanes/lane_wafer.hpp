// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse::lanes {

/// What a run of tasks in lanes gave: when it ended, and by core, row-major, what it waited for.
struct LaneOutcome {
  struct Core {
    std::uint64_t tasks = 0;  // started by others
    std::uint64_t wait_in = 0;
    std::uint64_t wait_out = 0;
    std::uint64_t dispatch = 0;
  };

  std::string refused;  // why lanes cannot run this program; the rest is empty then
  std::string shape;    // the declared shape that was taken
  unsigned width = 0;   // lanes that are computed with at once
  Cycle cycles = 0;     // from the start to the last thing that happened
  std::vector<Core> cores;
  std::vector<std::uint64_t> stalls;  // cycles in which heads stayed, by router
};

/// The widths that this build has and this machine can, the widest last.
std::vector<unsigned> lane_widths();

/// Runs a program of tasks with cores and routers as lanes: cycles are those of Engine::clocked.
/// No default takes it: it counts waits alone. `width`: one of lane_widths(), 0 is the widest.
LaneOutcome simulate_lanes(const TaskParams& params, const TaskProgram& program,
                           unsigned width = 0);

}  // namespace lacuna::wse::lanes
