// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

/// A table for a terminal: a title and a unit above each column, numbers to the right, words to
/// the left. A column whose cells are all empty is left out.
class TextTable {
 public:
  enum class Align { left, right };

  /// Whether a column is left out, and named below, where the table is wider than it may be. What
  /// a `told` one says is then said below, a line for the column.
  enum class Need { always, wide, told };

  /// How wide the tables of this process are to be, in letters; 0, as at first: as wide as they
  /// are. A table that is wider leaves out what need not be beside the rest, then breaks the lines
  /// of its last column of words, then goes on below itself, its first column repeated, and breaks
  /// the lines of what is too wide even so.
  static void fit(std::size_t letters);

  void column(std::string title, std::string unit, Align align = Align::right,
              Need need = Need::always);

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
    Need need = Need::always;
  };

  /// The width of each column; 0: nothing in it.
  std::vector<std::size_t> widths() const;

  /// Leaves out columns, as narrow tables do; lines that name them and tell what is to be told.
  std::string leave_out(std::vector<std::size_t>& widths) const;

  /// "TITLE: CELL; CELL (FIRST, SECOND)": each cell that is there, of which rows, by their first
  /// column, unless all rows that have one have the same.
  std::string told(std::size_t column) const;

  /// The widths of such a part, whose widest columns of words are broken if it is too wide.
  std::vector<std::size_t> narrowed(const std::vector<std::size_t>& columns,
                                    std::vector<std::size_t> widths) const;

  /// The columns that are side by side, a list for each part of the table.
  std::vector<std::vector<std::size_t>> parts(const std::vector<std::size_t>& widths) const;

  std::string part(const std::vector<std::size_t>& columns,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // no cells: a rule
};

/// `value` with four significant digits and no exponent if it is between 10^-3 and 10^7.
std::string four_digits(double value);

/// `value` times `factor` with four digits; nothing if there is none.
std::string number_cell(const std::optional<double>& value, double factor = 1);

/// "LOW to HIGH"; nothing if one of them is not there.
std::string range_cell(const std::optional<double>& low, const std::optional<double>& high,
                       double factor = 1);

}  // namespace lacuna
