// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/sweep_study.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// Runs of one workload on one kind of machine whose silicon differs, and those that no other beats
/// in both time and area, by rising area.
struct AreaGroup {
  std::string label;
  std::vector<const SummaryRow*> rows;
  std::vector<const SummaryRow*> front;
};

/// The groups of `totals` (rows TOTAL) that have two areas or more; what failed is in none.
std::vector<AreaGroup> area_groups(const std::vector<const SummaryRow*>& totals);

/// The fronts as CSV; empty if silicon does not differ.
std::string area_front_csv(const Runs& records, const SweepAxes& axes);

}  // namespace lacuna
