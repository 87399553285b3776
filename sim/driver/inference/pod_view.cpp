// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/driver/inference/pod_model.hpp"
#include "sim/driver/run/unit_view.hpp"
#include "sim/driver/system/chip_view.hpp"

namespace lacuna {

namespace {

/// "layers 0 to 11" or "no layer".
std::string layers_text(unsigned first, unsigned count) {
  if (count == 0) return "no layer";
  if (count == 1) return fmt::format("layer {}", first);
  return fmt::format("layers {} to {}", first, first + count - 1);
}

/// What the fullest tile of each chip holds, of a stage.
void add_memory(const PodPass& pass, UnitSeries& series) {
  const auto add = [&](const char* name, const char* doc, system::Held what) {
    std::vector<std::uint64_t> bytes;
    for (const system::MemoryAccount& stage : pass.memory) {
      bytes.insert(bytes.end(), series.columns, stage.use.of(what));
    }
    add_bytes(name, doc, std::move(bytes), series);
  };
  add("weights", "Weights that the fullest tile of the chip keeps.", system::Held::weights);
  add("cache", "Keys and values that the fullest tile of the chip keeps.", system::Held::cache);
  unsigned first = 0;
  for (std::size_t stage = 0; stage < pass.cut.layers.size(); ++stage) {
    const unsigned count = pass.cut.layers[stage];
    series.row_notes.push_back(fmt::format("stage {}: {}", stage, layers_text(first, count)));
    first += count;
  }
}

}  // namespace

/// The chips over time, and each distinct row on the tiles of one of them.
void PodModel::add_pages(const PodPass& pass, const PassRequest& request) {
  const std::string on = fmt::format("{} on {}: ", setup_.model.name, place());
  std::vector<std::uint32_t> places;
  for (std::uint32_t chip = 0; chip < pass.cut.chips(); ++chip) {
    places.push_back(chip / pass.cut.tensor);
  }
  UnitSeries chips = chip_series(pass.program, pass.run, pass.cut.tensor,
                                 static_cast<std::uint32_t>(pass.cut.layers.size()), places);
  add_memory(pass, chips);
  pages_->push_back(chips_page(on + "the chips that have a part of the model", pass.run.ns, chips));
  const SeenRow add = [&](const std::string& title, const OpResult& result) {
    pages_->push_back(packed_view(chips_.chip(), setup_.pricing, on + title, result));
  };
  see_rows(kinds_, request, pass.cut.tensor, chips_.chip(), setup_.times, add);
}

}  // namespace lacuna
