// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/layers.hpp"

namespace lacuna {

namespace {

/// The components of a breakdown of energy, in the order they are stacked.
constexpr std::array<std::pair<const char*, const char*>, 11> kComponents{
    {{"mac", "#0072B2"},
     {"vector", "#56B4E9"},
     {"sram", "#D55E00"},
     {"issue", "#E69F00"},
     {"metadata", "#CC79A7"},
     {"fabric", "#009E73"},
     {"clock", "#4D4D4D"},
     {"clock_tree", "#6E6E6E"},
     {"idle_clock", "#8C8C8C"},
     {"leakage", "#D9D9D9"},
     {"off_chip", "#000000"}}};

std::string short_count(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  return fmt::format("{}", count);
}

/// Two digits, written without a power of ten.
std::string two_digits(double value) {
  return value >= 99.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

StackedFigure layers(const std::string& name, const std::vector<std::string>& title) {
  StackedFigure figure;
  figure.name = name;
  figure.title = title;
  figure.x_label = "Share of the cycles of all tiles or cores";
  figure.note_label = "cycles";
  figure.percent = true;
  figure.has_times = true;
  for (const Layer layer : kLayers) {
    figure.parts.push_back({layer_name(layer), layer_colour(layer)});
  }
  return figure;
}

StackedBar empty_bar(const std::string& label, const std::string& group, std::size_t parts,
                     const std::string& note) {
  return {label, group, std::vector<double>(parts, 0), note};
}

/// How long a row took, and its dense partner.
void add_times(const SummaryRow& row, StackedBar& bar) {
  if (!row.time_s) return;
  bar.time_us = *row.time_s * 1e6;
  if (row.speedup_vs_dense) bar.dense_time_us = *bar.time_us * *row.speedup_vs_dense;
}

/// The place of a run without values.
StackedBar gap_bar(const FigureRun& run, std::size_t parts) {
  StackedBar bar = empty_bar(run.bar(), run.machine, parts, status_words(run.total.status));
  bar.is_gap = true;
  return bar;
}

/// Joules of each component, in pJ per useful FLOP.
StackedBar energy_bar(const FigureRun& run) {
  const double scale = 1e12 / static_cast<double>(*run.total.useful_flop);
  const EnergyRange& all = *run.total.energy_j;
  StackedBar bar = empty_bar(run.bar(), run.machine, kComponents.size(),
                             two_digits(all.low * scale) + " - " + two_digits(all.high * scale));
  for (const OpRecord& op : run.record->ops) {
    for (const EnergyPart& part : op.energy) {
      for (std::size_t i = 0; i < kComponents.size(); ++i) {
        if (part.component == kComponents.at(i).first) bar.values[i] += part.joules.nominal * scale;
      }
    }
  }
  return bar;
}

}  // namespace

void add_stack_figures(const FigureRuns& runs, Figures& figures) {
  StackedFigure of_runs = layers("cycle_stack", figure_title(runs));
  StackedFigure of_ops = layers("cycle_stack_ops", of_runs.title);
  if (!any_of(runs, [](const FigureRun& run) { return run.ok(); })) return;
  for (const FigureRun& run : runs) {
    if (!run.ok()) {
      of_runs.bars.push_back(gap_bar(run, kLayers.size()));
      of_ops.bars.push_back(of_runs.bars.back());
      continue;
    }
    StackedBar whole = empty_bar(run.bar(), run.machine, kLayers.size(),
                                 short_count(run.total.cycles.value_or(0)));
    add_times(run.total, whole);
    for (const OpRecord& record : run.record->ops) {
      const SummaryRow& op = record.row;
      const std::string label = runs.size() == 1 ? op.op_id : op.op_id + ": " + run.bar();
      StackedBar own =
          empty_bar(label, run.bar(), kLayers.size(), short_count(op.cycles.value_or(0)));
      add_times(op, own);
      for (const StackPart& part : record.result.stack) {
        const auto layer = static_cast<std::size_t>(part.layer);
        own.values[layer] += static_cast<double>(part.cycles);
        whole.values[layer] += static_cast<double>(part.cycles);
      }
      if (op.status == Status::ok) of_ops.bars.push_back(own);
    }
    of_runs.bars.push_back(whole);
  }
  add_stacked(of_runs, figures);
  if (of_ops.bars.size() > of_runs.bars.size()) add_stacked(of_ops, figures);
}

void add_energy_figure(const FigureRuns& runs, Figures& figures) {
  StackedFigure figure;
  figure.name = "energy_parts";
  figure.title = figure_title(runs);
  figure.x_label = "Energy per useful FLOP (pJ), nominal";
  figure.note_label = "low - high";
  for (const auto& [name, colour] : kComponents) figure.parts.push_back({name, colour});
  bool is_drawn = false;
  for (const FigureRun& run : runs) {
    if (!run.ok()) figure.bars.push_back(gap_bar(run, kComponents.size()));
    if (!run.ok() || !run.total.energy_j || run.total.useful_flop.value_or(0) == 0) continue;
    StackedBar bar = energy_bar(run);
    double sum = 0;
    for (const double value : bar.values) sum += value;
    if (sum > 0) figure.bars.push_back(bar);
    is_drawn = is_drawn || sum > 0;
  }
  if (is_drawn) add_stacked(figure, figures);
}

}  // namespace lacuna
