// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/summary.hpp"

namespace lacuna {

/// Which spans and moments of an event log show what a machine's parts do.
struct ActivityRules {
  std::string compute;              // spans in which a unit works
  std::vector<std::string> fabric;  // spans, or moments, of words under way
  std::vector<std::string> edge;    // moments of words through the edge
};

/// An interval of an operation.
struct PowerInterval {
  Cycle from = 0;
  Cycle to = 0;
  JouleRange watts;
  double sram_gbps = 0;
  double fabric_gbps = 0;
  double io_gbps = 0;
};

/// Power and bandwidth over time, of one execution: what the operation's counters cost altogether,
/// each component spread over time as its part of the machine was active in the event log, leakage
/// evenly. So the intervals add up to the energy of the operation. Empty without an event log.
std::vector<PowerInterval> power_over_time(const OpRecord& op, Cycle interval,
                                           const ActivityRules& rules);

/// Highest and mean power of an operation.
struct PowerPeak {
  double peak_w = 0;
  double mean_w = 0;
  Cycle at = 0;  // where the highest interval begins
};
PowerPeak power_peak(const std::vector<PowerInterval>& intervals);

/// The rows of one operation in power.csv, and their heading.
std::string power_csv_head();
std::string power_csv_rows(const OpRecord& op, const std::vector<PowerInterval>& intervals);

/// Power with its range, over time.
Figure power_figure(const RunRecord& run, const OpRecord& op,
                    const std::vector<PowerInterval>& intervals);

}  // namespace lacuna
