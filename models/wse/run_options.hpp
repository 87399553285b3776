// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/wse/program/event_kinds.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/engine.hpp"

namespace lacuna::wse {

class CountedWafer;
struct TaskOutcome;

/// How a program is simulated; see lacuna::Execution.
struct RunOptions {
  Engine engine = Engine::event;
  std::uint64_t shuffle = 0;
  Cycle jitter = 0;
  std::uint64_t jitter_seed = 1;
  bool event_log = false;
  EventScope event_scope = {kPlainEvents};
  bool lanes = false;     // Engine::event may run in lanes, where they can; not with a log
  bool modules = false;   // a SystemC module for each router and core
  bool fold = true;       // lanes simulate rows that are proven alike once
  Cycle cycles = kNever;  // a run of units with a log may end before its program
  Cycle limit = kNever;   // lanes that take longer are given up: CycleLimitPassed
  Cycle marks = 0;        // lanes note what cores have counted every so many cycles; 0: not

  /// Called as ClockDomain::watch has it, the first time at `first_look`: `look` of wafers without
  /// lanes, `look_at_tasks` of cores that run tasks with what they have done so far.
  Cycle first_look = kNever;
  std::function<Cycle(Cycle at, CountedWafer& wafer)> look = {};
  std::function<Cycle(Cycle at, const TaskOutcome& so_far)> look_at_tasks = {};

  /// Why routers and cores have to be stepped one by one, whatever they run; empty if not.
  const char* for_units() const {
    if (modules) return "each core is a module";
    if (event_log) return "the event log names every unit";
    if (jitter != 0) return "delays of single words differ";
    return look || look_at_tasks ? "cores are looked at in time" : "";
  }
};

}  // namespace lacuna::wse
