// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lacuna::test {

/// A row of a CSV text: its cells by the names of their columns, all of them as they are written.
using CsvRow = std::map<std::string, std::string>;

/// A CSV text whose first line names the columns, behind comments (`#`) if it has any. Cells may be
/// quoted; blanks before a cell are no part of it; cells that a row leaves out at its end are
/// empty. A column or a row that is not there ends the test with an exception that names it.
class CsvTable {
 public:
  explicit CsvTable(const std::string& text);

  const std::vector<CsvRow>& rows() const& { return rows_; }
  std::vector<CsvRow> rows() && { return std::move(rows_); }  // for a loop over a temporary

  /// The rows that have all of these cells.
  CsvTable where(const CsvRow& cells) const;

  /// The cells of a column, from the first row to the last.
  std::vector<std::string> column(const std::string& name) const;

  /// The cell of the only row.
  std::string cell(const std::string& name) const;

  /// The number in that cell.
  double number(const std::string& name) const;

 private:
  const std::string& cell_of(const CsvRow& row, const std::string& name) const;
  std::string head() const;

  std::vector<std::string> names_;
  std::vector<CsvRow> rows_;
};

}  // namespace lacuna::test
