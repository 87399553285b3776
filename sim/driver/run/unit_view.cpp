// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/unit_view.hpp"

namespace lacuna {

std::string packed_view(const Machine& machine, const Pricing& pricing, const ViewFacts& facts,
                        const OpResult& result, UnitSeries& series) {
  pricing.price_units(machine, result, facts.cycles, series);
  coarsen(series, kMostViewNumbers);
  return pack(view_data(facts, series));
}

}  // namespace lacuna
