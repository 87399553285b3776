// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lacuna {

/// One thing that can be chosen of how an operation lies on a machine.
struct LayoutChoice {
  /// What the rows before and after see of it: nothing; where operands and results lie, so that
  /// what is taken elsewhere moves; or all rows have the same.
  enum class Seen { no, moves, same };

  std::string key;                  // a parameter of the machine, or `residency`, a word of the row
  std::vector<std::string> values;  // that a climb tries; none: those of the machine's rule
  std::string memory;               // what it takes of a tile or a core
  Seen seen = Seen::no;
};

/// What can be chosen for a kind of operation. A layout has values of some; what it does not name
/// is as the machine has it.
struct LayoutSpace {
  std::string kind;  // of operations, such as "static sparse product"
  std::vector<LayoutChoice> choices;

  std::string left_out = {};  // what the machine can do and no climb tries, and why
};

}  // namespace lacuna
