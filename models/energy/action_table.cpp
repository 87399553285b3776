// SPDX-License-Identifier: Apache-2.0
#include "models/energy/action_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

bool serves(const ActionRow& row, const std::string& machine) {
  return row.machine == "any" || row.machine == machine;
}

}  // namespace

const char* component_name(Component component) {
  switch (component) {
    case Component::mac:
      return "mac";
    case Component::vector:
      return "vector";
    case Component::sram:
      return "sram";
    case Component::issue:
      return "issue";
    case Component::metadata:
      return "metadata";
    case Component::fabric:
      return "fabric";
    case Component::clock:
      return "clock";
    case Component::clock_tree:
      return "clock_tree";
    case Component::idle_clock:
      return "idle_clock";
    case Component::leakage:
      return "leakage";
    case Component::off_chip:
      return "off_chip";
  }
  return "?";
}

UnitCycle UnitEnergy::peak_cycle(const EnergyParams& params) const {
  UnitCycle cycle = busiest;
  for (auto& [action, count] : cycle) {
    const bool peak = std::find(of_peak.begin(), of_peak.end(), action) != of_peak.end();
    if (peak) count = params.peak_macs;
  }
  return cycle;
}

ActionTable::ActionTable(std::string name, std::vector<ActionRow> rows,
                         std::vector<UnitEnergy> units)
    : name_(std::move(name)), rows_(std::move(rows)), units_(std::move(units)) {
  for (const ActionRow& row : rows_) {
    if (row.machine != "any") unit(row.machine);
  }
}

const UnitEnergy& ActionTable::unit(const std::string& machine) const {
  std::vector<std::string> names;
  for (const UnitEnergy& each : units_) {
    if (each.machine == machine) return each;
    names.push_back(each.machine);
  }
  throw RequestError(
      fmt::format("{}: no unit of a machine '{}' has a row in energy_units.csv; it has {}", name_,
                  machine, fmt::join(names, ", ")));
}

std::vector<const ActionRow*> ActionTable::find(const std::string& machine,
                                                const std::string& action) const {
  std::vector<const ActionRow*> found;
  for (const ActionRow& row : rows_) {
    if (serves(row, machine) && row.action == action) found.push_back(&row);
  }
  return found;
}

std::string ActionTable::hint_for(const std::string& machine, const std::string& action) const {
  std::vector<std::string> names;
  for (const ActionRow& row : rows_) {
    if (serves(row, machine)) names.push_back(row.action);
  }
  return hint_of(action, names);
}

}  // namespace lacuna
