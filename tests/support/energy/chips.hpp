// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/energy/energy_model.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {

inline std::string config_file(const std::string& name) {
  return source_path("sim/config/" + name);
}

inline EnergyTable shipped_prices() { return EnergyTable::read(config_file("energy_table.csv")); }
inline ActionTable shipped_actions() {
  return ActionTable::read(config_file("energy_actions.csv"));
}

/// A chip as pricing sees it, with calibration 1.
struct Chip {
  std::string name;
  std::string machine;
  double clock_ghz;
  EnergyParams params;
  double sram_mb;   // of the whole chip
  double area_mm2;  // likewise

  /// Silicon of one unit, in place.
  void add_silicon(EnergyInput& input) const {
    input.unit_sram_mb = sram_mb / params.chip_units;
    input.unit_mm2 = area_mm2 / params.chip_units;
  }
};

inline Chip chip(const char* name, const char* machine, double clock_ghz, Node node, double units,
                 double sram_mb, double area_mm2, double vdd_squared, double distance_mm,
                 double peak_macs) {
  Chip made{name, machine, clock_ghz, {}, sram_mb, area_mm2};
  made.params.node = node;
  made.params.chip_units = units;
  made.params.vdd_squared = vdd_squared;
  made.params.distance_mm = distance_mm;
  made.params.peak_macs = peak_macs;
  return made;
}

inline Chip gc2() { return chip("gc2", "ipu", 1.6, Node::n16, 1216, 318.8, 815, 1, 17.1, 32); }
inline Chip gc200() { return chip("gc200", "ipu", 1.325, Node::n7, 1472, 940.6, 823, 1, 17.2, 64); }
inline Chip bow() { return chip("bow", "ipu", 1.85, Node::n7, 1472, 940.6, 823, 0.93, 17.2, 64); }
inline Chip c600() { return chip("c600", "ipu", 1.5, Node::n7, 1472, 940.6, 823, 1, 17.2, 64); }
inline Chip wse1() {
  return chip("wse1", "wse", 0.94, Node::n16, 400000, 18000, 46225, 1, 0.33, 4);
}
inline Chip wse2() { return chip("wse2", "wse", 1.1, Node::n7, 850000, 40000, 46225, 1, 0.233, 4); }
inline Chip wse3() { return chip("wse3", "wse", 1.1, Node::n5, 900000, 44000, 46225, 1, 0.227, 8); }

inline StatEntry counted(const std::string& name, const std::string& action, std::uint64_t value) {
  StatEntry entry;
  entry.path = "unit";
  entry.name = name;
  entry.unit = "events";
  entry.doc = "Made up.";
  entry.action = action;
  entry.value = value;
  return entry;
}

inline EnergyModel model_of(const Chip& chip) {
  return {shipped_prices(), shipped_actions(), chip.machine, chip.params};
}

/// Every unit of the chip in its busiest cycle, `cycles` (a multiple of 4) long.
inline EnergyResult at_peak(const Chip& chip, Cycle cycles = 4000) {
  EnergyInput input;
  input.cycles = cycles;
  input.clock_ghz = chip.clock_ghz;
  input.units = static_cast<std::uint64_t>(chip.params.chip_units);
  chip.add_silicon(input);
  std::vector<StatEntry> counters;
  for (const auto& [action, per_cycle] :
       shipped_actions().unit(chip.machine).peak_cycle(chip.params)) {
    const double count = per_cycle * static_cast<double>(cycles * input.units);
    counters.push_back(counted(action, action, static_cast<std::uint64_t>(count)));
  }
  return model_of(chip).price(counters, input);
}

}  // namespace lacuna::test
