// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_chart.hpp"
#include "sim/report/figures/figure_runs.hpp"

namespace lacuna {

/// A point of a series, with the ends of its range; both equal y if it has none.
struct LinePoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

inline LinePoint exact_point(double x, double y) { return {x, y, y, y}; }

/// A line of a figure. A reference is drawn thin and grey, without markers.
struct LineSeries {
  std::string label;
  SeriesStyle style;
  bool reference = false;
  double shift = 1;    // factor on x where it is drawn, so that ranges do not hide each other
  bool joined = true;  // by lines
  bool named = true;   // in the legend
  std::vector<LinePoint> points = {};
};

/// A point of a series without a value: an empty marker at the foot of the figure.
struct LineGap {
  std::string series;
  SeriesStyle style;
  double x = 0;
  Status status = Status::failed;
  std::string reason;  // for the data, in full
};

/// A figure of lines over two logarithmic axes.
struct LineFigure {
  std::string name;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> title;
  bool x_at_values = true;  // marked where there are any, while these are few and far apart
  bool roofs = false;       // references are limits: their tops and ends are on the page
  bool ranges = false;      // draw bars from low to high
  bool bands = false;       // of joined series an area from low to high in their place
  std::vector<LineSeries> series;
  std::vector<LineGap> gaps = {};

  /// The series of this label; a new one of this style if there is none.
  LineSeries& labelled(const std::string& label, const SeriesStyle& style) {
    return find_or_add(series, [&](const LineSeries& each) { return each.label == label; },
                       {label, style});
  }

  /// Adds the place of a run without values.
  void add_gap(const FigureRun& run, const std::string& label, const SeriesStyle& style, double x) {
    gaps.push_back({label, style, x, run.total.status, run.total.reason});
  }

  /// Sorts the points of each series by x.
  void sort();

  /// Where there are points of series that are no references.
  std::set<double> places() const;
};

Figure draw_lines(const LineFigure& figure);

/// Marks of a logarithmic axis from `low` to `high`: 1, 2 and 5 of each decade. Beyond three
/// decades only 1, below one decade more, and more again below half of one. The first is at most
/// `low`, the last at least `high`. There are at least two even if these are equal: gnuplot draws
/// no empty axis.
std::vector<double> log_marks(double low, double high);

/// A logarithmic axis between the first and the last of its marks.
Axis log_axis(const std::string& label, const std::vector<double>& marks);

}  // namespace lacuna
