// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

/// A place of an axis, and what stands there.
using AxisMarks = std::vector<std::pair<double, std::string>>;

/// An axis of a chart.
struct Axis {
  std::string label;
  bool log = false;
  double from = NAN;  // NAN: as the data have it
  double to = NAN;
  AxisMarks marks = {};  // none: as the one who draws likes
  bool names = false;    // the marks are names of rows, levels or cells, without ticks
  bool percent = false;
};

/// 0, 1 and so on, with their names. Of rows the first is at the top.
inline Axis named_rows(const std::vector<std::string>& names) {
  Axis axis;
  axis.names = true;
  axis.from = static_cast<double>(names.size()) - 0.4;
  axis.to = -0.6;
  for (const std::string& name : names) {
    axis.marks.emplace_back(static_cast<double>(axis.marks.size()), name);
  }
  return axis;
}

/// From half a cell before the first to half a cell behind the last; `down` from the top.
inline Axis cells_axis(std::string label, std::size_t cells, bool down) {
  Axis axis{std::move(label), false, -0.5, static_cast<double>(cells) - 0.5};
  if (down) std::swap(axis.from, axis.to);
  return axis;
}

/// How the rows of a layer are drawn.
enum class Mark : std::uint8_t {
  line,
  points,
  joined,   // points, joined by a line
  across,   // from `low` to `high`, level
  upright,  // likewise, along the vertical axis
  band,     // the area between `low` and `high`
  bars,     // upright boxes
  level,    // a line at `value`
  wall,     // likewise, upright
  slope     // a line of `value` times x
};

/// Rows of the data that are drawn alike, from columns by their names.
struct ChartLayer {
  Mark mark = Mark::line;
  std::vector<std::pair<std::string, std::string>> where = {};  // a column, and what it says
  std::string x = {};
  std::string y = {};
  SeriesStyle style = {};
  std::string label = {};  // in the legend; empty: not there
  std::string low = "low";
  std::string high = "high";
  double size = 0.45;   // of a marker
  double weight = 1.2;  // of a line
  double opacity = 1;   // of a band
  double shift = 1;     // factor on x where it is drawn
  double value = 0;
};

/// Layers over two axes, each drawn over the ones before it.
struct Chart {
  Page page;
  std::vector<std::string> columns;
  Axis x;
  Axis y;
  std::vector<ChartLayer> layers;
  double bar_width = 0;
  AxisMarks gaps = {};  // rows without a value, and why: at the left edge
};

/// Bars in time on tracks, from the top. Columns by their names.
struct SpanChart {
  Page page;
  std::vector<std::string> columns;
  std::string place;  // the number of the track
  std::string kind_of;
  std::string from;
  std::string to;
  std::string busy = {};  // share of a track that works: paler if less than 1; empty: all alike
  Axis x;
  Axis y;                                                  // the tracks
  std::vector<std::pair<std::string, std::string>> kinds;  // and their colours
};

/// A bar beside its data: where it stands, from the top, and what stands around it.
struct BarOfStack {
  std::string name;
  std::string note;
  double place = 0;
  bool is_gap = false;  // nothing to stack: an empty marker, and the note says why
};

/// Stacked bars: the columns `bar`, `note`, `time_us`, `dense_time_us` and those of the parts.
struct StackChart {
  Page page;
  std::vector<std::string> columns;
  std::string label;  // of the bars
  std::string note_label;
  bool has_times = false;  // they may be as long as their times
  double longest = 0;      // of their axis, and the distance of its marks
  double step = 0;
  std::vector<BarOfStack> bars;
  std::vector<std::pair<std::string, std::string>> parts;  // and their colours
};

/// Cells in rows and columns, shaded by a value.
struct CellChart {
  enum class Shades : std::uint8_t { load, gain };
  Page page;
  std::vector<std::string> columns;
  std::string column;  // counted from 0
  std::string row;
  std::string value;
  std::string text = {};  // in the cells; empty: none
  Axis x;
  Axis y;
  std::string label;             // of the shades
  double most = 100;             // of `load`: from 0 to this
  Shades shades = Shades::load;  // `gain`: of ratios, from an eighth to eight
  bool many = false;             // too many for a drawing of each
};
}  // namespace lacuna
