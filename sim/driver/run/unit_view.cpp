// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/unit_view.hpp"

#include <utility>

namespace lacuna {

std::string packed_view(const Machine& machine, const Pricing& pricing, const ViewFacts& facts,
                        const OpResult& result, UnitSeries& series) {
  pricing.price_units(machine, result, facts.cycles, series);
  coarsen(series, kMostViewNumbers);
  return pack(view_data(facts, series));
}

std::string packed_view(const Machine& machine, const Pricing& pricing, std::string title,
                        const OpResult& result) {
  ViewFacts facts;
  facts.title = std::move(title);
  facts.cycles = result.cycles;
  facts.clock_ghz = result.clock_ghz;
  facts.units = result.units;
  facts.exact = result.exact;
  return packed_view(machine, pricing, facts, result, *result.units_in_time);
}

}  // namespace lacuna
