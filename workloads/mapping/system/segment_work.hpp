// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/system/collectives.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/chip_cost.hpp"

namespace lacuna::system {

/// Of cycles of a clock, rounded up.
inline std::uint64_t ns_of(Cycle cycles, double clock_ghz) {
  const auto mhz = static_cast<std::uint64_t>(std::llround(clock_ghz * 1000));
  return (cycles * 1000 + mhz - 1) / mhz;
}

/// The same operations on each of `chips`: their time, with the exchange of tiles apart, their
/// joules, and their FLOP where these are useful.
inline void add_work(Segment& to, const Chips& chips, Use use, const ChipCost& cost,
                     double clock_ghz) {
  const std::uint64_t all = ns_of(cost.cycles, clock_ghz);
  const std::uint64_t exchange = std::min(all, ns_of(cost.exchange_cycles, clock_ghz));
  for (const std::uint32_t chip : chips) {
    to.work(chip, use, all - exchange);
    to.work(chip, Use::exchange, exchange);
  }
  to.joules.add(cost.joules, static_cast<double>(chips.size()));
  if (use != Use::recompute) to.flop += cost.flop * chips.size();
}

}  // namespace lacuna::system
