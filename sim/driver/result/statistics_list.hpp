// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/machines/machine.hpp"

namespace lacuna {

/// A statistic and the layer of the cycle stack it belongs to, if any.
struct ListedStatistic {
  StatEntry entry;
  std::string layer;
};

/// All statistics that a machine of this kind can have: those of a tiny product in each mode it
/// knows. The machine is changed to a small one.
std::vector<ListedStatistic> list_statistics(Machine& machine);

}  // namespace lacuna
