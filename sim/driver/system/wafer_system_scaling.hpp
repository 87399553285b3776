// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/system/wafer_system_report.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// A run on one of several systems of wafers that are compared.
struct WaferScalingRow {
  std::string machine;
  WaferSystemRun run;
};

/// How systems compare whose wafers have the same share each, so that twice the wafers have twice
/// the batch: step time, what is left of the first one's throughput for each wafer, and energy for
/// each wafer's share.
NamedTable wafer_scaling_table(const std::vector<WaferScalingRow>& rows);

/// The same as text.
std::string wafer_scaling_text(const std::vector<WaferScalingRow>& rows);

/// Shares in a second over the number of wafers, beside as many more as wafers.
Figure wafer_scaling_figure(const std::vector<WaferScalingRow>& rows);

}  // namespace lacuna
