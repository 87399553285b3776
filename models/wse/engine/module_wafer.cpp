// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/module_wafer.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <systemc>
#include <utility>

#include "models/wse/edge/injector.hpp"
#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/place_row.hpp"
#include "models/wse/fabric/linked_module.hpp"
#include "models/wse/pe/core_array.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

class CoreModule final : public LinkedModule {
 public:
  CoreModule(const sc_core::sc_module_name& name, ModuleRun& run, const HardwareParams& params,
             const Program& program, CorePorts ports, EventLog& log)
      : LinkedModule(name, run), core_(make_cores(params, program, links_, log)) {
    ports.weights = reads(ports.weights, "weights");
    ports.ring_in = reads(ports.ring_in, "ring_in");
    writes(ports.ring_out, "queue_in");  // its output queue is a link to itself
    ports.ring_out = reads(ports.ring_out, "queue_out");
    ports.ramp_up = writes(ports.ramp_up, "ramp");
    // The others, if the kernel has more than these.
    for (CorePort& port : ports.in) port.queue = reads(port.queue, named("in", port).c_str());
    for (CorePort& port : ports.out) {
      writes(port.queue, named("queue_in", port).c_str());
      port.queue = reads(port.queue, named("queue_out", port).c_str());
      port.ramp = writes(port.ramp, named("ramp", port).c_str());
    }
    core_->add(ports);
    run.finished += core_->finished();
  }

  Cycle step(Cycle now) override {
    const std::size_t before = core_->finished();
    const Cycle next = core_->step(0, now);
    run_.finished += core_->finished() - before;
    return done(next, now);
  }
  std::string blocked() const override { return core_->blocked(0); }

  CoreArray& array() { return *core_; }

 private:
  static std::string named(const char* what, const CorePort& port) {
    return fmt::format("{}_{}", what, static_cast<unsigned>(port.color));
  }

  std::unique_ptr<CoreArray> core_;
};

class InjectorModule final : public LinkedModule {
 public:
  InjectorModule(const sc_core::sc_module_name& name, ModuleRun& run, const RouterParams& router,
                 const Program& program, const MeshPlan& plan, EventLog& log)
      : LinkedModule(name, run) {
    const std::vector<LinkId>& links = plan.injectors;
    std::vector<LinkId> mine;
    for (std::size_t c = 0; c < links.size(); ++c) {
      mine.push_back(writes(links[c], fmt::format("c{}", c).c_str()));
    }
    bank_ = std::make_unique<InjectorBank>(router, program, std::move(mine),
                                           router_unit(program.columns, program.rows, 0), 0,
                                           agendas_, links_, log, *run.clock);
    run.to_enter = bank_->to_enter();
    if (!program.collects) return;
    std::vector<LinkId> exits;
    for (std::size_t k = 0; k < plan.outlets.size(); ++k) {
      exits.push_back(reads(plan.outlets[k], fmt::format("exit{}", k).c_str()));
    }
    bank_->collect(std::move(exits), nullptr);
  }

  Cycle step(Cycle now) override {
    const Cycle next = bank_->step(now);
    run_.to_enter = bank_->to_enter();
    return done(next, now);
  }
  std::string blocked() const override { return bank_->blocked(); }

  InjectorBank& bank() { return *bank_; }

 private:
  std::unique_ptr<InjectorBank> bank_;
};

/// What the modules are made of.
struct Blueprint {
  const HardwareParams& params;
  const Program& program;
  MeshPlan plan;
  ModuleRun& run;
  EventLog& log;
};

/// A core and its router: wafer.r3.c7.
class PlaceModule final : public sc_core::sc_module {
 public:
  PlaceModule(const sc_core::sc_module_name& name, const Blueprint& b, std::size_t place)
      : sc_module(name),
        router("router", b.run, b.params.router, b.plan.ports[place].unit - 1, b.plan.inputs[place],
               b.program.both_ways(), b.log),
        core("core", b.run, b.params, b.program, b.plan.ports[place], b.log) {}

  RouterModule router;
  CoreModule core;
};

class ModuleWafer final : public PlaceRows<PlaceModule>, public CountedWafer {
 public:
  ModuleWafer(const sc_core::sc_module_name& name, const HardwareParams& params,
              const Program& program, ClockDomain& clock, const RunOptions& options)
      : PlaceRows(name, std::size_t{program.rows} * program.columns, clock, options) {
    const Blueprint blueprint = make_rows(options, [&](LinkArray& wires) {
      return Blueprint{params, program, build_mesh(params, program, wires), run_, log_};
    });
    injectors_ = std::make_unique<InjectorModule>("injectors", run_, params.router, program,
                                                  blueprint.plan, log_);
    injectors_->bind(channels_);
    clock.add(*injectors_, injectors_->name());
  }

  bool done() const { return run_.done(); }

  RowCounts count_row(std::size_t row, std::uint64_t steps, Cycle at) override {
    RowCounts counts;
    for (const auto& place : rows_.at(row)->places) {
      const CoreCounters& core = count(*place, at);
      counts.core.add(core, 1);
      counts.router.add(place->router.array().counters(0), 1);
      const bool ended = core.reductions == steps && place->core.blocked().empty();
      counts.ends.push_back(ended ? core.end : kNever);
    }
    return counts;
  }

  std::vector<InjectorCounters> count_injectors(Cycle at) override {
    InjectorBank& bank = injectors_->bank();
    bank.account(at);
    std::vector<InjectorCounters> counts;
    for (std::size_t c = 0; c < rows_.front()->places.size(); ++c) {
      counts.push_back(bank.counters(c));
    }
    return counts;
  }

  std::vector<CoreCounters> row_cores(std::size_t row, Cycle at) override {
    std::vector<CoreCounters> cores;
    for (const auto& place : rows_.at(row)->places) cores.push_back(count(*place, at));
    return cores;
  }

  WaferOutcome counts_so_far(const Program& program, Cycle at) override {
    WaferOutcome outcome;
    outcome.cycles = at;
    for_each([&](PlaceModule& place) {
      outcome.cores.push_back(count(place, at));
      outcome.routers.push_back(place.router.array().counters(0));
    });
    add_edge(program, at, outcome);
    return outcome;
  }

  WaferOutcome outcome(Cycle end, const Program& program) {
    WaferOutcome outcome;
    outcome.cycles = end;
    check_no_words_left();
    for_each([&](PlaceModule& place) {
      place.router.array().account(0, end);
      CoreArray& core = place.core.array();
      core.settle(0, end);
      outcome.cores.push_back(core.counters(0));
      outcome.routers.push_back(place.router.array().counters(0));
      if (!program.kernel.activations.empty()) outcome.results.push_back(core.result(0));
    });
    add_edge(program, end, outcome);
    move_events(outcome);
    return outcome;
  }

 private:
  /// What a core has counted, after it and its router are brought up to `at`.
  static const CoreCounters& count(PlaceModule& place, Cycle at) {
    place.router.array().account(0, at);
    place.core.array().account(0, at);
    return place.core.array().counters(0);
  }

  /// What has passed the edge.
  void add_edge(const Program& program, Cycle at, WaferOutcome& outcome) {
    outcome.injectors = count_injectors(at);
    for (std::size_t k = 0; program.collects && k < program.outlets.size(); ++k) {
      outcome.collected.push_back(injectors_->bank().collected(k));
    }
  }

  std::unique_ptr<InjectorModule> injectors_;
};

}  // namespace

WaferOutcome simulate_modules(const HardwareParams& params, const Program& program,
                              const RunOptions& options) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  clock.shuffle(options.shuffle);
  ModuleWafer wafer("wafer", params, program, clock, options);
  if (options.look) {
    clock.watch(options.first_look, [&](Cycle at) { return options.look(at, wafer); });
  }
  const Cycle end = wafer.done() ? 0 : clock.run_until_done();
  return wafer.outcome(end, program);
}

std::vector<std::string> module_names(const HardwareParams& params, const Program& program) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), Engine::event);
  const ModuleWafer wafer("wafer", params, program, clock, {});
  return names_of_modules(wafer);
}

}  // namespace lacuna::wse
