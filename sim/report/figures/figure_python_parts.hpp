// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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

}  // namespace lacuna

/// What all scripts for Matplotlib are made of.
namespace lacuna::python {

/// A text as Python takes it.
std::string literal(const std::string& text);

/// Texts as a list of Python.
std::string list_of(const std::vector<std::string>& texts);

/// The variable of a colour, or the colour.
std::string colour_of(const std::string& colour);

/// The look as variables, and the data of the page as the frame `data`.
std::string head_of(const Page& page);

/// The title, and a file for each format.
std::string tail_of(const Page& page);

/// `figure` and `axes`, on a page that has room for the legend below them: as many columns as fit.
std::string axes_of(const Page& page);

/// The legend below the axes, over the whole width of the page, which the axes leave to it.
std::string legend_of();

/// Ticks of an axis where gnuplot has them, as plain numbers.
std::string ticks_of(const char* axis, const std::vector<double>& marks);

/// The begin of a dictionary of what a series looks like; of a line without markers; and all of a
/// table of series by name.
std::string look_of(const PythonSeries& series);
std::string line_of(const SeriesStyle& style);
std::string looks_of(const std::vector<PythonSeries>& series);

}  // namespace lacuna::python
