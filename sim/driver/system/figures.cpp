// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/driver/system/report.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

using system::kUses;
using system::Use;

namespace {

const std::array<const char*, kUses>& colours() {
  static const std::array<const char*, kUses> all = {"#1f77b4", "#9ecae1", "#08519c", "#6a51a3",
                                                     "#74c476", "#e6550d", "#fdae6b", "#d62728",
                                                     "#8c564b", "#7f7f7f", "#bdbdbd", "#e0e0e0"};
  return all;
}

Figure stack_figure(const SystemMachine& machine, const system::TrainingParams& training,
                    const TrainingResult& result) {
  StackedFigure figure;
  figure.name = "time_stack";
  figure.title = {fmt::format("{}, {}", machine.name, training.model.value()),
                  "where the time of the chips of a replica goes"};
  figure.x_label = "ms";
  for (std::size_t i = 0; i < kUses; ++i) {
    figure.parts.push_back({use_name(static_cast<Use>(i)), colours()[i]});
  }
  for (std::size_t chip = 0; chip < std::size_t{training.pipeline} * training.tensor; ++chip) {
    StackedBar bar;
    bar.label = fmt::format("chip {}", chip);
    for (const std::uint64_t ns : result.run.chips[chip]) {
      bar.values.push_back(static_cast<double>(ns) * 1e-6);
    }
    figure.bars.push_back(std::move(bar));
  }
  std::vector<Figure> figures;
  add_stacked(figure, figures);
  return figures.front();
}

/// A row of bars for each chip.
Figure pipeline_figure(const SystemMachine& machine, const system::TrainingParams& training,
                       const TrainingResult& result) {
  const std::size_t chips = std::size_t{training.pipeline} * training.tensor;
  Page page;
  page.name = "pipeline";
  page.title = {fmt::format("{}, {}", machine.name, training.model.value()),
                "chips of a replica; of equal steps the first two"};
  page.data_height = 0.13 * static_cast<double>(chips) + 0.15;
  page.left = 0.62;
  page.right = 0.2;
  std::string csv = "chip,use,from_ms,to_ms\n";
  std::array<bool, kUses> present{};
  double end = 0;
  for (const PipelineBar& bar : pipeline_bars(training, result)) {
    const auto use = static_cast<std::size_t>(bar.use);
    present[use] = true;
    end = std::max(end, static_cast<double>(bar.to) * 1e-6);
    csv += fmt::format("{},{},{:.6f},{:.6f}\n", bar.chip, use_name(bar.use),
                       static_cast<double>(bar.from) * 1e-6, static_cast<double>(bar.to) * 1e-6);
  }
  PythonSpans python{"chip", "use", "from_ms", "to_ms", "", "ms", {}, {}};
  std::string body = fmt::format(
      "  unset grid\n  set xrange [0:{:.6f}]\n  set yrange [{}:-0.5]\n  set xlabel 'ms'\n"
      "  set ytics (",
      end, static_cast<double>(chips) - 0.5);
  for (std::size_t chip = 0; chip < chips; ++chip) {
    body += fmt::format("{}'chip {}' {}", chip == 0 ? "" : ", ", chip, chip);
    python.tracks.push_back(fmt::format("chip {}", chip));
  }
  body += ")\n  of(use) = ";
  for (std::size_t use = 0; use < kUses; ++use) {
    if (!present[use]) continue;
    body += fmt::format("use eq '{}' ? {} : ", use_name(static_cast<Use>(use)),
                        colour_variable(colours()[use]));
  }
  body +=
      "ink\n  number(c) = int('0x'.c[2:7])\n"
      "  plot 'pipeline.csv' skip 1 using 3:1:3:4:($1-0.4):($1+0.4):(number(of(strcol(2)))) with "
      "boxxyerror fillstyle solid 1.0 noborder linecolor rgb variable notitle";
  for (std::size_t use = 0; use < kUses; ++use) {
    if (!present[use]) continue;
    page.legend.emplace_back(use_name(static_cast<Use>(use)));
    python.kinds.emplace_back(page.legend.back(), colours()[use]);
    body += fmt::format(
        ", \\\n       NaN with boxes fillstyle solid 1.0 noborder linecolor '{}' title '{}'",
        colours()[use], page.legend.back());
  }
  return {page.name, csv, figure_script(page, body + "\n"), python_of_spans(page, python)};
}

Figure memory_figure(const SystemMachine& machine, const system::TrainingParams& training,
                     const TrainingResult& result) {
  StackedFigure figure;
  figure.name = "memory";
  figure.title = {fmt::format("{}, {}", machine.name, training.model.value()),
                  "memory of the chips of a replica"};
  figure.x_label = "MB";
  figure.note_label = "of what the chip has";
  figure.parts = {{"weights", "#08519c"},     {"gradients", "#6baed6"}, {"state", "#6a51a3"},
                  {"activations", "#74c476"}, {"work", "#fdae6b"},      {"code", "#7f7f7f"},
                  {"buffers", "#bdbdbd"}};
  for (const system::MemoryAccount& a : result.memory) {
    StackedBar bar;
    bar.label = result.phases.size() > 1 ? fmt::format("phase {} chip {}", a.phase, a.chip)
                                         : fmt::format("chip {}", a.chip);
    for (const std::uint64_t bytes :
         {a.weights, a.gradients, a.state, a.activations, a.working, a.code, a.buffers}) {
      bar.values.push_back(static_cast<double>(bytes) * 1e-6);
    }
    bar.note = fmt::format(
        "{:.0f} %", 100.0 * static_cast<double>(a.total()) / static_cast<double>(a.capacity));
    figure.bars.push_back(std::move(bar));
  }
  std::vector<Figure> figures;
  add_stacked(figure, figures);
  return figures.front();
}

}  // namespace

std::vector<Figure> system_figures(const SystemMachine& machine,
                                   const system::TrainingParams& training,
                                   const TrainingResult& result) {
  std::vector<Figure> figures = {pipeline_figure(machine, training, result)};
  figures.push_back(stack_figure(machine, training, result));
  if (!result.memory.empty()) figures.push_back(memory_figure(machine, training, result));
  return figures;
}

}  // namespace lacuna
