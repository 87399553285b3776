// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lacuna {

/// A table for a terminal: a title and a unit above each column, numbers to the right, words to
/// the left. A column whose cells are all empty is left out.
class TextTable {
 public:
  enum class Align { left, right };

  void column(std::string title, std::string unit, Align align = Align::right);

  /// One cell for each column.
  void row(std::vector<std::string> cells);

  /// A line between the rows above and below.
  void rule();

  std::string text() const;

  /// The same as a table of Markdown, units in brackets after the titles.
  std::string markdown() const;

 private:
  struct Column {
    std::string title;
    std::string unit;
    Align align;
  };

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // no cells: a rule
};

/// `value` with four significant digits and no exponent if it is between 10^-3 and 10^7.
std::string four_digits(double value);

}  // namespace lacuna
