// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/system/collectives.hpp"
#include "models/system/program.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/chip_cost.hpp"

namespace lacuna::system {

/// Of cycles of a clock, rounded up.
inline std::uint64_t ns_of(Cycle cycles, double clock_ghz) {
  const auto mhz = static_cast<std::uint64_t>(std::llround(clock_ghz * 1000));
  return ceil_div(cycles * 1000, mhz);
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

/// Bytes that are there while a place of a replica works, and no longer.
inline void hold_while(std::vector<Holding>& to, std::size_t place, std::uint64_t bytes) {
  take(to, static_cast<std::uint32_t>(place), Held::working, bytes);
  give(to, static_cast<std::uint32_t>(place), Held::working, bytes);
}

/// From one chip to its like.
inline void hand_over(Segment& to, std::uint32_t from, std::uint32_t into, std::uint64_t bytes,
                      Receives& receives) {
  receives.emplace_back(into, to.send({from, into, bytes, Way::links}));
}

/// To or from each of `chips`, waited for.
inline void move_all(Segment& to, const Chips& chips, Way way, std::uint64_t bytes, Use use,
                     std::size_t lane = kMain) {
  for (const std::uint32_t chip : chips) {
    if (bytes != 0) to.transfer_and_wait({chip, chip, bytes, way}, use, lane);
  }
}

}  // namespace lacuna::system
