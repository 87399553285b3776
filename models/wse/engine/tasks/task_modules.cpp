// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/task_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "models/wse/engine/place_row.hpp"
#include "models/wse/engine/tasks/task_mesh.hpp"
#include "models/wse/fabric/linked_module.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

/// What the modules are made of.
struct Blueprint {
  const TaskParams& params;
  const TaskProgram& program;
  Engine engine = Engine::event;  // of the cores
  TaskMeshPlan plan;
  ModuleRun& run;
  EventLog& log;
};

class TaskCoreModule final : public LinkedModule {
 public:
  TaskCoreModule(const sc_core::sc_module_name& name, const Blueprint& b, TaskPorts ports)
      : LinkedModule(name, b.run), cores_(b.params, b.program, b.engine, links_, b.log) {
    for (TaskPorts::In& in : ports.in) in.queue = reads(in.queue, named("in", in.color).c_str());
    for (TaskPorts::Out& out : ports.out) {
      writes(out.queue, named("queue_in", out.color).c_str());  // a link to itself
      out.queue = reads(out.queue, named("queue_out", out.color).c_str());
      out.ramp = writes(out.ramp, named("ramp", out.color).c_str());
    }
    cores_.add(ports);
    run_.finished += cores_.idle();
  }

  Cycle step(Cycle now) override {
    const std::size_t before = cores_.idle();
    const Cycle next = cores_.step(0, now);
    run_.finished = run_.finished - before + cores_.idle();
    if (next != kNever) run_.clock->moved(next);  // what it waits for is its own
    return done(next, now);
  }
  std::string blocked() const override { return cores_.blocked(0); }

  TaskCores& cores() { return cores_; }

 private:
  static std::string named(const char* what, Color color) {
    return fmt::format("{}_{}", what, static_cast<unsigned>(color));
  }

  TaskCores cores_;
};

/// A core and its router: wafer.r3.c7.
class PlaceModule final : public sc_core::sc_module {
 public:
  PlaceModule(const sc_core::sc_module_name& name, const Blueprint& b, std::size_t place)
      : sc_module(name),
        router("router", b.run, b.params.router, b.plan.ports[place].unit - 1, b.plan.inputs[place],
               false, b.log),
        core("core", b, b.plan.ports[place]) {}

  RouterModule router;
  TaskCoreModule core;
};

class TaskModules final : public PlaceRows<PlaceModule> {
 public:
  TaskModules(const sc_core::sc_module_name& name, const TaskParams& params,
              const TaskProgram& program, ClockDomain& clock, const RunOptions& options)
      : PlaceRows(name, std::size_t{program.rows} * program.columns, clock, options) {
    // one beat at a time for those who look in between
    const Engine engine = options.look_at_tasks ? Engine::clocked : options.engine;
    make_rows(options, [&](LinkArray& wires) {
      return Blueprint{params, program, engine, build_task_mesh(params, program, wires),
                       run_,   log_};
    });
  }

  bool done() const { return run_.finished == run_.cores && run_.words == 0; }

  TaskOutcome counts_so_far(Cycle at) {
    TaskOutcome outcome;
    outcome.cycles = at;
    for_each([&](PlaceModule& place) {
      place.router.array().account(0, at);
      outcome.cores.push_back(place.core.cores().count(0, at));
      outcome.routers.push_back(place.router.array().counters(0));
    });
    return outcome;
  }

  TaskOutcome outcome(bool with_memory) {
    TaskOutcome outcome;
    check_no_words_left();
    // In the last cycles the last instruction retires; what it did was over before.
    for_each([&](PlaceModule& place) {
      outcome.cycles = std::max(outcome.cycles, place.core.cores().counters(0).end);
    });
    for_each([&](PlaceModule& place) {
      place.router.array().account(0, outcome.cycles);
      place.core.cores().settle(0, outcome.cycles);
      outcome.cores.push_back(place.core.cores().counters(0));
      outcome.routers.push_back(place.router.array().counters(0));
      if (with_memory) outcome.memory.push_back(place.core.cores().memory(0));
      outcome.stamps.push_back(place.core.cores().stamps(0));
    });
    move_events(outcome);
    return outcome;
  }
};

TaskOutcome run_modules(const TaskParams& params, const TaskProgram& program,
                        const RunOptions& options) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  clock.shuffle(options.shuffle);
  TaskModules wafer("wafer", params, program, clock, options);
  if (options.look_at_tasks) {
    clock.watch(options.first_look,
                [&](Cycle at) { return options.look_at_tasks(at, wafer.counts_so_far(at)); });
  }
  if (!wafer.done()) clock.run_until_done();
  return wafer.outcome(!program.memory.empty());
}

}  // namespace

TaskOutcome simulate_task_modules(const TaskParams& params, const TaskProgram& program,
                                  const RunOptions& options) {
  try {
    return run_modules(params, program, options);
  } catch (const DeadlockError&) {
    // Who waits for whom in a circle is told by the wafer that has all links in one place.
    RunOptions rows = options;
    rows.modules = false;
    rows.look_at_tasks = {};
    simulate_rows(params, program, rows);
    throw;
  }
}

std::vector<std::string> task_module_names(const TaskParams& params, const TaskProgram& program) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), Engine::event);
  const TaskModules wafer("wafer", params, program, clock, {});
  return names_of_modules(wafer);
}

}  // namespace lacuna::wse
