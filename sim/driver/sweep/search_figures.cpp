// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kNamed = 5;  // points of a front

/// An objective on an axis: "Time (us)", and the factor from its value to this unit.
struct AxisOfObjective {
  std::string label;
  double factor = 1;
};

/// Of "time, s": times and energies in a unit of which the largest has one to a thousand.
AxisOfObjective axis_of(const std::string& objective, double most) {
  const std::size_t comma = objective.find(", ");
  if (comma == std::string::npos) return {objective, 1};
  std::string unit = objective.substr(comma + 2);
  AxisOfObjective axis;
  if (unit == "s" || unit == "J") {
    for (const char* const prefix : {"m", "u", "n"}) {
      if (most * axis.factor >= 1) break;
      axis.factor *= 1000;
      unit = prefix + objective.substr(comma + 2);
    }
  }
  std::string name = objective.substr(0, comma);
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  std::replace(name.begin(), name.end(), '_', ' ');
  axis.label = fmt::format("{} ({})", name, unit);
  return axis;
}

/// The axis of the `which`-th objective of a search.
AxisOfObjective axis_of(const SearchOrder& order, const SearchCourse& course, std::size_t which) {
  double most = 0;
  for (const std::size_t point : course.taken) {
    most = std::max(most, order.points()[point].value[which]);
  }
  return axis_of(course.objectives[which], most);
}

LinePoint point_at(double x, double y) { return {x, y, y, y}; }

Figure convergence(const SearchOrder& order, const SearchCourse& course) {
  LineFigure figure;
  figure.name = "search_convergence";
  figure.x_label = "simulated points";
  const AxisOfObjective axis = axis_of(order, course, 0);
  figure.y_label = axis.label;
  figure.x_at_values = false;
  LineSeries best;
  best.label = "best so far";
  best.style = line_style(0);
  LineSeries each;
  each.label = "each point";
  each.style = line_style(2);
  each.joined = false;
  LineSeries bound;
  bound.label = "no point is below";
  bound.reference = true;
  bound.style = line_style(1);
  const double least = order.least().front() * axis.factor;
  double lowest = 0;
  for (std::size_t i = 0; i < course.taken.size(); ++i) {
    const double value = order.points()[course.taken[i]].value[0] * axis.factor;
    lowest = i == 0 ? value : std::min(lowest, value);
    const auto x = static_cast<double>(i + 1);
    best.points.push_back(point_at(x, lowest));
    each.points.push_back(point_at(x, value));
    if (least > 0) bound.points.push_back(point_at(x, least));
  }
  figure.series = {each, best};
  if (!bound.points.empty()) figure.series.insert(figure.series.begin(), bound);
  return draw_lines(figure);
}

/// "ws.groups 5, ws.lookahead 64".
std::string name_of(const SearchCourse& course, std::size_t point) {
  std::string name;
  for (std::size_t a = 0; a < course.axes.size(); ++a) {
    if (course.axis_text[point][a].empty()) continue;
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", course.axes[a],
                        course.axis_text[point][a]);
  }
  return name;
}

Figure front(const SearchOrder& order, const SearchCourse& course) {
  LineFigure figure;
  figure.name = "search_front";
  const AxisOfObjective across = axis_of(order, course, 0);
  const AxisOfObjective up = axis_of(order, course, 1);
  figure.x_label = across.label;
  figure.y_label = up.label;
  figure.x_at_values = false;
  const auto at = [&](std::size_t point) {
    const std::vector<double>& value = order.points()[point].value;
    return point_at(value[0] * across.factor, value[1] * up.factor);
  };
  LineSeries all;
  all.label = "simulated";
  all.style = line_style(2);
  all.joined = false;
  for (const std::size_t point : course.taken) all.points.push_back(at(point));
  std::vector<std::size_t> best = order.front();
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    return order.points()[a].value < order.points()[b].value;
  });
  LineSeries line;
  line.label = "no point is better in both";
  line.style = line_style(0);
  for (const std::size_t point : best) line.points.push_back(at(point));
  figure.series = {all, line};
  // the ends, and points evenly between them
  const std::size_t named = std::min(best.size(), kNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const std::size_t point = best[named == 1 ? 0 : i * (best.size() - 1) / (named - 1)];
    LineSeries one;
    one.label = name_of(course, point);
    one.style = line_style(static_cast<unsigned>(3 + i));
    one.points = {at(point)};
    figure.series.push_back(std::move(one));
  }
  return draw_lines(figure);
}

}  // namespace

std::vector<Figure> search_figures(const SearchOrder& order, const SearchCourse& course) {
  const auto above_zero = [&](std::size_t point) {
    const std::vector<double>& value = order.points()[point].value;
    return std::all_of(value.begin(), value.end(), [](double each) { return each > 0; });
  };
  if (course.taken.empty()) return {};
  if (!std::all_of(course.taken.begin(), course.taken.end(), above_zero)) return {};
  if (course.objectives.size() == 1) return {convergence(order, course)};
  if (course.objectives.size() == 2) return {front(order, course)};
  return {};
}

}  // namespace lacuna
