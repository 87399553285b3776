// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "models/energy/energy_params.hpp"
#include "sim/base/energy_range.hpp"

namespace lacuna {

/// What one elementary event costs, in the unit the row names.
struct EnergyRow {
  std::string event;
  std::string unit;
  std::string scaling;  // logic, sram, wire, leak, io or none: how the price follows the node
  std::array<EnergyRange, 3> nodes;  // by Node
  std::string mark;
  std::string source;

  const EnergyRange& price(Node node) const { return nodes.at(static_cast<std::size_t>(node)); }
};

/// The prices of elementary events, per process node, each row with its source.
class EnergyTable {
 public:
  explicit EnergyTable(std::string name, std::vector<EnergyRow> rows);

  /// Reads a CSV file. RequestError names file, line, what was found and what is allowed.
  static EnergyTable read(const std::string& path);

  /// A table of the areas of blocks: the same columns but for the first, which is `block`.
  static EnergyTable read_areas(const std::string& path);

  /// A user's table: its rows in place of those of `shipped`. An event that `shipped` does not
  /// have is an error; those the user's table does not have come from `shipped` and are listed
  /// by taken_from_shipped().
  static EnergyTable read_over(const std::string& path, const EnergyTable& shipped);

  /// This table with the prices of a set. The CSV file has the column `event` and one for each
  /// member of the set, with factors on the nominal prices; the first member is the nominal one.
  /// Low and high of an event become those of the members. Energies range over members, not over
  /// all low and all high. RequestError names file, line and what is allowed.
  EnergyTable with_set(const std::string& path) const;

  /// The members of that set: of each, a factor on the nominal price of each row. Empty: none.
  const std::vector<std::vector<double>>& members() const { return members_; }

  /// This table with the price of one event replaced by its own low, nominal or high, at every
  /// corner and node; for finding what a statement rests on.
  EnergyTable with_fixed(const std::string& event, Corner corner) const;

  /// The row of an event, or nothing.
  const EnergyRow* find(const std::string& event) const;

  const std::string& name() const { return name_; }
  const std::vector<EnergyRow>& rows() const { return rows_; }

  /// All prices and members: two tables of the same text price alike.
  std::string text() const;
  const std::vector<std::string>& taken_from_shipped() const { return taken_from_shipped_; }

 private:
  std::string name_;  // of the file, for messages
  std::vector<EnergyRow> rows_;
  std::vector<std::string> taken_from_shipped_;
  std::vector<std::vector<double>> members_;
};

}  // namespace lacuna
