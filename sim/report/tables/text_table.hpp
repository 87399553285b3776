// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

/// A table for a terminal: a title and a unit above each column, numbers to the right, words to
/// the left. A column whose cells are all empty is left out.
class TextTable {
 public:
  enum class Align { left, right };

  /// Whether a column is left out, and named below, where the table is wider than it may be:
  /// first the `wide` ones, then the `spare` ones, from the right.
  enum class Need { always, spare, wide };

  /// How wide the tables of this process are to be, in letters; 0, as at first: as wide as they
  /// are. A wider table first leaves out its spare columns. Then it breaks the lines of its last
  /// column of words. Then it goes on below itself, its first column repeated, and breaks what is
  /// too wide even so.
  static void fit(std::size_t letters);
  static std::size_t width();

  TextTable() = default;

  /// Columns as "TITLE|UNIT", or "TITLE" without a unit; those of words end in '<'.
  explicit TextTable(std::initializer_list<std::string> columns);

  void column(std::string title, std::string unit, Align align = Align::right,
              Need need = Need::always);

  /// One cell for each column.
  void row(std::vector<std::string> cells);

  /// A line between the rows above and below.
  void rule();

  bool empty() const { return rows_.empty(); }

  /// `names_left_out`: what is left out is named in a line below.
  std::string text(bool names_left_out = true) const;

  /// The same as a table of Markdown, units in brackets after the titles.
  std::string markdown() const;

  /// Titles with their units in brackets, and whether a column is one of numbers.
  std::vector<std::string> titles() const;
  bool has_numbers(std::size_t column) const { return columns_[column].align == Align::right; }

  /// The cells of each row; none of a rule.
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  struct Column {
    std::string title;
    std::string unit;
    Align align;
    Need need = Need::always;
  };

  /// The width of each column; 0: nothing in it.
  std::vector<std::size_t> widths() const;

  /// Leaves out columns, as narrow tables do; a line that names them.
  std::string leave_out(std::vector<std::size_t>& widths) const;

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

/// Lines of at most `width` letters, broken between words, and in those that are longer.
std::vector<std::string> lines_of_words(const std::string& text, std::size_t width);

/// A text as lines of at most TextTable::width() letters, broken between words.
std::string wrapped(const std::string& text);

/// A share as per cent with one decimal.
std::string percent_text(double share);

/// `value` with four significant digits and no exponent if it is between 10^-3 and 10^7.
std::string four_digits(double value);

/// `value` times `factor` with four digits; nothing if there is none.
std::string number_cell(const std::optional<double>& value, double factor = 1);

/// "LOW to HIGH"; nothing if one of them is not there.
std::string range_cell(const std::optional<double>& low, const std::optional<double>& high,
                       double factor = 1);

}  // namespace lacuna
