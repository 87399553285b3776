// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "sim/report/figures/figure_python.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

std::set<double>::const_iterator closest(const std::set<double>& values, double to) {
  return std::min_element(values.begin(), values.end(),
                          [to](double a, double b) { return std::abs(a - to) < std::abs(b - to); });
}

/// The values on the axis themselves, while they are few and far apart; whole numbers in full.
std::vector<double> x_marks(const LineFigure& figure) {
  std::set<double> values;
  for (const LineSeries& series : figure.series) {
    for (const LinePoint& point : series.points) {
      if (!series.reference) values.insert(point.x);
    }
  }
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

std::string axes(const LineFigure& figure, PythonTicks& ticks) {
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
      if (series.reference) {
        high = std::max(high, point.high);
        continue;
      }
      low = std::min(low, point.low);
      high = std::max(high, point.high);
    }
  }
  for (const LineGap& gap : figure.gaps) {
    left = std::min(left, gap.x);
    right = std::max(right, gap.x);
  }
  const std::vector<double> marks = log_marks(low, high);
  std::string text = "  set logscale xy\n";
  text += fmt::format("  set xrange [{:.6g}:{:.6g}]\n", left / 1.15, right * 1.15);
  text += fmt::format("  set yrange [{:.6g}:{:.6g}]\n", marks.front(), marks.back());
  text += fmt::format("  set xlabel {}\n  set ylabel {}\n", quoted(figure.x_label),
                      quoted(figure.y_label));
  std::vector<double> across = figure.x_at_values ? x_marks(figure) : log_marks(left, right);
  ticks = {std::move(across), marks};
  return text + log_tics("x", ticks.x) + log_tics("y", marks);
}

std::string plot_element(const LineFigure& figure, const LineSeries& series) {
  // column 1 names the series; what belongs to another is passed over
  const std::string select =
      fmt::format("{} skip 1 using (strcol(1) eq {} ? $2*{:.4f} : NaN)",
                  quoted(figure.name + ".csv"), quoted(key_cell(series.label)), series.shift);
  if (series.reference) {
    return fmt::format("{}:3 with lines linewidth 0.7 dashtype {} linecolor '#888888' title {}",
                       select, series.style.dash + 1, quoted(series.label));
  }
  std::string text;
  if (figure.ranges) {
    text = fmt::format("{}:3:4:5 with yerrorbars linewidth 0.7 linecolor '{}' pointtype 0 notitle",
                       select, series.style.colour);
    text += ", \\\n       ";
  }
  const std::string look =
      fmt::format("linecolor '{}' linewidth 1.2 pointtype {} pointsize 0.45*size",
                  series.style.colour, series.style.marker);
  const std::string title = series.named ? "title " + quoted(series.label) : "notitle";
  if (!series.joined) return text + fmt::format("{}:3 with points {} {}", select, look, title);
  return text + fmt::format("{}:3 with linespoints {} dashtype {} {}", select, look,
                            series.style.dash, title);
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

/// Adds what has no value to the data and to the plot, one entry of the legend for each series and
/// reason.
void add_gaps(const LineFigure& figure, double foot, Figure& drawn, std::string& plot, Page& page) {
  for (const LineGap& gap : figure.gaps) {
    const std::string name = name_of(gap);
    drawn.csv +=
        csv_line({name, fmt::format("{}", gap.x), fmt::format("{:.6g}", foot), "", "", gap.reason});
    if (std::find(page.legend.begin(), page.legend.end(), name) != page.legend.end()) continue;
    page.legend.push_back(name);
    plot += fmt::format(
        ", \\\n       {} skip 1 using (strcol(1) eq {} ? $2 : NaN):3 with points linecolor '{}' "
        "linewidth 1.2 pointtype {} pointsize 0.7*size title {}",
        quoted(figure.name + ".csv"), quoted(name), gap.style.colour, marker_of(gap.status),
        quoted(name));
  }
}

}  // namespace

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

std::string log_tics(const char* axis, const std::vector<double>& marks) {
  std::string text = fmt::format("  set {}tics (", axis);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    text += fmt::format("{}'{:.5g}' {:.6g}", i == 0 ? "" : ", ", marks[i], marks[i]);
  }
  return text + ")\n";
}

Figure draw_lines(const LineFigure& figure) {
  Figure drawn;
  drawn.name = figure.name;
  std::vector<std::string> columns = {"series", figure.x_label, figure.y_label, "low", "high"};
  if (!figure.gaps.empty()) columns.emplace_back("reason");
  drawn.csv = csv_line(columns);
  std::string plot;
  Page page;
  for (const LineSeries& series : figure.series) {
    if (series.named) page.legend.push_back(series.label);
    for (const LinePoint& point : series.points) {
      std::vector<std::string> cells = {key_cell(series.label), fmt::format("{}", point.x),
                                        fmt::format("{}", point.y), fmt::format("{}", point.low),
                                        fmt::format("{}", point.high)};
      cells.resize(columns.size());
      drawn.csv += csv_line(cells);
    }
    plot += plot.empty() ? "  plot " : ", \\\n       ";
    plot += plot_element(figure, series);
  }
  page.name = figure.name;
  page.title = figure.title;
  PythonTicks ticks;
  const std::string axis_text = axes(figure, ticks);
  page.left = room_beside(ticks.y);
  add_gaps(figure, ticks.y.front(), drawn, plot, page);
  drawn.script = figure_script(page, axis_text + plot + "\n");
  std::vector<PythonSeries> series;
  for (const LineSeries& each : figure.series) {
    series.push_back({each.label, each.style, each.joined, each.reference, each.named});
  }
  drawn.python = python_of_lines(page, figure.x_label, figure.y_label, ticks, series);
  return drawn;
}

}  // namespace lacuna
