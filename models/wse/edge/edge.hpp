// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "models/wse/engine/mesh.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// Where a module outside the wafer sends wavelets into the northernmost router of a column: bind
/// `in` to a channel that the module pushes into. It passes one wavelet on in a cycle.
class EdgeInlet : public sc_core::sc_module, public Clocked {
 public:
  EdgeInlet(const sc_core::sc_module_name& name, LinkId link, LinkArray& links, Agendas& agendas)
      : sc_module(name), link_(link), links_(links), agendas_(agendas) {}

  sc_core::sc_port<PopIf<Wavelet>> in{"in"};

  Cycle step(Cycle now) override {
    agendas_.set_stepping(Agendas::kNone);
    if (!in->can_pop(now) || !links_.can_push(link_, now)) return kNever;  // both wake it
    links_.push(link_, now, in->pop(now));
    return now + 1;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  LinkId link_;
  LinkArray& links_;
  Agendas& agendas_;
};

/// Where wavelets leave the wafer for a module outside: bind `out` to a channel that the module
/// pops from. It passes one wavelet on in a cycle.
class EdgeOutlet : public sc_core::sc_module, public Clocked {
 public:
  EdgeOutlet(const sc_core::sc_module_name& name, LinkId link, LinkArray& links, Agendas& agendas,
             const Mesh& mesh)
      : sc_module(name), link_(link), links_(links), agendas_(agendas), mesh_(mesh) {}

  sc_core::sc_port<PushIf<Wavelet>> out{"out"};

  Cycle step(Cycle now) override {
    agendas_.set_stepping(Agendas::kNone);
    if (!links_.can_pop(link_, now) || !out->can_push(now)) return kNever;  // both wake it
    out->push(now, links_.pop(link_, now));
    mesh_.stop_if_done(now);
    return now + 1;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  LinkId link_;
  LinkArray& links_;
  Agendas& agendas_;
  const Mesh& mesh_;
};

}  // namespace lacuna::wse
