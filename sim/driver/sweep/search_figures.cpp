// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/ranges.hpp"
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

/// The axis of the `which`-th objective of a search: times and energies in a unit of which the
/// largest has one to a thousand.
AxisOfObjective axis_of(const SearchOrder& order, const SearchCourse& course, std::size_t which) {
  double most = 0;
  for (const std::size_t point : course.taken) {
    most = std::max(most, order.points()[point].value[which]);
  }
  const Objective objective = course.objectives[which];
  std::string unit = unit_of(objective);
  AxisOfObjective axis;
  for (const char* const prefix : {"m", "u", "n"}) {
    if (std::string(unit_of(objective)).size() > 1 || most * axis.factor >= 1) break;
    axis.factor *= 1000;
    unit = prefix + std::string(unit_of(objective));
  }
  axis.label = fmt::format("{} ({})", title_of(objective), unit);
  return axis;
}

Figure convergence(const SearchOrder& order, const SearchCourse& course) {
  LineFigure figure;
  figure.name = "search_convergence";
  figure.x_label = "simulated points";
  const AxisOfObjective axis = axis_of(order, course, 0);
  figure.y_label = axis.label;
  figure.x_at_values = false;
  LineSeries best{"best so far", line_style(0)};
  LineSeries each{"each point", line_style(2)};
  each.joined = false;
  LineSeries bound{"no point is below", line_style(1), true};
  const double least = order.least().front() * axis.factor;
  double lowest = 0;
  for (std::size_t i = 0; i < course.taken.size(); ++i) {
    const double value = order.points()[course.taken[i]].value[0] * axis.factor;
    lowest = i == 0 ? value : std::min(lowest, value);
    const auto x = static_cast<double>(i + 1);
    best.points.push_back(exact_point(x, lowest));
    each.points.push_back(exact_point(x, value));
    if (least > 0) bound.points.push_back(exact_point(x, least));
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
    return exact_point(value[0] * across.factor, value[1] * up.factor);
  };
  LineSeries all{"simulated", line_style(2)};
  all.joined = false;
  for (const std::size_t point : course.taken) all.points.push_back(at(point));
  std::vector<std::size_t> best = order.front();
  sort_all(best, [&](std::size_t a, std::size_t b) {
    return order.points()[a].value < order.points()[b].value;
  });
  LineSeries line{"no point is better in both", line_style(0)};
  for (const std::size_t point : best) line.points.push_back(at(point));
  figure.series = {all, line};
  // the ends, and points evenly between them
  const std::size_t named = std::min(best.size(), kNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const std::size_t point = best[named == 1 ? 0 : i * (best.size() - 1) / (named - 1)];
    LineSeries one{name_of(course, point), line_style(static_cast<unsigned>(3 + i))};
    one.points = {at(point)};
    figure.series.push_back(std::move(one));
  }
  return draw_lines(figure);
}

}  // namespace

Figures search_figures(const SearchOrder& order, const SearchCourse& course) {
  const auto above_zero = [&](std::size_t point) {
    const std::vector<double>& value = order.points()[point].value;
    return all_of(value, [](double each) { return each > 0; });
  };
  if (course.taken.empty()) return {};
  if (!all_of(course.taken, above_zero)) return {};
  if (course.objectives.size() == 1) return {convergence(order, course)};
  if (course.objectives.size() == 2) return {front(order, course)};
  return {};
}

}  // namespace lacuna
