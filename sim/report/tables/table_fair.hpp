// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// Machines of unlike size beside each other: useful FLOP/s of the silicon that was simulated, per
/// watt with its range, and as a share of peak; one row for runs that differ in their seed alone,
/// with means and their 95 % intervals.
std::string fair_table(const std::vector<RunRecord>& records);

/// For each pattern that several machines ran: which of them uses less energy per useful FLOP, if
/// the ranges from all prices low to all prices high do not overlap; else that it cannot be said.
std::string energy_ranking(const std::vector<RunRecord>& records);

}  // namespace lacuna
