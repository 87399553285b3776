// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/area_front.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostGroups = 6;  // each has points and a line

LinePoint point_of(const SummaryRow& row) {
  const double time = *row.time_s * 1e6;
  return {*row.silicon_mm2, time, row.time_low_s ? *row.time_low_s * 1e6 : time,
          row.time_high_s ? *row.time_high_s * 1e6 : time};
}

/// The labels without the words that all of them begin with; the last word stays.
std::vector<std::string> short_labels(const std::vector<AreaGroup>& groups) {
  std::vector<std::vector<std::string>> all;
  all.reserve(groups.size());
  for (const AreaGroup& group : groups) all.push_back(split(group.label, ' '));
  std::size_t common = 0;
  const auto is_common = [&] {
    return all_of(all, [&](const std::vector<std::string>& words) {
      return common + 1 < words.size() && words[common] == all.front()[common];
    });
  };
  while (all.size() > 1 && is_common()) ++common;
  std::vector<std::string> labels;
  labels.reserve(all.size());
  for (const std::vector<std::string>& words : all) {
    labels.push_back(
        fmt::format("{}", fmt::join(words.begin() + static_cast<int>(common), words.end(), " ")));
  }
  return labels;
}

}  // namespace

void add_area_figure(const FigureRuns& runs, Figures& figures) {
  std::vector<const SummaryRow*> totals;
  totals.reserve(runs.size());
  for (const FigureRun& run : runs) totals.push_back(&run.total);
  const std::vector<AreaGroup> groups = area_groups(totals);
  if (groups.empty() || groups.size() > kMostGroups) return;
  LineFigure figure;
  figure.name = "time_against_area";
  figure.x_label = "Silicon of the simulated units (mm^2)";
  figure.y_label = "Time (us)";
  figure.x_at_values = false;
  figure.title = figure_title(runs);
  figure.title.emplace_back("lines: no other is smaller and faster");
  const std::vector<std::string> labels = short_labels(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const AreaGroup& group = groups[i];
    LineSeries all{labels[i], line_style(static_cast<unsigned>(i))};
    LineSeries front = all;
    all.joined = false;
    front.label += ": no other is smaller and faster";
    front.style.marker = 7;
    front.named = false;
    for (const SummaryRow* const row : group.rows) {
      all.points.push_back(point_of(*row));
      figure.ranges = figure.ranges || all.points.back().low < all.points.back().high;
    }
    for (const SummaryRow* const row : group.front) front.points.push_back(point_of(*row));
    figure.series.push_back(std::move(all));
    figure.series.push_back(std::move(front));
  }
  figures.push_back(draw_lines(figure));
}

}  // namespace lacuna
