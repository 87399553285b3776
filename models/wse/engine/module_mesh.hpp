// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/places.hpp"
#include "models/wse/fabric/linked_module.hpp"
#include "models/wse/run_options.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// What the modules are made of; `make` gives cores, none yet.
template <class Cores>
struct Blueprint {
  const RouterParams& router;
  const Fabric& fabric;
  MeshPlan plan;
  std::function<std::unique_ptr<Cores>(LinkArray& links, EventLog& log)> make;
  bool north = false;  // see RouterArray::watch_north()
};

template <class Cores>
class CoreModule final : public LinkedModule {
 public:
  CoreModule(const sc_core::sc_module_name& name, ModuleRun& run, const Blueprint<Cores>& b,
             CorePorts ports, EventLog& log)
      : LinkedModule(name, run), cores_(b.make(links_, log)) {
    for (CorePort& in : ports.in) in.queue = reads(in.queue, named("in", in).c_str());
    for (CorePort& out : ports.out) {
      writes(out.queue, named("queue_in", out).c_str());  // a link to itself
      out.queue = reads(out.queue, named("queue_out", out).c_str());
      out.ramp = writes(out.ramp, named("ramp", out).c_str());
    }
    cores_->add(ports);
    run_.finished += cores_->finished();
  }

  Cycle step(Cycle now) override {
    const std::size_t before = cores_->finished();
    const Cycle next = cores_->step(0, now);
    run_.finished = run_.finished - before + cores_->finished();
    if (next != kNever) run_.clock->moved(next);  // what it waits for is its own
    return done(next, now);
  }
  std::string blocked() const override { return cores_->blocked(0); }

  Cores& array() { return *cores_; }

 private:
  static std::string named(const char* what, const CorePort& port) {
    return fmt::format("{}_{}", what, static_cast<unsigned>(port.color));
  }

  std::unique_ptr<Cores> cores_;
};

/// A core and its router: wafer.r3.c7.
template <class Cores>
class PlaceModule final : public sc_core::sc_module {
 public:
  PlaceModule(const sc_core::sc_module_name& name, ModuleRun& run, const Blueprint<Cores>& b,
              std::size_t place, EventLog& log)
      : sc_module(name),
        router("router", run, b.router, b.plan.ports[place].unit - 1, b.plan.inputs[place], b.north,
               log),
        core("core", run, b, b.plan.ports[place], log) {}

  RouterModule router;
  CoreModule<Cores> core;
};

/// The row `r7` of a wafer of modules: its places `c0`, `c1`, ..., each a router and a core.
template <class Cores>
class PlaceRow final : public sc_core::sc_module {
 public:
  PlaceRow(const sc_core::sc_module_name& name, ModuleRun& run, const Blueprint<Cores>& b,
           std::size_t row, EventLog& log)
      : sc_module(name) {
    for (std::size_t c = 0; c < b.fabric.columns; ++c) {
      places.push_back(std::make_unique<PlaceModule<Cores>>(fmt::format("c{}", c).c_str(), run, b,
                                                            row * b.fabric.columns + c, log));
    }
  }

  std::vector<std::unique_ptr<PlaceModule<Cores>>> places;
};

/// A wafer of modules: rows of places, the channels between them, one log. `Base` is Places, or
/// what a program asks of them beside.
template <class Base, class Cores>
class ModuleWafer : public sc_core::sc_module, public Base {
 public:
  /// `draw` makes the blueprint, with the links of a mesh.
  template <class Draw, class... Program>
  ModuleWafer(const sc_core::sc_module_name& name, ClockDomain& clock, const RunOptions& options,
              const Draw& draw, const Program&... program)
      : sc_module(name), Base(program...), blueprint_(draw(wires_)) {
    EventScope scope = options.event_scope;
    scope.kinds &= kPlainEvents;  // a module does not know how long its words were on their way
    if (options.event_log) this->log_.enable(scope);
    run_.clock = &clock;
    run_.cores = blueprint_.fabric.size();
    for (LinkId id = 0; id < wires_.size(); ++id) {
      channels_.push_back(std::make_unique<WordChannel>(run_, id, wires_.shape(id)));
      channels_.back()->jitter(options.jitter, options.jitter_seed);
    }
    for (std::size_t r = 0; r < blueprint_.fabric.rows; ++r) {
      rows_.push_back(std::make_unique<PlaceRow<Cores>>(fmt::format("r{}", r).c_str(), run_,
                                                        blueprint_, r, this->log_));
      for (const auto& place : rows_.back()->places) {
        add(place->router);
        add(place->core);
      }
    }
  }

  std::size_t size() const override { return run_.cores; }
  Place<Cores> place(std::size_t number) override {
    const std::size_t columns = rows_.front()->places.size();
    PlaceModule<Cores>& at = *rows_[number / columns]->places[number % columns];
    return {at.router.array(), at.core.array(), 0};
  }
  bool done() const override { return run_.done() && run_.words == 0; }
  void check_empty() const override {
    if (run_.words != 0) throw InternalError(fmt::format("{} words are left", run_.words));
  }

 protected:
  /// Steps the module in the clock's order, and joins it to the others.
  void add(LinkedModule& module) {
    module.bind(channels_);
    run_.clock->add(module, module.name());
  }

  Agendas nobody_;
  LinkArray wires_{nobody_};  // tells capacities and latencies; no word passes it
  const Blueprint<Cores> blueprint_;
  ModuleRun run_;

 private:
  std::vector<std::unique_ptr<WordChannel>> channels_;
  std::vector<std::unique_ptr<PlaceRow<Cores>>> rows_;
};

}  // namespace lacuna::wse
