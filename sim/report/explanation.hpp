// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// A column of a table; the unit may be empty.
struct ExplainColumn {
  std::string name;
  std::string unit;
};

/// 100 times the share, with one decimal; empty if there is no whole.
std::string per_cent(double part, double whole);

/// Numbers beside each other: a cell for each column in every row, as text.
struct ExplainTable {
  std::string title;  // may be empty
  std::vector<ExplainColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// One step of an explanation: facts in order, then tables.
struct ExplainSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<ExplainTable> tables;

  void fact(std::string name, std::string text) {
    facts.emplace_back(std::move(name), std::move(text));
  }
};

/// A number for each unit (tile, core, link) of a rectangle, to be drawn as a map.
struct UnitMap {
  std::string name;      // of its files: letters, digits, '_'
  std::string title;     // of the figure
  std::string quantity;  // what is shown and its unit, such as "Busy cycles, % of all"
  std::size_t columns = 0;
  std::vector<double> values;  // row by row, from the top; NaN where there is no unit
};

/// Why an operation took as long as it did: filled by the machine, printed by --explain. Contents
/// are functions of the run alone and the same in both engines.
struct Explanation {
  std::vector<ExplainSection> sections;
  std::vector<UnitMap> maps;

  bool empty() const { return sections.empty() && maps.empty(); }

  /// Adds a section and returns it, valid until the next is added.
  ExplainSection& section(std::string title) {
    sections.push_back({std::move(title), {}, {}});
    return sections.back();
  }
};

}  // namespace lacuna
