// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/energy/energy_params.hpp"

namespace lacuna {

/// The parts into which a breakdown divides the energy of a run, in the order they are summed.
/// `clock_tree`, `idle_clock` and `leakage` are standing power, drawn whatever is done; those
/// before them come with activity.
enum class Component {
  mac,
  vector,
  sram,
  issue,
  metadata,
  fabric,
  clock,
  clock_tree,
  idle_clock,
  leakage,
  off_chip
};

constexpr unsigned kComponents = 11;

/// Whether a component is drawn whatever is done.
constexpr bool is_standing(Component component) {
  return component == Component::clock_tree || component == Component::idle_clock ||
         component == Component::leakage;
}

/// The word for a component in results.
const char* component_name(Component component);

/// One event of which an action consists: so many of it, times a length of the chip if it says so.
struct ActionRow {
  std::string machine;  // a kind of machine, or "any"
  std::string action;
  Component component;
  std::string counts;  // what one count of the action is, for the reader
  std::string event;
  double multiplicity;
  bool times_distance;  // multiplied by EnergyParams::distance_mm

  double events(const EnergyParams& params) const {
    return times_distance ? multiplicity * params.distance_mm : multiplicity;
  }
};

/// Actions and their number in a cycle of a unit.
using UnitCycle = std::vector<std::pair<std::string, double>>;

/// What a tile, core or other unit of a kind of machine draws whatever its counters say.
struct UnitEnergy {
  std::string machine;
  std::string clock_tree;            // the event that is a cycle of its clock tree
  bool exchange_busy = false;        // in exchange its datapath works, and does not idle
  UnitCycle busiest;                 // the cycle that the published peak power is compared with,
  std::vector<std::string> of_peak;  // and actions of it of which there are EnergyParams::peak_macs

  UnitCycle peak_cycle(const EnergyParams& params) const;
};

/// Of which elementary events one counted action consists, per kind of machine.
class ActionTable {
 public:
  /// RequestError if a row is of a machine that has no unit.
  ActionTable(std::string name, std::vector<ActionRow> rows, std::vector<UnitEnergy> units);

  /// Reads a CSV file, and energy_units.csv beside it. RequestError names file, line, what was
  /// found and what is allowed.
  static ActionTable read(const std::string& path);

  /// RequestError if there is none.
  const UnitEnergy& unit(const std::string& machine) const;

  /// The rows of an action on a machine, those for any machine included, in order of the file.
  std::vector<const ActionRow*> find(const std::string& machine, const std::string& action) const;

  /// The action's name nearest to `action` on that machine.
  std::string hint_for(const std::string& machine, const std::string& action) const;

  const std::string& name() const { return name_; }
  const std::vector<ActionRow>& rows() const { return rows_; }

 private:
  std::string name_;  // of the file, for messages
  std::vector<ActionRow> rows_;
  std::vector<UnitEnergy> units_;
};

}  // namespace lacuna
