// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
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

/// Bars in time: the columns of the data, the tracks from the top, and the kinds with their
/// colours.
struct PythonSpans {
  std::string place;  // the number of the track
  std::string kind;
  std::string from;
  std::string to;
  std::string busy;  // paler if less than 1; empty: all alike
  std::string x_label;
  std::vector<std::string> tracks;
  std::vector<std::pair<std::string, std::string>> kinds;
};

/// The same figures as scripts for Matplotlib: the look as variables, then what reads the data that
/// gnuplot reads.
std::string python_of_lines(const Page& page, const std::string& x_label,
                            const std::string& y_label, const PythonTicks& ticks,
                            const std::vector<PythonSeries>& series);
/// Bars with their notes beside them, below `note_label`.
std::string python_of_bars(const Page& page, const std::string& x_label,
                           const std::string& note_label, std::size_t first_part,
                           const std::vector<std::pair<std::string, std::string>>& parts);
std::string python_of_map(const Page& page);
/// Maps lower than this, over their width, have the name of their shades below them.
inline constexpr double kLowMap = 0.6;

/// Shades from nothing to `most` of the third column of the data, whose name is `quantity`.
std::string python_of_load(const Page& page, const std::string& quantity, double most);
std::string python_of_spans(const Page& page, const PythonSpans& spans);

}  // namespace lacuna
