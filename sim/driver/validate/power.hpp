// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// A published power and ours, in watts at the same boundary.
struct PowerRow {
  std::string id;
  std::string system;
  std::string boundary;  // chip, card, machine or system
  std::string workload;
  std::string kind;  // measured, typical, TDP, maximum or statement
  std::string role;  // what the row was to the prices: predicted, anchor, limit, unused
  double published = 0;
  double chips_idle = 0;  // of the chips alone when they do nothing: standing power
  JouleRange chips;       // of the chips alone, W
  JouleRange watts;       // at the boundary
};

/// Predicts the published powers among `points`, those with the metric `power`, and fills in the
/// outcomes of measured and typical ones; others bound a power or state one and are no errors.
/// `energy_table` has prices in place of those shipped.
std::vector<PowerRow> simulate_power(const ValidationPoints& points, const MachineTable& table,
                                     const ValidationRunSettings& run,
                                     const std::optional<std::string>& energy_table,
                                     Outcomes& outcomes);

/// The rows as a table for a terminal, and the text of power.csv.
std::string power_table(const std::vector<PowerRow>& rows);
std::string power_csv(const std::vector<PowerRow>& rows);

}  // namespace lacuna
