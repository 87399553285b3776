// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"
#include "workloads/trace/trace_columns.hpp"

namespace lacuna {

/// One row of a trace, cell by cell. A cell that is not what it should be is noted as a problem
/// and read as if it were empty.
class RowCells {
 public:
  RowCells(TraceHeader& header, const CsvLine& line, Diagnostics& diagnostics)
      : header_(header), line_(line), diagnostics_(diagnostics) {}

  /// The text of a cell, empty where the file has no such column.
  std::string text(Column column) const;
  bool is_set(Column column) const { return !text(column).empty(); }

  /// Notes a problem at a cell, or at the beginning of the row if there is no such column.
  void fail(Column column, const std::string& code, const std::string& found,
            const std::string& allowed, const std::string& hint = "");

  /// Notes that the cell has to be empty with the operation `op`.
  void fail_with_op(Column column, const std::string& op);

  /// Adds a problem whose text is already made, as one in a pattern file.
  void fail_verbatim(Column column, const std::string& text);

  /// Notes that the cell must not be empty, or that its column is missing.
  void fail_empty(Column column, const std::string& allowed);

  /// True if a problem was noted at this row, or at this cell of it.
  bool failed() const { return !failed_.empty(); }
  bool failed(Column column) const;

  std::optional<std::uint64_t> integer(Column column, std::uint64_t least, std::uint64_t most);
  std::optional<Decimal> fraction(Column column);

  /// The place of the cell's word among `words`; empty if it is none of them.
  std::optional<std::size_t> word(Column column, const std::vector<std::string>& words);

  /// "key=value;key=value"; empty if one of them is not.
  std::optional<Pairs> pairs(Column column);

  /// True if pair `i` of these is of one of `keys`, and the first of its key; else that is noted.
  bool check_key(Column column, const Pairs& pairs, std::size_t i,
                 const std::vector<std::string>& keys);

  /// Notes that the value of a key is none of `words`, if it is.
  void check_word(Column column, const std::string& key, const std::string& value,
                  const std::vector<std::string>& words);

  /// Notes that the key is missing, if it is.
  void require_key(Column column, const Pairs& pairs, const std::string& key);

  /// The texts between the semicolons.
  std::vector<std::string> list(Column column) const;

  std::size_t line_number() const { return line_.number; }

 private:
  /// Where the cell begins; 1 where there is no such column.
  std::size_t begin_of(Column column) const;

  TraceHeader& header_;
  const CsvLine& line_;
  Diagnostics& diagnostics_;
  std::vector<Column> failed_;
};

}  // namespace lacuna
