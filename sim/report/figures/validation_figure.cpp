// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/validation_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// How far from equality the thin lines are.
constexpr double kBand = 1.25;

struct Series {
  std::string label;
  std::vector<const ValidationOutcome*> points;
};

bool drawable(const ValidationOutcome& outcome) {
  return outcome.published && outcome.simulated && *outcome.published > 0 && *outcome.simulated > 0;
}

/// Points with blocks are told apart by them, others by their family.
std::string label_of(const ValidationOutcome& outcome) {
  const std::string block = outcome.cell("block");
  const std::string density = outcome.cell("density");
  if (block.empty() || density.empty()) return outcome.family;
  return fmt::format("{}, block {}, density {}{}", outcome.cell("mode"), block, density,
                     outcome.cell("n") == "best" ? ", best n" : "");
}

/// The points of one unit as series, in the order of their first point.
std::vector<Series> series_of(const std::vector<const ValidationOutcome*>& points) {
  std::vector<Series> all;
  for (const ValidationOutcome* const point : points) {
    const std::string label = label_of(*point);
    const auto same = [&](const Series& series) { return series.label == label; };
    find_or_add(all, same, {label, {}}).points.push_back(point);
  }
  return all;
}

/// A thin line of `factor` times the published values.
ChartLayer line_at(double factor, const char* label, const SeriesStyle& style) {
  ChartLayer line;
  line.mark = Mark::slope;
  line.value = factor;
  line.label = label;
  line.style = style;
  line.weight = 0.7;
  return line;
}

Figure draw(const std::string& unit, const std::vector<const ValidationOutcome*>& points) {
  Chart chart;
  chart.page.name = "validation_" + (unit.empty() ? "plain" : lower_case(file_word(unit)));
  chart.page.data_height = 2.6;
  chart.page.left = 0.5;  // marks such as 1e+06
  chart.page.right = 0.2;
  chart.columns = {"series", "id", "published", "simulated"};
  chart.layers = {line_at(1, "equal", {"#444444"}),
                  line_at(kBand, "25 % more or less", {"#888888", 0, 2}),
                  line_at(1 / kBand, "", {"#888888", 0, 2})};
  double low = HUGE_VAL;
  double high = 0;
  std::string rows;
  unsigned other = 0;
  for (const Series& series : series_of(points)) {
    chart.layers.push_back({Mark::points,
                            {{"series", series.label}},
                            "published",
                            "simulated",
                            series_style(0, series.label, other++),
                            series.label});
    for (const ValidationOutcome* const point : series.points) {
      low = std::min({low, *point->published, *point->simulated});
      high = std::max({high, *point->published, *point->simulated});
      rows += csv_row(key_cell(series.label), point->id, *point->published, *point->simulated);
    }
  }
  const std::vector<double> marks = log_marks(low, high);
  chart.x = log_axis("published (" + unit + ")", marks);
  chart.y = log_axis("simulated (" + unit + ")", marks);
  return draw(chart, rows);
}

}  // namespace

Figures validation_figures(const Outcomes& outcomes) {
  std::map<std::string, std::vector<const ValidationOutcome*>> by_unit;
  for (const ValidationOutcome& outcome : outcomes) {
    if (drawable(outcome)) by_unit[outcome.unit].push_back(&outcome);
  }
  Figures figures;
  figures.reserve(by_unit.size());
  for (const auto& [unit, points] : by_unit) figures.push_back(draw(unit, points));
  return figures;
}

}  // namespace lacuna
