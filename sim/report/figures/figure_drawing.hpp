// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_chart.hpp"

namespace lacuna {

/// The figure of a chart: its data are the columns' names and `rows`, as CSV.
Figure draw_chart(Chart chart, const std::string& rows);

Figure draw_spans(SpanChart chart, const std::string& rows);
Figure draw_cells(const CellChart& chart, const std::string& rows);

/// Rows by name over shares of a bandwidth, and the points of a way that bytes take: the columns
/// `way`, `place` and `percent_of_peak` of the data.
Chart share_chart(const std::string& name, const std::vector<std::string>& title,
                  const std::vector<std::string>& rows);
ChartLayer share_layer(const std::string& way, const SeriesStyle& style);

}  // namespace lacuna
