// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/fabric/link.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a run of tasks gave, by core, row-major.
struct TaskOutcome {
  Cycle cycles = 0;  // from the start to the last thing that happened
  std::vector<TaskCounters> cores;
  std::vector<RouterCounters> routers;
  std::vector<Event> events;                      // sorted by cycle, unit, kind and argument
  bool events_left_out = false;                   // there were more than its scope has
  std::vector<std::vector<std::uint8_t>> memory;  // at the end; with values only
  std::vector<std::vector<Cycle>> stamps;         // when each core took its stamps
  std::size_t simulated = 0;                      // cores, if others do as they do; 0: all
  std::string strategy;                           // of simulate(), and why no other was taken

  /// Cores that were simulated.
  std::size_t stepped() const { return simulated != 0 ? simulated : cores.size(); }

  /// From the first issue slot of any core to the end of the last.
  Cycle span() const;
};

/// A way to run tasks that cannot run all.
struct Attempt {
  std::string refused;  // why it cannot run these; there is no outcome then
  TaskOutcome outcome;
};

/// What has come into a buffer of a router.
struct BufferHistory {
  Color color{};
  Port from = kRamp;
  LinkArray::Digest passed;
};
/// Of the buffers of each router, row-major, by color and port.
using BufferHistories = std::vector<std::vector<BufferHistory>>;

/// Runs `program` on a wafer of its own, whose rows step their routers and cores one by one.
/// `histories`, if there are to be any, is filled.
TaskOutcome simulate_rows(const TaskParams& params, const TaskProgram& program,
                          const RunOptions& options, BufferHistories* histories = nullptr);

/// The same, with every router and every core as a SystemC module of its own, wired through ports:
/// wafer.r3.c7.router, wafer.r3.c7.core. For small rectangles.
TaskOutcome simulate_task_modules(const TaskParams& params, const TaskProgram& program,
                                  const RunOptions& options);

/// The names of all these modules, in the order of their construction.
std::vector<std::string> module_names(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
