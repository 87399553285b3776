// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

/// A series of a figure of lines, for Python: its name in the first column of the data.
struct PythonSeries {
  std::string label;
  SeriesStyle style;
  bool joined = true;
  bool reference = false;
  bool named = true;  // in the legend
};

/// The ticks of two axes; those of the vertical one end it.
struct PythonTicks {
  std::vector<double> x;
  std::vector<double> y;
};

/// The same figures as scripts for Matplotlib: the look as variables, then what reads the data that
/// gnuplot reads.
std::string python_of_lines(const Page& page, const std::string& x_label,
                            const std::string& y_label, const PythonTicks& ticks,
                            const std::vector<PythonSeries>& series);
std::string python_of_bars(const Page& page, const std::string& x_label, std::size_t first_part,
                           const std::vector<std::pair<std::string, std::string>>& parts);
std::string python_of_map(const Page& page);

}  // namespace lacuna
