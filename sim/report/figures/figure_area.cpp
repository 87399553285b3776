// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

void add_area_figure(const FigureData& data, const std::vector<FigureRun>& runs,
                     std::vector<Figure>& figures) {
  std::vector<const SummaryRow*> totals;
  totals.reserve(runs.size());
  for (const FigureRun& run : runs) totals.push_back(&run.total);
  const std::vector<AreaGroup> groups = area_groups(totals);
  if (groups.empty() || groups.size() > kMostGroups) return;
  LineFigure figure;
  figure.name = "time_against_area";
  figure.x_label = "Silicon of the simulated units (mm^2)";
  figure.y_label = "Time (us)";
  figure.x_is_density = false;
  figure.title = figure_title(data, runs);
  for (const AreaGroup& group : groups) {
    LineSeries all;
    all.label = group.label;
    all.style = line_style(static_cast<unsigned>(figure.series.size() / 2));
    LineSeries front = all;
    all.joined = false;
    front.label += ": no other is smaller and faster";
    front.style.marker = 7;
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
