// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/base/ranges.hpp"

namespace lacuna {

/// The Pareto front: those of `all` that no other is as good as in all costs, and better in one, in
/// their order. `costs` gives a vector or an array of what should be small.
template <class Each, class Costs>
std::vector<Each> front_of(const std::vector<Each>& all, const Costs& costs) {
  std::vector<Each> front;
  for (const Each& each : all) {
    const auto own = costs(each);
    const bool beaten = any_of(all, [&](const Each& other) {
      const auto others = costs(other);
      return others != own &&
             std::equal(others.begin(), others.end(), own.begin(), std::less_equal<>());
    });
    if (!beaten) front.push_back(each);
  }
  return front;
}

}  // namespace lacuna
