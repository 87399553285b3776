// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/wse/task_outcome.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna {

/// How long cores took, from the first to the last issue slot of each, and what their products
/// are for.
struct KernelStats : StatGroup {
  KernelStats() : StatGroup("wafer.kernel") {}
  Counter longest{this, "core_cycles_longest", "cycles",
                  "From the first to the last issue slot of the core that took longest."};
  Counter shortest{this, "core_cycles_shortest", "cycles", "The same of the shortest."};
  Counter mean{this, "core_cycles_mean", "cycles", "The same on average, rounded."};
  Counter each{this, "cycles_each", "cycles",
               "Cycles of the run for each of its products (kernel.gemv_repeats), rounded."};
  Counter mac_zero{this, "mac_zero", "MAC", "Products with a zero that the format stores."};

  void add(const wse::TaskOutcome& run) {
    std::uint64_t total = 0;
    Cycle most = 0;
    Cycle least = kNever;
    for (const wse::TaskCounters& core : run.cores) {
      const Cycle span = core.end > core.begin ? core.end - core.begin : 0;
      total += span;
      most = std::max(most, span);
      least = std::min(least, span);
    }
    longest += most;
    shortest += least;
    mean += (total + run.cores.size() / 2) / run.cores.size();
  }
};

}  // namespace lacuna
