// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/energy/energy_params.hpp"
#include "models/energy/energy_table.hpp"
#include "sim/base/silicon.hpp"

namespace lacuna {

/// What one elementary block takes, in um2, by process node: a table of the columns of the table of
/// energies, with `block` in place of `event`.
using AreaTable = EnergyTable;

/// A chip whose published area scales the model of its kind of machine.
struct AreaReference {
  Silicon silicon;
  Node node = Node::n7;
  double mm2 = 0;
};

/// What a block takes of a whole chip, as scaled.
struct AreaPart {
  std::string block;
  double count = 0;
  EnergyRange mm2;
};

/// The area of a chip. Low and high: the least and the most that it becomes with the estimate of
/// one block moved alone to its low or to its high, and the model scaled anew.
struct ChipArea {
  EnergyRange mm2;
  double scale = 1;
  std::vector<AreaPart> parts;  // in the order of the table
};

/// The areas of chips of one kind from what they are made of. One factor on all blocks, the same
/// for a kind, stands for what blocks do not say (wiring, power, test, spares, the edge). It gives
/// the reference its published area, so the reference itself has no range.
class AreaModel {
 public:
  /// RequestError if the reference has a block that the table does not have.
  AreaModel(AreaTable table, AreaReference reference);

  /// RequestError if `silicon` has a block that the table does not have.
  ChipArea area(const Silicon& silicon, Node node) const;

  const AreaTable& table() const { return table_; }

 private:
  struct Moved {
    const EnergyRow* row;  // null: none
    Corner corner;
  };

  double um2(const SiliconBlock& block, Node node, const Moved& moved) const;
  double raw_mm2(const Silicon& silicon, Node node, const Moved& moved) const;
  double scaled(const Silicon& silicon, Node node, const Moved& moved) const;

  AreaTable table_;
  AreaReference reference_;
};

}  // namespace lacuna
