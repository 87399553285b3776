// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/figures/figure_python_parts.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

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

/// Points in rows with names, such as operations: the data have the series first, then the name and
/// the place of the row and the value, and where there are ranges `low` and `high`.
struct PythonDots {
  std::string x_label;
  std::vector<std::string> rows;       // from the top
  std::vector<double> marks = {};      // of a logarithmic axis; none: shares from 0 to 100 %
  std::vector<std::string> gaps = {};  // what stands in a row in place of a value; or empty
};

/// A curve over one of the columns of the data, both counted from 0.
struct PythonCurve {
  std::size_t x = 0;
  std::size_t y = 0;
  PythonSeries series;
  bool marked = true;  // at its points
};

/// Curves over plain axes, each from its own two columns.
struct PythonCurves {
  std::string x_label;
  std::string y_label;
  std::optional<double> bottom = {};  // of the page; otherwise as what is shown
  std::optional<double> top = {};
  bool log_x = false;  // with a line at 1
  std::vector<PythonCurve> curves = {};
  std::string between = {};  // what a band between the columns `low` and `high` is; or empty
};

/// How a quantity stands over levels that have names.
enum class PythonMark : std::uint8_t { bars, points, line };

/// Rows of the data of one kind, and of one name unless it is empty; the value is the last column.
struct PythonLevel {
  PythonMark mark = PythonMark::bars;
  std::string kind;
  std::string name;
  PythonSeries series;
};

/// Levels side by side, at the places 1, 2 and so on, over a logarithmic axis.
struct PythonLevels {
  std::string y_label;
  double low = 1;
  double high = 10;
  double width = 0.6;  // of a bar
  std::vector<std::string> names;
  std::vector<PythonLevel> levels;
};

/// Cells with their numbers, of the columns `row`, `column`, `text` and `dark` of the data.
struct PythonCells {
  std::string value;  // the column that is shaded, from 0 to 100
  std::string name;   // of the shades
  std::vector<std::string> columns;
  std::vector<std::string> rows;
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
std::string python_of_dots(const Page& page, const PythonDots& dots,
                           const std::vector<PythonSeries>& series);
std::string python_of_curves(const Page& page, const PythonCurves& all);
std::string python_of_levels(const Page& page, const PythonLevels& all);
std::string python_of_cells(const Page& page, const PythonCells& cells);
/// Simulated over published values of `unit`, with lines at equality and at `band` times it.
std::string python_of_agreement(const Page& page, const std::string& unit,
                                const std::vector<double>& marks, double band,
                                const std::vector<PythonSeries>& series);

}  // namespace lacuna
