// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure_chart.hpp"

namespace lacuna {

/// The gnuplot script that draws a chart.
std::string script_of(const Chart& chart);
std::string script_of(const SpanChart& chart);
std::string script_of(const CellChart& chart);
std::string script_of(const StackChart& chart);

/// Rows by name over shares of a bandwidth, and the points of a way that bytes take: the columns
/// `way`, `place` and `percent_of_peak` of the data.
Chart share_chart(const std::string& name, const std::vector<std::string>& title,
                  const std::vector<std::string>& rows);
ChartLayer share_layer(const std::string& way, const SeriesStyle& style);

}  // namespace lacuna
