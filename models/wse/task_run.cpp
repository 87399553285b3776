// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/wse/engine/mesh.hpp"
#include "models/wse/engine/module_mesh.hpp"
#include "models/wse/engine/places.hpp"
#include "models/wse/pe/task_core.hpp"
#include "models/wse/task_outcome.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

using TaskPlaces = Places<TaskCores>;

/// One beat at a time for those who look in between.
Engine engine_of(const RunOptions& options) {
  return options.look_at_tasks ? Engine::clocked : options.engine;
}

/// What the words of each buffer and queue wait for: room on another link, or words of it.
class Waits {
 public:
  Waits(const Mesh& mesh, const TaskCores& cores, std::uint32_t columns)
      : mesh_(mesh),
        cores_(cores),
        columns_(columns),
        next_(mesh.links.size(), kNoLink),
        name_(mesh.links.size()) {
    for (std::size_t place = 0; place < cores.size(); ++place) {
      add_router(place);
      add_core(place);
    }
  }

  /// Those that wait for each other in a circle, as a line; empty if none do.
  std::string circle() const {
    std::vector<LinkId> seen_from(next_.size(), kNoLink);
    for (LinkId start = 0; start < next_.size(); ++start) {
      LinkId at = start;
      for (; at != kNoLink && seen_from[at] == kNoLink; at = next_[at]) seen_from[at] = start;
      if (at == kNoLink || seen_from[at] != start) continue;
      std::string text = "these wait for each other: " + name_[at];
      for (LinkId link = next_[at]; link != at; link = next_[link]) text += " -> " + name_[link];
      return text + " -> and so on";
    }
    return "";
  }

 private:
  static constexpr Cycle kLate = kNever - 2;  // whatever was under way has arrived

  void add_router(std::size_t place) {
    const auto [first, last] = mesh_.routers.inputs_of(place);
    for (std::size_t i = first; i < last; ++i) {
      const RouterInput& input = mesh_.routers.inputs()[i];
      if (!input.waiting) continue;
      name_[input.link] =
          fmt::format("color {} at router ({}, {}) from {}", static_cast<unsigned>(input.color),
                      place % columns_, place / columns_, port_name(input.from));
      for (unsigned port = 0; port < kPorts; ++port) {
        if (!input.wants(port)) continue;
        if (!mesh_.links.can_push(input.out[port], kLate)) next_[input.link] = input.out[port];
      }
    }
  }

  void add_core(std::size_t place) {
    const auto name = [&](const char* queue, Color color) {
      return fmt::format("the {} of color {} at core ({}, {})", queue, static_cast<unsigned>(color),
                         place % columns_, place / columns_);
    };
    for (const CorePort& in : cores_.ports(place).in) {
      next_[in.queue] = cores_.waits_for(place, in.queue);
      name_[in.queue] = name("queue", in.color);
    }
    for (const CorePort& out : cores_.ports(place).out) {
      if (mesh_.links.can_push(out.queue, kLate)) continue;
      next_[out.queue] = out.ramp;
      name_[out.queue] = name("output queue", out.color);
    }
  }

  const Mesh& mesh_;
  const TaskCores& cores_;
  std::uint32_t columns_;
  std::vector<LinkId> next_;
  std::vector<std::string> name_;
};

/// A rectangle of cores that run tasks. Its units are numbered row by row, router then core of each
/// column. It ends when no core has anything to do and no word is under way.
class TaskUnits final : public sc_core::sc_module, public TaskPlaces {
 public:
  TaskUnits(const sc_core::sc_module_name& name, const TaskParams& params,
            const TaskProgram& program, ClockDomain& clock, const RunOptions& options)
      : sc_module(name),
        mesh_(params.router, program, clock, options, log_),
        cores_(params, program, engine_of(options), mesh_.links, log_) {
    if (options.event_log) log_.enable(options.event_scope);
    mesh_.add(build_mesh(params, program, mesh_.links), cores_);
    mesh_.circle = [this, columns = program.columns] {
      return Waits(mesh_, cores_, columns).circle();
    };
    mesh_.start();
  }

  std::size_t size() const override { return cores_.size(); }
  Place<TaskCores> place(std::size_t number) override { return {mesh_.routers, cores_, number}; }
  bool done() const override { return mesh_.done(); }
  void check_empty() const override { mesh_.check_empty(); }

  /// Has buffer_histories() tell of the run that follows.
  void keep_histories() { mesh_.links.keep_digests(); }
  BufferHistories buffer_histories() const {
    BufferHistories all(cores_.size());
    for (std::size_t place = 0; place < cores_.size(); ++place) {
      const auto [first, last] = mesh_.routers.inputs_of(place);
      for (std::size_t i = first; i < last; ++i) {
        const RouterInput& input = mesh_.routers.inputs()[i];
        all[place].push_back({input.color, input.from, mesh_.links.digest(input.link)});
      }
    }
    return all;
  }

 private:
  Mesh mesh_;
  TaskCores cores_;
};

using TaskModules = ModuleWafer<TaskPlaces, TaskCores>;

/// The same as modules.
std::unique_ptr<TaskModules> make_task_modules(const TaskParams& params, const TaskProgram& program,
                                               ClockDomain& clock, const RunOptions& options) {
  const auto draw = [&](LinkArray& wires) {
    const auto make = [&](LinkArray& links, EventLog& log) {
      return std::make_unique<TaskCores>(params, program, engine_of(options), links, log);
    };
    return Blueprint<TaskCores>{params.router, program, build_mesh(params, program, wires), make};
  };
  return std::make_unique<TaskModules>("wafer", clock, options, draw);
}

/// What has been counted when all cycles before `at` are over, between two cycles of a run.
TaskOutcome counts_so_far(TaskPlaces& wafer, Cycle at) {
  TaskOutcome outcome;
  outcome.cycles = at;
  for (std::size_t i = 0; i < wafer.size(); ++i) {
    const Place<TaskCores> unit = wafer.place(i);
    unit.routers.account(unit.number, at);
    outcome.cores.push_back(unit.cores.count(unit.number, at));
    outcome.routers.push_back(unit.router());
  }
  return outcome;
}

TaskOutcome run(TaskPlaces& wafer, ClockDomain& clock, const TaskProgram& program,
                const RunOptions& options) {
  if (options.look_at_tasks) {
    clock.watch(options.first_look,
                [&](Cycle at) { return options.look_at_tasks(at, counts_so_far(wafer, at)); });
  }
  if (!wafer.done()) clock.run_until_done();
  TaskOutcome outcome;
  // In the last cycles the last instruction retires; what it did was over before.
  for (std::size_t i = 0; i < wafer.size(); ++i) {
    outcome.cycles = std::max(outcome.cycles, wafer.place(i).core().end);
  }
  wafer.end_units(outcome.cycles);
  wafer.check_empty();
  for (std::size_t i = 0; i < wafer.size(); ++i) {
    const Place<TaskCores> unit = wafer.place(i);
    outcome.cores.push_back(unit.core());
    outcome.routers.push_back(unit.router());
    if (!program.memory.empty()) outcome.memory.push_back(unit.cores.memory(unit.number));
    outcome.stamps.push_back(unit.cores.stamps(unit.number));
  }
  wafer.take_events(outcome);
  sort_events(outcome.events);
  return outcome;
}

}  // namespace

Cycle TaskOutcome::span() const {
  Cycle begin = kNever;
  Cycle end = 0;
  for (const TaskCounters& core : cores) {
    begin = std::min(begin, core.begin);
    end = std::max(end, core.end);
  }
  return end == 0 ? 0 : end - begin;
}

TaskOutcome simulate_rows(const TaskParams& params, const TaskProgram& program,
                          const RunOptions& options, BufferHistories* histories) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  clock.shuffle(options.shuffle);
  TaskUnits wafer("wafer", params, program, clock, options);
  if (histories != nullptr) wafer.keep_histories();
  TaskOutcome outcome = run(wafer, clock, program, options);
  if (histories != nullptr) *histories = wafer.buffer_histories();
  return outcome;
}

TaskOutcome simulate_task_modules(const TaskParams& params, const TaskProgram& program,
                                  const RunOptions& options) {
  try {
    const SimContext context;
    ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
    clock.shuffle(options.shuffle);
    const std::unique_ptr<TaskModules> wafer = make_task_modules(params, program, clock, options);
    return run(*wafer, clock, program, options);
  } catch (const DeadlockError&) {
    // Who waits for whom in a circle is told by the wafer that has all links in one place.
    RunOptions rows = options;
    rows.modules = false;
    rows.look_at_tasks = {};
    simulate_rows(params, program, rows);
    throw;
  }
}

std::vector<std::string> module_names(const TaskParams& params, const TaskProgram& program) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), Engine::event);
  return names_of_modules(*make_task_modules(params, program, clock, {}));
}

}  // namespace lacuna::wse
