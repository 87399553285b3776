// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lacuna {

/// One thing that can be chosen of how an operation lies on a machine.
struct LayoutChoice {
  std::string key;                  // a parameter of the machine, or `residency`, a word of the row
  std::vector<std::string> values;  // that a search tries, beside the machine's own
  std::string when;                 // where it makes a difference, a condition; empty: everywhere
  std::string memory;               // what it takes of a tile or a core

  /// Where it puts operands or results, as far as the rows before and after see it, by value: where
  /// rows that follow each other differ in that, something moves. Empty: they see nothing of it.
  std::vector<std::string> seen_as = {};

  /// A value that is more to simulate than others: rows of a trace try it after all of them.
  std::string tried_last = {};
};

/// What can be chosen for a kind of operation. A point is a value of each choice; one whose
/// condition does not hold stays what the machine has.
struct LayoutSpace {
  std::string kind;  // of operations, such as "static sparse product"
  std::vector<LayoutChoice> choices;
  std::vector<std::string> by_rule = {};  // keys beside, of the machine's rule and its climb
  std::vector<std::string> where = {};  // conditions that all points fulfil, over keys and m, k, n

  /// What the machine can do and no search tries, and why.
  struct LeftOut {
    std::string what;
    std::string why;
  };
  std::vector<LeftOut> left_out = {};
};

}  // namespace lacuna
