// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/report/figures/figure_stacked.hpp"

namespace lacuna {
namespace {

StackedFigure waterfall(std::string name, std::string title, const Why& why) {
  StackedFigure figure;
  figure.name = std::move(name);
  figure.title = {std::move(title)};
  figure.x_label = why.unit == "cycles" ? "Cycles" : fmt::format("Time ({})", why.unit);
  figure.note_label = "times faster";
  figure.parts = {{"remains", "#9aa5b1"}, {"taken away", "#d9822b"}};
  double before = 0;
  for (const WhyStep& step : why.ladder) {
    StackedBar bar;
    bar.label = step.cause.empty() ? "as it is" : "without " + step.cause;
    if (step.kind == "layout") bar.label = "laid out otherwise";
    if (&step == &why.ladder.back() && !step.cause.empty()) bar.label = "without all costs";
    bar.values = {step.time, std::max(0.0, before - step.time)};
    bar.note = step.cause.empty() ? "" : fmt::format("{:.2f}", step.faster);
    figure.bars.push_back(std::move(bar));
    before = step.time;
  }
  return figure;
}

}  // namespace

Figures why_figures(const Answer& answer) {
  Figures figures;
  for (const AnswerCause& each : answer.causes) {
    const RunRecord& run = *each.run;
    add_why_figure(fmt::format("why_run{}", run.run),
                   fmt::format("{}, {}{}{}", run.machine, run.workload,
                               run.pattern.empty() ? "" : ", ", run.pattern),
                   each.why(), figures);
  }
  return figures;
}

void add_why_figure(const std::string& name, const std::string& title, const Why& why,
                    Figures& figures) {
  if (!why.ladder.empty()) add_stacked(waterfall(name, title, why), figures);
}

}  // namespace lacuna
