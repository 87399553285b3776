// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "models/wse/simulate.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

/// A single core that runs `tasks`, without a fabric.
inline TaskProgram lone_core(std::vector<Task> tasks, std::uint32_t memory_bytes = 0) {
  TaskBuilder builder(1, 1);
  CoreProgram core;
  core.tasks = std::move(tasks);
  builder.core(0, builder.add(core));
  TaskProgram program = std::move(builder).finish();
  if (memory_bytes != 0) program.memory.emplace_back(memory_bytes, std::uint8_t{0});
  return program;
}

/// A task that is active from the start on.
inline Task first_task(std::vector<Step> steps) {
  Task task;
  task.active = true;
  task.steps = std::move(steps);
  return task;
}

/// Runs in one engine with everything the outcome can show.
inline TaskOutcome run_tasks(const TaskProgram& program, Engine engine = Engine::event,
                             std::uint64_t shuffle = 0, Cycle jitter = 0,
                             const TaskParams& params = {}) {
  RunOptions options;
  options.engine = engine;
  options.shuffle = shuffle;
  options.jitter = jitter;
  options.event_log = true;
  return simulate(params, program, options);
}

/// Where two outcomes of a program differ first; empty if nowhere.
inline std::string difference(const TaskOutcome& a, const TaskOutcome& b) {
  if (a.cycles != b.cycles) return fmt::format("{} and {} cycles", a.cycles, b.cycles);
  for (std::size_t i = 0; i < a.cores.size(); ++i) {
    const TaskCounters& x = a.cores[i];
    const TaskCounters& y = b.cores[i];
    if (!(x == y)) {
      std::string text =
          fmt::format("core {}: {}..{} and {}..{}", i, x.begin, x.end, y.begin, y.end);
      for (unsigned k = 0; k < kTaskCycles; ++k) {
        text += fmt::format(", {}/{}", x.cycles.at(k), y.cycles.at(k));
      }
      return text;
    }
    const RouterCounters& p = a.routers[i];
    const RouterCounters& q = b.routers[i];
    if (!(p == q)) {
      std::string text =
          fmt::format("router {}: sent {} and {}, closures {} and {}", i, fmt::join(p.sent, " "),
                      fmt::join(q.sent, " "), p.closures, q.closures);
      for (unsigned color = 0; color < kColors; ++color) {
        if (p.stalls.at(color) == q.stalls.at(color)) continue;
        text += fmt::format(", color {} stood {} and {} cycles", color, p.stalls.at(color),
                            q.stalls.at(color));
      }
      return text;
    }
  }
  if (a.events != b.events) return "events";
  return a.memory == b.memory ? "" : "values";
}

}  // namespace lacuna::wse
