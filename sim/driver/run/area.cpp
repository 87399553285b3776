// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/base/contains.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/config_table.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna {

std::uint64_t units_of(const Machine& machine) {
  const auto number = [&](const char* path) -> std::uint64_t {
    const ParamBase* const found = machine.parameters().find(path);
    return found == nullptr ? 0 : std::stoull(found->value_text());
  };
  return std::max(number("ipu.tiles"), number("wafer.columns") * number("wafer.rows"));
}

Areas::Areas(const std::filesystem::path& folder) {
  const std::filesystem::path chips = folder / "area_chips.csv";
  const ConfigTable table(chips, {"chip", "use", "mm2", "source"});
  const AreaTable areas = AreaTable::read_areas((folder / "area_table.csv").string());
  const std::vector<std::string> presets = preset_names();
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& use = table.text(row, "use");
    if (use != "scale" && use != "check") {
      throw refused("{}: use = '{}'; allowed: scale, check", chips.string(), use);
    }
    published_.push_back({table.text(row, "chip"), use == "scale", table.number(row, "mm2"),
                          table.text(row, "source")});
    if (use != "scale") continue;
    // a folder of one's own need not have this chip; then machines of its kind have no area
    if (!contains(presets, table.text(row, "chip"))) continue;
    const std::unique_ptr<Machine> chip = make_machine(standard_machines(), published_.back().chip);
    models_.emplace(chip->kind(), AreaModel(areas, {chip->silicon(), chip->energy().node,
                                                    published_.back().mm2}));
  }
}

std::optional<ChipArea> Areas::predicted(const Machine& machine) const {
  const auto model = models_.find(machine.kind());
  const Silicon silicon = machine.silicon();
  if (model == models_.end() || !silicon.known()) return std::nullopt;
  return model->second.area(silicon, machine.energy().node);
}

std::optional<UnitSilicon> Areas::unit(const Machine& machine) const {
  const std::optional<ChipArea> area = predicted(machine);
  if (!area) return std::nullopt;
  const Silicon silicon = machine.silicon();
  UnitSilicon unit{silicon.unit_sram_mb, area->mm2};
  for (const Corner corner : kCorners) {
    unit.mm2.at(corner) *= machine.energy().area_calibration / silicon.units;
  }
  return unit;
}

}  // namespace lacuna
