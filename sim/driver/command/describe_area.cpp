// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/area.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

using Align = TextTable::Align;

struct Chip {
  std::string name;
  std::unique_ptr<Machine> machine;
  ChipArea area;
};

std::vector<Chip> chips_of(const Areas& areas, const MachineTable& kinds, const Options& options) {
  std::vector<Chip> chips;
  const bool named = !options.machines.empty();
  for (const std::string& name : named ? options.machines : preset_names()) {
    Chip chip{name, make_machine(kinds, name), {}};
    const std::optional<ChipArea> area = areas.predicted(*chip.machine);
    if (!area) continue;
    chip.area = *area;
    chips.push_back(std::move(chip));
  }
  return chips;
}

TextTable errors_table(const Areas& areas, const std::vector<Chip>& chips) {
  TextTable table({"chip<", "published|mm2", "model|mm2", "error|%", "least to most|mm2<",
                   "calibration|factor", "used|mm2", "what the published area is for<"});
  for (const Chip& chip : chips) {
    const auto* const published = find_where(
        areas.published(), [&](const PublishedArea& each) { return each.chip == chip.name; });
    const bool known = published != nullptr;
    const EnergyRange& mm2 = chip.area.mm2;
    const double calibration = chip.machine->energy().area_calibration;
    table.row({chip.name, known ? four_digits(published->mm2) : "", four_digits(mm2.nominal),
               known ? fmt::format("{:+.1f}", 100 * (mm2.nominal / published->mm2 - 1)) : "",
               fmt::format("{} to {}", four_digits(mm2.low), four_digits(mm2.high)),
               fmt::format("{}", calibration), four_digits(mm2.nominal * calibration),
               !known              ? ""
               : published->scales ? "scales its kind; " + published->source
                                   : "checks it; " + published->source});
  }
  return table;
}

TextTable parts_table(const std::vector<Chip>& chips) {
  TextTable table({"block<"});
  for (const Chip& chip : chips) table.column(chip.name, "mm2");
  std::vector<std::string> blocks;
  for (const Chip& chip : chips) {
    for (const AreaPart& part : chip.area.parts) {
      place_or_add(blocks, part.block);
    }
  }
  for (const std::string& block : blocks) {
    std::vector<std::string> cells = {block};
    for (const Chip& chip : chips) {
      const auto* const part =
          find_where(chip.area.parts, [&](const AreaPart& each) { return each.block == block; });
      cells.push_back(part == nullptr ? "" : four_digits(part->mm2.nominal));
    }
    table.row(std::move(cells));
  }
  return table;
}

TextTable sources_table(const AreaTable& areas) {
  TextTable table({"block<", "unit<"});
  for (const char* const corner : {"low", "nominal", "high"}) table.column(corner, "7 nm");
  table.column("mark", "", Align::left);
  table.column("source", "", Align::left);
  for (const EnergyRow& row : areas.rows()) {
    const EnergyRange& um2 = row.price(Node::n7);
    table.row(as_cells(row.event, row.unit, um2.low, um2.nominal, um2.high, row.mark, row.source));
  }
  return table;
}

}  // namespace

TextPage area_page(const MachineTable& kinds, const Options& options) {
  const Areas areas(config_folder());
  const std::vector<Chip> chips = chips_of(areas, kinds, options);
  TextPage page;
  page.heading("Silicon of whole chips").table(errors_table(areas, chips));
  page.heading("By block, as scaled, before the chip's calibration").table(parts_table(chips));
  page.heading(
      "What a block takes (R: inferred from a published number, as said; A: inferred, assumed; F: "
      "fitted)");
  page.table(sources_table(AreaTable::read_areas((config_folder() / "area_table.csv").string())));
  return page;
}

}  // namespace lacuna
