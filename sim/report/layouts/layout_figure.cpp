// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layouts/layout_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {
namespace {

LineSeries dots(const std::string& label, unsigned style) {
  LineSeries series{label, line_style(style)};
  series.joined = false;
  return series;
}

/// A thin line at 1, as wide as the points.
LineSeries line_at_one(const std::vector<LineSeries>& all) {
  LineSeries one{"equal", {}, true};
  double low = 0;
  double high = 0;
  for (const LineSeries& series : all) {
    for (const LinePoint& point : series.points) {
      low = low == 0 ? point.x : std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  one.points = {exact_point(low, 1), exact_point(high, 1)};
  return one;
}

std::string block_of(const ValidationOutcome& outcome) {
  const std::string block = outcome.cell("block");
  return block.empty() ? outcome.family : "block " + block;
}

Figure gains(const std::vector<const ValidationOutcome*>& points) {
  LineFigure figure;
  figure.name = "layout_gain";
  figure.x_label = "cycles as planned";
  figure.y_label = "times as fast at its layout";
  figure.x_at_values = false;
  for (const ValidationOutcome* const point : points) {
    LineSeries& series =
        figure.labelled(block_of(*point), line_style(static_cast<unsigned>(figure.series.size())));
    series.joined = false;
    const LaidOutPoint& laid = *point->laid_out;
    const auto planned = static_cast<double>(laid.planned);
    series.points.push_back(exact_point(planned, planned / static_cast<double>(laid.cycles)));
  }
  figure.series.insert(figure.series.begin(), line_at_one(figure.series));
  return draw_lines(figure);
}

Figure agreement(const std::vector<const ValidationOutcome*>& points) {
  LineFigure figure;
  figure.name = "layout_agreement";
  figure.x_label = "published";
  figure.y_label = "simulated / published";
  figure.x_at_values = false;
  LineSeries planned = dots("as planned", 0);
  LineSeries alone = dots("product at its layout, dense as planned", 1);
  for (const ValidationOutcome* const point : points) {
    const LaidOutPoint& laid = *point->laid_out;
    const double published = *point->published;
    const auto add = [&](LineSeries& series, const std::optional<double>& simulated) {
      if (simulated) series.points.push_back(exact_point(published, *simulated / published));
    };
    add(planned, laid.as_planned);
    add(alone, laid.alone);
  }
  figure.series = {planned, alone};
  figure.series.insert(figure.series.begin(), line_at_one(figure.series));
  return draw_lines(figure);
}

}  // namespace

Figures layout_figures(const Outcomes& outcomes) {
  std::vector<const ValidationOutcome*> laid;
  std::vector<const ValidationOutcome*> measured;
  for (const ValidationOutcome& outcome : outcomes) {
    if (!outcome.laid_out || outcome.laid_out->planned == 0) continue;
    laid.push_back(&outcome);
    if (outcome.ratio && outcome.published && *outcome.published > 0) measured.push_back(&outcome);
  }
  Figures figures;
  if (!laid.empty()) figures.push_back(gains(laid));
  if (!measured.empty()) figures.push_back(agreement(measured));
  return figures;
}

}  // namespace lacuna
