// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/router.hpp"
#include "models/wse/fabric/word_channel.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

using PopPort = sc_core::sc_port<WordPopIf>;
using PushPort = sc_core::sc_port<WordPushIf>;

/// A module with ports, which the links of its unit stand for: what the unit does with a link goes
/// through the port.
class LinkedModule : public sc_core::sc_module, public Clocked {
 public:
  LinkedModule(const sc_core::sc_module_name& name, ModuleRun& run) : sc_module(name), run_(run) {}

  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // the unit accounts for itself

  /// Binds the ports to the channels of their links.
  void bind(const std::vector<std::unique_ptr<WordChannel>>& channels) {
    for (auto& [link, port] : in_) port->bind(*channels[link]);
    for (auto& [link, port] : out_) port->bind(*channels[link]);
  }

  /// Once everything is bound, the ends of the links are known.
  void end_of_elaboration() override {
    for (const auto& [link, local] : local_) {
      const auto in = in_.find(link);
      const auto out = out_.find(link);
      links_.attach(local, out == out_.end() ? nullptr : (*out->second)[0],
                    in == in_.end() ? nullptr : (*in->second)[0]);
    }
  }

 protected:
  /// The unit's own number of a link of the mesh, with a port to read from it or write to it.
  LinkId reads(LinkId link, const char* name) {
    if (link == kNoLink) return kNoLink;
    if (in_.count(link) == 0) in_.emplace(link, std::make_unique<PopPort>(name));
    return local(link);
  }
  LinkId writes(LinkId link, const char* name) {
    if (link == kNoLink) return kNoLink;
    if (out_.count(link) == 0) out_.emplace(link, std::make_unique<PushPort>(name));
    return local(link);
  }

  Cycle done(Cycle next, Cycle now) {
    if (next == now + 1) run_.clock->moved(now);
    run_.stop_if_done(now);
    return next;
  }

  ModuleRun& run_;
  Agendas agendas_;
  LinkArray links_{agendas_};

 private:
  LinkId local(LinkId link) {
    const auto [found, is_new] = local_.emplace(link, static_cast<LinkId>(local_.size()));
    return found->second;
  }

  std::map<LinkId, LinkId> local_;
  std::map<LinkId, std::unique_ptr<PopPort>> in_;
  std::map<LinkId, std::unique_ptr<PushPort>> out_;
};

class RouterModule final : public LinkedModule {
 public:
  RouterModule(const sc_core::sc_module_name& name, ModuleRun& run, const RouterParams& params,
               UnitId unit, std::vector<RouterInput> inputs, bool north, EventLog& log)
      : LinkedModule(name, run), router_(params, links_, log) {
    if (north) router_.watch_north();
    for (RouterInput& input : inputs) {
      const auto color = static_cast<unsigned>(input.color);
      input.link = reads(input.link, fmt::format("in_{}_{}", port_name(input.from), color).c_str());
      for (unsigned port = 0; port < kPorts; ++port) {
        input.out[port] =
            writes(input.out[port], fmt::format("out_{}_{}", port_name(port), color).c_str());
      }
    }
    router_.add(unit, inputs);
  }

  Cycle step(Cycle now) override { return done(router_.step(0, now), now); }
  std::string blocked() const override { return router_.blocked(0, name()); }

  RouterArray& array() { return router_; }

 private:
  RouterArray router_;
};

/// The names of all modules within `top` and its own, in the order of their construction.
inline std::vector<std::string> names_of_modules(const sc_core::sc_object& top) {
  std::vector<std::string> names;
  if (dynamic_cast<const sc_core::sc_module*>(&top) != nullptr) names.emplace_back(top.name());
  for (const sc_core::sc_object* child : top.get_child_objects()) {
    for (std::string& name : names_of_modules(*child)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace lacuna::wse
