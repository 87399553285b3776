// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace/matrix/token_reader.hpp"

namespace lacuna {

/// One cell of a line.
struct CsvCell {
  std::string text;        // without surrounding blanks and quotes
  std::size_t column = 1;  // of its first byte, from 1
};

/// One line of a CSV file. Blank lines and comments have no cells.
struct CsvLine {
  enum class Kind { blank, comment, cells };

  Kind kind = Kind::blank;
  std::size_t number = 0;  // from 1
  std::string comment;     // the text of a comment
  std::vector<CsvCell> cells;
  std::size_t open_quote = 0;  // column of a quote that is not closed; 0 if all are
};

/// A tab if the first line with anything on it has tabs and no comma, else a comma.
char separator_of(std::string_view text);

/// Splits CSV text after RFC 4180 without line breaks in quotes. A line that begins with '#' is
/// a comment. The text is valid UTF-8 without NUL; a byte-order mark is skipped.
class CsvLines {
 public:
  /// Cells end at `separator`, a comma or a tab.
  explicit CsvLines(std::string_view text, char separator = ',');
  CsvLines(const CsvLines&) = delete;
  CsvLines& operator=(const CsvLines&) = delete;

  /// Reads the next line into `line`; false at the end.
  bool next(CsvLine& line);

  /// The same of the next line that has cells.
  bool next_cells(CsvLine& line) {
    while (next(line)) {
      if (line.kind == CsvLine::Kind::cells) return true;
    }
    return false;
  }

 private:
  char separator_;
  std::string text_;
  TokenReader lines_;
};

}  // namespace lacuna
