// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

std::set<double>::const_iterator closest(const std::set<double>& values, double to) {
  return std::min_element(values.begin(), values.end(),
                          [to](double a, double b) { return std::abs(a - to) < std::abs(b - to); });
}

/// The values on the axis themselves, while they are few and far apart; whole numbers in full.
std::vector<double> x_marks(const LineFigure& figure) {
  std::set<double> values = figure.places();
  for (const LineGap& gap : figure.gaps) values.insert(gap.x);
  std::vector<double> numbers;
  bool crowded = false;
  for (const std::string& mark : round_texts(values)) {
    const double rounded = std::stod(mark);
    const double value = *closest(values, rounded);
    numbers.push_back(value == std::floor(value) ? value : rounded);  // 2048 is no 2050
    if (numbers.size() > 1) crowded |= numbers.back() / numbers[numbers.size() - 2] < 1.25;
  }
  return crowded || numbers.size() > 9 ? log_marks(numbers.front(), numbers.back()) : numbers;
}

/// Beside the data: the texts of `marks`, and the name of the axis.
double room_beside(const std::vector<double>& marks) {
  constexpr double kNameIn = 0.24;
  double room = Page().left;
  for (const double mark : marks) {
    room = std::max(room, text_width(fmt::format("{:.5g}", mark)) + kNameIn);
  }
  return room;
}

AxisMarks texts_of(const std::vector<double>& marks) {
  AxisMarks texts;
  for (const double mark : marks) texts.emplace_back(mark, fmt::format("{:.5g}", mark));
  return texts;
}

/// Axes around the points of all series and gaps.
void set_axes(const LineFigure& figure, Chart& chart) {
  double low = HUGE_VAL;
  double high = 0;
  double left = HUGE_VAL;
  double right = 0;
  for (const LineSeries& series : figure.series) {
    for (const LinePoint& point : series.points) {
      left = std::min(left, point.x);
      right = std::max(right, point.x);
      // a reference may leave the page, it is only there to be compared with
      if (series.reference && !figure.roofs) continue;
      if (!series.reference) low = std::min(low, point.low);
      high = std::max(high, point.high);
    }
  }
  for (const LineGap& gap : figure.gaps) {
    left = std::min(left, gap.x);
    right = std::max(right, gap.x);
  }
  const std::vector<double> marks = log_marks(low, high);
  chart.x = {figure.x_label, true, left / 1.15, right * 1.15};
  chart.x.marks = texts_of(figure.x_at_values ? x_marks(figure) : log_marks(left, right));
  chart.y = log_axis(figure.y_label, marks);
  chart.page.left = room_beside(marks);
}

void add_layers(const LineFigure& figure, const LineSeries& series, Chart& chart) {
  ChartLayer layer;
  layer.where = {{"series", series.label}};
  layer.x = figure.x_label;
  layer.y = figure.y_label;
  layer.style = series.style;
  layer.shift = series.shift;
  if (series.reference) {
    layer.style = {"#888888", 0, series.style.dash + 1};
    layer.weight = 0.7;
  } else if (figure.ranges) {
    const bool band = figure.bands && series.joined && series.points.size() > 1;
    layer.mark = band ? Mark::band : Mark::upright;
    constexpr double kSeenThrough = 0.22;
    layer.opacity = band ? kSeenThrough : 1;
    chart.layers.push_back(layer);
  }
  if (!series.reference) layer.mark = series.joined ? Mark::joined : Mark::points;
  if (series.named) layer.label = series.label;
  chart.layers.push_back(std::move(layer));
}

std::string name_of(const LineGap& gap) {
  return key_cell(gap.series + ": " + status_words(gap.status));
}

/// Hollow, and of a shape for each reason.
unsigned marker_of(Status status) {
  switch (status) {
    case Status::out_of_memory:
      return 6;  // a circle
    case Status::unsupported:
      return 4;  // a square
    case Status::interrupted:
      return 12;  // a rhombus
    case Status::failed:
    case Status::ok:
      break;
  }
  return 8;  // a triangle
}

/// Adds what has no value to the rows and to the layers, one for each series and reason.
void add_gaps(const LineFigure& figure, Chart& chart, std::string& rows) {
  std::set<std::string> known;
  for (const LineGap& gap : figure.gaps) {
    const std::string name = name_of(gap);
    rows += csv_row(name, gap.x, fmt::format("{:.6g}", chart.y.from), "", "", gap.reason);
    if (!known.insert(name).second) continue;
    ChartLayer layer{Mark::points, {{"series", name}}, figure.x_label, figure.y_label};
    layer.style = {gap.style.colour, marker_of(gap.status)};
    layer.label = name;
    layer.size = 0.7;
    chart.layers.push_back(std::move(layer));
  }
}

}  // namespace

void LineFigure::sort() {
  for (LineSeries& each : series) {
    sort_all(each.points, [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
  }
}

std::set<double> LineFigure::places() const {
  std::set<double> places;
  for (const LineSeries& each : series) {
    for (const LinePoint& point : each.points) {
      if (!each.reference) places.insert(point.x);
    }
  }
  return places;
}

std::vector<double> log_marks(double low, double high) {
  std::vector<double> digits{1, 2, 5};
  if (high / low > 1000) digits = {1};
  if (high / low < 5) digits = {1, 1.5, 2, 3, 4, 5, 7};
  if (high > low && high / low < 1.5)
    digits = {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9};
  std::vector<double> marks;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double digit : digits) {
      const double mark = digit * std::pow(10.0, decade);
      // the largest mark that is not above `low` opens the axis, the first that is not below
      // `high` closes it
      if (mark <= low * (1 + 1e-9)) marks.clear();
      if (marks.size() > 1 && marks.back() >= high * (1 - 1e-9)) return marks;
      marks.push_back(mark);
    }
  }
  return marks;
}

Axis log_axis(const std::string& label, const std::vector<double>& marks) {
  Axis axis{label, true, marks.front(), marks.back()};
  axis.marks = texts_of(marks);
  return axis;
}

Figure draw_lines(const LineFigure& figure) {
  Chart chart;
  chart.page.name = figure.name;
  chart.page.title = figure.title;
  chart.columns = {"series", figure.x_label, figure.y_label, "low", "high"};
  if (!figure.gaps.empty()) chart.columns.emplace_back("reason");
  std::string rows;
  for (const LineSeries& series : figure.series) {
    for (const LinePoint& point : series.points) {
      std::vector<std::string> cells =
          as_cells(key_cell(series.label), point.x, point.y, point.low, point.high);
      cells.resize(chart.columns.size());
      rows += csv_line(cells);
    }
    add_layers(figure, series, chart);
  }
  set_axes(figure, chart);
  add_gaps(figure, chart, rows);
  return draw(chart, rows);
}

}  // namespace lacuna
