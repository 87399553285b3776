// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/model_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

namespace {

constexpr std::array<const char*, 12> kColours = {"#1f77b4", "#9ecae1", "#08519c", "#6a51a3",
                                                  "#74c476", "#e6550d", "#fdae6b", "#d62728",
                                                  "#8c564b", "#7f7f7f", "#bdbdbd", "#17becf"};

std::string name_of(const ModelReport& report) {
  return fmt::format("{}, {}, {}", report.machine, report.model, report.what);
}

/// Rows that take less than a hundredth of the time are one part.
StackedFigure phases_of(const ModelReport& report, const ModelTable& table) {
  StackedFigure figure;
  figure.title = {name_of(report), "time of the phases of a layer"};
  figure.x_label =
      table.columns[0].second.empty() ? table.columns[0].first : table.columns[0].second;
  StackedBar bar;
  bar.label = report.machine;
  double all = 0;
  double rest = 0;
  const auto is_end = [](const std::string& name) {
    return name.rfind("embedding ", 0) == 0 || name.rfind("head ", 0) == 0;
  };
  for (const auto& [name, values] : table.rows) all += is_end(name) ? 0 : values[0];
  for (const auto& [name, values] : table.rows) {
    if (is_end(name)) continue;
    if (values[0] < all / 100) {
      rest += values[0];
      continue;
    }
    figure.parts.push_back({name, kColours.at(figure.parts.size() % kColours.size())});
    bar.values.push_back(values[0]);
  }
  if (rest > 0) {
    figure.parts.push_back({"others", "#e0e0e0"});
    bar.values.push_back(rest);
  }
  figure.bars.push_back(bar);
  return figure;
}

/// A bar for each row, with a part for each column of this unit; what they are of, if that is
/// known, beside it.
StackedFigure columns_of(const ModelReport& report, const ModelTable& table,
                         const std::string& title, const char* unit) {
  StackedFigure figure;
  figure.title = {name_of(report), title};
  figure.x_label = unit;
  std::vector<std::size_t> parts;
  std::size_t all = 0;
  std::size_t has = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& [name, of_column] = table.columns[i];
    if (name == "all") {
      all = i;
    } else if (name == "has") {
      has = i;
    } else if (of_column == unit) {
      figure.parts.push_back({name, kColours.at(parts.size() % kColours.size())});
      parts.push_back(i);
    }
  }
  if (has != 0) figure.note_label = "of what there is";
  for (const auto& [name, values] : table.rows) {
    StackedBar bar;
    bar.label = name;
    for (const std::size_t part : parts) bar.values.push_back(values[part]);
    if (has != 0) bar.note = fmt::format("{:.0f} %", 100 * values[all] / values[has]);
    figure.bars.push_back(bar);
  }
  return figure;
}

/// Joules per token over tokens per second, a point with its range for each run.
Figure tokens_figure(const std::vector<ModelReport>& reports) {
  LineFigure figure;
  figure.name = "tokens";
  figure.title = {"Energy and rate of language models", "prices low to high"};
  figure.x_label = "tokens/s";
  figure.y_label = "J/token";
  figure.x_at_values = false;
  figure.ranges = true;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const ModelReport& report = reports[i];
    LineSeries series{name_of(report), line_style(static_cast<unsigned>(i))};
    series.joined = false;
    series.points.push_back({report.of("tokens_per_s"), report.of("joules_per_token"),
                             report.of("joules_per_token_low"),
                             report.of("joules_per_token_high")});
    figure.series.push_back(series);
  }
  return draw_lines(figure);
}

}  // namespace

Figures model_figures(const std::vector<ModelReport>& reports) {
  Figures figures;
  for (std::size_t run = 0; run < reports.size(); ++run) {
    const ModelReport& report = reports[run];
    for (const ModelTable& table : report.tables) {
      const bool phases = table.name == "phases" || table.name == "parts";
      const bool shares = table.name == "shares";
      if (!phases && !shares && table.name != "memory") continue;
      StackedFigure figure =
          phases   ? phases_of(report, table)
          : shares ? columns_of(report, table, "what the first core does in each phase of a layer",
                                "cycles")
                   : columns_of(report, table, table.title, "B");
      // several runs are told apart by their numbers
      figure.name = phases ? "phases" : table.name;
      if (reports.size() > 1) figure.name += fmt::format("_{}", run);
      if (!figure.bars.empty() && !figure.parts.empty()) add_stacked(figure, figures);
    }
  }
  const bool rated = std::all_of(reports.begin(), reports.end(), [](const ModelReport& each) {
    return each.of("tokens_per_s") > 0 && each.of("joules_per_token") > 0;
  });
  if (rated && !reports.empty()) figures.push_back(tokens_figure(reports));
  return figures;
}

}  // namespace lacuna
