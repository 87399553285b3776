// SPDX-License-Identifier: Apache-2.0
#include "models/energy/action_table.hpp"

#include <utility>

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

ActionTable::ActionTable(std::string name, std::vector<ActionRow> rows)
    : name_(std::move(name)), rows_(std::move(rows)) {}

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
