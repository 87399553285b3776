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
  RowCells(TraceHeader& header, const CsvLine& line, const std::string& path, ProblemList& problems)
      : header_(header), line_(line), path_(path), problems_(problems) {}

  /// The text of a cell, empty where the file has no such column.
  std::string text(Column column) const;
  bool is_set(Column column) const { return !text(column).empty(); }

  /// Notes a problem at a cell, or at the beginning of the row if there is no such column.
  void fail(Column column, const std::string& code, const std::string& found,
            const std::string& allowed, const std::string& hint = "");

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

  /// "b" or "RxC", each at least 1.
  struct Block {
    std::uint32_t rows = 1;
    std::uint32_t cols = 1;
  };
  std::optional<Block> block(Column column);

  /// The texts between the semicolons.
  std::vector<std::string> list(Column column) const;

  std::size_t line_number() const { return line_.number; }

 private:
  TraceHeader& header_;
  const CsvLine& line_;
  const std::string& path_;
  ProblemList& problems_;
  std::vector<Column> failed_;
};

}  // namespace lacuna
