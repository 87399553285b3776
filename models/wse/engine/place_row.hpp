// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <systemc>
#include <vector>

#include "models/wse/fabric/linked_module.hpp"
#include "models/wse/wafer.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// The row `r7` of a wafer of modules: its places `c0`, `c1`, ..., each a router and a core.
template <class Place>
class PlaceRow final : public sc_core::sc_module {
 public:
  template <class Blueprint>
  PlaceRow(const sc_core::sc_module_name& name, const Blueprint& b, std::size_t row)
      : sc_module(name) {
    for (std::size_t c = 0; c < b.program.columns; ++c) {
      places.push_back(
          std::make_unique<Place>(fmt::format("c{}", c).c_str(), b, row * b.program.columns + c));
    }
  }

  std::vector<std::unique_ptr<Place>> places;
};

/// A channel for each link, with its capacity, its latency and the delays of `options`.
inline std::vector<std::unique_ptr<WordChannel>> make_channels(ModuleRun& run,
                                                               const LinkArray& wires,
                                                               const RunOptions& options) {
  std::vector<std::unique_ptr<WordChannel>> channels;
  for (LinkId id = 0; id < wires.size(); ++id) {
    channels.push_back(std::make_unique<WordChannel>(run, id, wires.shape(id)));
    channels.back()->jitter(options.jitter, options.jitter_seed);
  }
  return channels;
}

/// A wafer of modules: rows of places, the channels between them, one log.
template <class Place>
class PlaceRows : public sc_core::sc_module {
 protected:
  PlaceRows(const sc_core::sc_module_name& name, std::size_t cores, ClockDomain& clock,
            const RunOptions& options)
      : sc_module(name) {
    EventScope scope = options.event_scope;
    scope.kinds &= kPlainEvents;  // a module does not know how long its words were on their way
    if (options.event_log) log_.enable(scope);
    run_.clock = &clock;
    run_.cores = cores;
  }

  /// Makes the rows, in the clock's order, of the blueprint that `draw` makes with the links of a
  /// mesh, and returns that. To be called while the module whose base this is is made.
  template <class Draw>
  auto make_rows(const RunOptions& options, const Draw& draw) {
    Agendas none;
    LinkArray wires(none);  // tells capacities and latencies; no word passes it
    auto blueprint = draw(wires);
    channels_ = make_channels(run_, wires, options);
    for (std::size_t r = 0; r < blueprint.program.rows; ++r) {
      rows_.push_back(
          std::make_unique<PlaceRow<Place>>(fmt::format("r{}", r).c_str(), blueprint, r));
    }
    for_each([&](Place& place) {
      for (LinkedModule* module :
           {static_cast<LinkedModule*>(&place.router), static_cast<LinkedModule*>(&place.core)}) {
        module->bind(channels_);
        run_.clock->add(*module, module->name());
      }
    });
    return blueprint;
  }

  template <class Visit>
  void for_each(const Visit& visit) {
    for (const auto& row : rows_) {
      for (const auto& place : row->places) visit(*place);
    }
  }

  void check_no_words_left() const {
    if (run_.words != 0) throw InternalError(fmt::format("{} words are left", run_.words));
  }

  template <class Outcome>
  void move_events(Outcome& outcome) {
    outcome.events = log_.sorted();
    outcome.events_left_out = log_.overflowed();
    sort_events(outcome.events);
  }

  EventLog log_;
  ModuleRun run_;
  std::vector<std::unique_ptr<WordChannel>> channels_;
  std::vector<std::unique_ptr<PlaceRow<Place>>> rows_;
};

}  // namespace lacuna::wse
