// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// What no wafer with the same cores, or the same edge, could do without: bounds of its time. Of
/// stages that follow each other, each has its own busiest core.
struct LimitStats : StatGroup {
  using StatGroup::StatGroup;
  Counter busiest{this, "busiest_core", "cycles", "Issue slots of the core that used most."};
  Counter multiplies{this, "busiest_core_multiplies", "cycles",
                     "The most that any core used without those of sums along the ring or of words "
                     "of the fabric."};
  Counter mean{this, "mean_core", "cycles", "Issue slots that a core used on average."};
  Counter edge{this, "edge", "cycles", "What the edge takes for the words that pass it."};
};

}  // namespace lacuna::wse
