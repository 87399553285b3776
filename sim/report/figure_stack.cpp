// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/report/csv_files.hpp"
#include "sim/report/figure_lines.hpp"
#include "sim/report/figure_parts.hpp"

namespace lacuna {

namespace {

constexpr std::array<Layer, 6> kLayers{Layer::compute, Layer::exchange,  Layer::sync,
                                       Layer::stall,   Layer::imbalance, Layer::idle};
constexpr std::size_t kMostBars = 36;  // of one page

/// A bar: how the unit-cycles of a run or an operation divide among the layers.
struct Bar {
  std::string label;
  std::string group;  // bars of different groups stand apart
  std::array<std::uint64_t, kLayers.size()> layers{};
  std::uint64_t cycles = 0;
};

std::string short_count(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  return fmt::format("{}", count);
}

double height_of(const std::vector<Bar>& bars, std::vector<double>& places) {
  double y = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (i > 0) y += bars[i].group == bars[i - 1].group ? 1 : 1.6;
    places.push_back(y);
  }
  return y + 1;
}

std::string stack_csv(const std::vector<Bar>& bars, const std::vector<double>& places) {
  std::string csv = csv_line(
      {"bar", "layer", "place", "from_percent", "to_percent", "unit_cycles", "cycles_of_bar"});
  for (std::size_t i = 0; i < bars.size(); ++i) {
    std::uint64_t sum = 0;
    for (const std::uint64_t part : bars[i].layers) sum += part;
    // multiplied first, so that the last part ends at 100 exactly
    const auto percent = [sum](std::uint64_t part) {
      return sum == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(sum);
    };
    std::uint64_t below = 0;
    for (std::size_t layer = 0; layer < kLayers.size(); ++layer) {
      const std::uint64_t part = bars[i].layers.at(layer);
      csv += csv_line({bars[i].label, layer_name(kLayers.at(layer)), fmt::format("{}", places[i]),
                       fmt::format("{}", percent(below)), fmt::format("{}", percent(below + part)),
                       fmt::format("{}", part), fmt::format("{}", bars[i].cycles)});
      below += part;
    }
  }
  return csv;
}

std::string stack_body(const std::string& name, const std::vector<Bar>& bars,
                       const std::vector<double>& places, double height) {
  std::string body = "  unset grid\n  set border 1\n  set xrange [0:100]\n";
  body += fmt::format("  set yrange [{}:-1.4]\n  set ytics scale 0 (", height - 0.4);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    body += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(bars[i].label), places[i]);
  }
  body += ")\n  set xtics 25 format '%g %%'\n";
  body += "  set xlabel 'Share of the cycles of all tiles or cores'\n";
  for (std::size_t i = 0; i < bars.size(); ++i) {
    body += fmt::format("  set label {} {} at 101.5,{} left textcolor '#444444'\n", i + 1,
                        quoted(short_count(bars[i].cycles)), places[i]);
  }
  body += fmt::format("  set label {} 'cycles' at 101.5,-1 left textcolor '#444444'\n",
                      bars.size() + 1);
  for (std::size_t layer = 0; layer < kLayers.size(); ++layer) {
    const std::string word = layer_name(kLayers.at(layer));
    body += layer == 0 ? "  plot " : ", \\\n       ";
    body += fmt::format(
        "{} skip 1 using (strcol(2) eq '{}' ? $4 : NaN):3:4:5:($3-0.38):($3+0.38) with boxxyerror "
        "fillstyle solid 1.0 noborder linecolor '{}' title '{}'",
        quoted(name + ".csv"), word, layer_colour(kLayers.at(layer)), word);
  }
  return body + "\n";
}

void add_stack(const std::string& name, const std::vector<std::string>& title,
               const std::vector<Bar>& bars, std::vector<Figure>& figures) {
  if (bars.empty()) return;
  std::vector<double> places;
  const double height = height_of(bars, places);
  Page page;
  page.name = name;
  page.title = title;
  page.data_height = 0.12 * height + 0.1;
  std::vector<std::string> labels;
  labels.reserve(bars.size());
  for (const Bar& bar : bars) labels.push_back(bar.label);
  page.left = widest(labels) + 0.12;
  page.right = 0.42;
  for (const Layer layer : kLayers) page.legend.emplace_back(layer_name(layer));
  figures.push_back(
      {name, stack_csv(bars, places), figure_script(page, stack_body(name, bars, places, height))});
}

/// As many pages as the bars need.
void add_pages(const std::string& name, const std::vector<std::string>& title,
               const std::vector<Bar>& bars, std::vector<Figure>& figures) {
  const std::size_t pages = (bars.size() + kMostBars - 1) / kMostBars;
  for (std::size_t page = 0; page < pages; ++page) {
    const auto first = bars.begin() + static_cast<std::ptrdiff_t>(page * kMostBars);
    const auto last = page + 1 == pages ? bars.end() : first + kMostBars;
    add_stack(page == 0 ? name : fmt::format("{}_{}", name, page + 1), title, {first, last},
              figures);
  }
}

void add_to(Bar& bar, const StackRow& row, std::uint64_t cycles) {
  bar.layers.at(static_cast<std::size_t>(row.layer)) += row.unit_cycles;
  bar.cycles = cycles;
}

}  // namespace

void add_stack_figures(const FigureData& data, const std::vector<FigureRun>& runs,
                       std::vector<Figure>& figures) {
  std::vector<Bar> of_runs;
  std::vector<Bar> of_ops;
  for (const FigureRun& run : runs) {
    if (!run.ok()) continue;
    Bar whole{run.bar(), run.machine, {}, 0};
    for (const SummaryRow& op : run.ops) {
      Bar own{runs.size() == 1 ? op.op_id : op.op_id + ": " + run.bar(), run.bar(), {}, 0};
      for (const StackRow& row : data.stacks) {
        if (row.run != run.run || row.op_id != op.op_id) continue;
        add_to(own, row, op.cycles.value_or(0));
        add_to(whole, row, run.total.cycles.value_or(0));
      }
      if (op.status == Status::ok) of_ops.push_back(own);
    }
    of_runs.push_back(whole);
  }
  const std::vector<std::string> title = figure_title(data, runs);
  add_pages("cycle_stack", title, of_runs, figures);
  if (of_ops.size() > of_runs.size()) add_pages("cycle_stack_ops", title, of_ops, figures);
}

}  // namespace lacuna
