// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <systemc>
#include <vector>

#include "models/wse/fabric/linked_module.hpp"
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

/// All rows of a wafer, their modules bound to the channels and in the clock's order. To be called
/// while the module that holds the rows is made.
template <class Place, class Blueprint>
std::vector<std::unique_ptr<PlaceRow<Place>>> make_rows(
    const Blueprint& blueprint, const std::vector<std::unique_ptr<WordChannel>>& channels,
    ClockDomain& clock) {
  std::vector<std::unique_ptr<PlaceRow<Place>>> rows;
  for (std::size_t r = 0; r < blueprint.program.rows; ++r) {
    rows.push_back(std::make_unique<PlaceRow<Place>>(fmt::format("r{}", r).c_str(), blueprint, r));
    for (const auto& place : rows.back()->places) {
      for (LinkedModule* module :
           {static_cast<LinkedModule*>(&place->router), static_cast<LinkedModule*>(&place->core)}) {
        module->bind(channels);
        clock.add(*module, module->name());
      }
    }
  }
  return rows;
}

}  // namespace lacuna::wse
