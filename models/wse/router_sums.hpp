// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/counters.hpp"
#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// Adds the words that routers have passed on, by direction and all of them.
template <class Stats>
void add_sent(const RouterCounters& router, Stats& stats) {
  stats.north += router.sent[kNorth];
  stats.east += router.sent[kEast];
  stats.south += router.sent[kSouth];
  stats.west += router.sent[kWest];
  stats.hops += router.sent[kNorth] + router.sent[kEast] + router.sent[kSouth] + router.sent[kWest];
}

}  // namespace lacuna::wse
