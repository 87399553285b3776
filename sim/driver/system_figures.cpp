// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/driver/system_report.hpp"
#include "sim/report/figure_stacked.hpp"

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
  return {stack_figure(machine, training, result), memory_figure(machine, training, result)};
}

}  // namespace lacuna
