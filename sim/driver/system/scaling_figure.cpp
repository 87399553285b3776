// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/scaling_figure.hpp"

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

Figure scaling_lines(const ScalingWords& words, const std::vector<ScalingPoint>& points) {
  LineFigure figure;
  figure.name = words.name;
  figure.title = words.title;
  figure.x_label = words.counted;
  figure.y_label = words.rate;
  figure.x_at_values = false;
  LineSeries simulated;
  simulated.label = "simulated";
  simulated.style = line_style(0);
  LineSeries ideal;
  ideal.label = "as many more as " + words.counted;
  ideal.reference = true;
  ideal.style = line_style(1);
  for (const ScalingPoint& point : points) {
    const bool known = point.high > 0;
    figure.ranges = figure.ranges || known;
    simulated.points.push_back(
        {point.count, point.rate, known ? point.low : point.rate, known ? point.high : point.rate});
    ideal.points.push_back({point.count, point.most, point.most, point.most});
  }
  figure.series = {ideal, simulated};
  return draw_lines(figure);
}

}  // namespace lacuna
