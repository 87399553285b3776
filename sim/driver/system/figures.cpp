// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/driver/system/pictures.hpp"
#include "sim/driver/system/report.hpp"

namespace lacuna {

using system::kUses;
using system::Use;

namespace {

std::vector<Coloured> coloured_uses() {
  const std::array<const char*, kUses> colours = {
      "#1f77b4", "#9ecae1", "#08519c", "#6a51a3", "#74c476", "#e6550d", "#fdae6b",
      "#d62728", "#8c564b", "#7f7f7f", "#bdbdbd", "#e0e0e0", "#f5f5f5"};
  std::vector<Coloured> all;
  for (std::size_t i = 0; i < kUses; ++i) {
    all.emplace_back(use_name(static_cast<Use>(i)), colours.at(i));
  }
  return all;
}

Figure stack_figure(const std::string& title, std::size_t chips, const TrainingResult& result) {
  std::vector<std::vector<std::uint64_t>> ns;
  for (std::size_t chip = 0; chip < chips; ++chip) {
    const system::TimeStack& stack = result.run.chips[chip];
    ns.emplace_back(stack.begin(), stack.end());
  }
  return time_figure({title, "where the time of the chips of a replica goes"}, coloured_uses(), ns);
}

/// A row of bars for each chip.
Figure pipeline_figure(const std::string& title, std::size_t chips,
                       const system::TrainingParams& training, const TrainingResult& result) {
  SpanPicture picture;
  picture.title = {title, "chips of a replica; of equal steps the first two"};
  picture.track = "chip";
  for (std::size_t chip = 0; chip < chips; ++chip) {
    picture.tracks.push_back(fmt::format("chip {}", chip));
  }
  picture.kinds = coloured_uses();
  for (const PipelineBar& bar : pipeline_bars(training, result)) {
    picture.bars.push_back({bar.chip, static_cast<std::size_t>(bar.use), bar.from, bar.to});
  }
  return span_figure(picture);
}

Figure memory_figure(const std::string& title, const TrainingResult& result) {
  const std::vector<Coloured> parts = {{"weights", "#08519c"}, {"gradients", "#6baed6"},
                                       {"state", "#6a51a3"},   {"activations", "#74c476"},
                                       {"work", "#fdae6b"},    {"code", "#7f7f7f"},
                                       {"buffers", "#bdbdbd"}};
  std::vector<std::pair<std::string, MemoryOfPlace>> places;
  for (const MemoryOfPlace& place : memory_places(result)) {
    const std::string label = result.phases.size() > 1
                                  ? fmt::format("phase {} chip {}", place.phase, place.place)
                                  : fmt::format("chip {}", place.place);
    places.emplace_back(label, place);
  }
  return places_figure({title, "memory of the chips of a replica"}, parts, places);
}

}  // namespace

std::vector<Figure> system_figures(const SystemMachine& machine,
                                   const system::TrainingParams& training,
                                   const TrainingResult& result) {
  const std::string title = fmt::format("{}, {}", machine.name, training.model.value());
  const std::size_t chips = std::size_t{training.pipeline} * training.tensor;
  std::vector<Figure> figures = {pipeline_figure(title, chips, training, result),
                                 stack_figure(title, chips, result)};
  if (!result.memory.chips.empty()) figures.push_back(memory_figure(title, result));
  return figures;
}

}  // namespace lacuna
