// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The power of `interval`, which cost `joules`, and its bandwidths, of an operation whose clock
/// and peaks are those of `result`.
PowerInterval power_of(const Interval& interval, const JouleRange& joules, const OpResult& result);

/// Highest and mean power of an operation.
struct PowerPeak {
  double peak_w = 0;
  double mean_w = 0;
  Cycle at = 0;  // where the highest interval begins
};
PowerPeak power_peak(const std::vector<PowerInterval>& intervals);

/// Watts and bandwidths of each interval, power.csv; empty if no operation has any.
std::string power_csv(const Runs& records);

/// What was counted in each interval: run,op_id,from_cycle,to_cycle,path,name,unit,value. Parts of
/// the cycle stack have the path "cycle_stack" and the layer before their name.
std::string intervals_csv(const Runs& records);

/// Power with its range, over time.
Figure power_figure(const RunRecord& run, const OpRecord& op);

/// Achieved bandwidth as a share of its peak, over time, of memories, fabric and edge.
Figure bandwidth_time_figure(const RunRecord& run, const OpRecord& op);

}  // namespace lacuna
