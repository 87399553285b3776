// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "sim/report/figures/figure_stacked.hpp"

namespace lacuna {
namespace {

StackedFigure waterfall(const RunRecord& record) {
  StackedFigure figure;
  figure.name = fmt::format("why_run{}", record.run);
  figure.title = {fmt::format("{}, {}{}{}", record.machine, record.workload,
                              record.pattern.empty() ? "" : ", ", record.pattern)};
  figure.x_label = "Cycles";
  figure.note_label = "times faster";
  figure.parts = {{"remains", "#9aa5b1"}, {"taken away", "#d9822b"}};
  double before = 0;
  for (const WhyStep& step : record.why->ladder) {
    StackedBar bar;
    bar.label = step.cause.empty() ? "as it is" : "without " + step.cause;
    if (step.kind == "layout") bar.label = "laid out otherwise";
    if (&step == &record.why->ladder.back() && !step.cause.empty()) bar.label = "without all costs";
    bar.values = {step.cycles, std::max(0.0, before - step.cycles)};
    bar.note = step.cause.empty() ? "" : fmt::format("{:.2f}", step.faster);
    figure.bars.push_back(std::move(bar));
    before = step.cycles;
  }
  return figure;
}

}  // namespace

std::vector<Figure> why_figures(const std::vector<RunRecord>& records) {
  std::vector<Figure> figures;
  for (const RunRecord& record : records) {
    if (record.why && !record.why->ladder.empty()) add_stacked(waterfall(record), figures);
  }
  return figures;
}

}  // namespace lacuna
