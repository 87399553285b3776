// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace/csv_lines.hpp"

namespace lacuna {

/// The keys of an object that is a whole line of JSON; none of another line.
std::vector<std::string> keys_of_json_line(std::string_view line);

/// Lines of JSON as a table: the keys of the first are its columns, and each other line has the
/// same. Cells are numbers and words as they are written; of lists and objects they are empty.
/// TraceError with the line where one is no object, or has other keys.
class JsonLines {
 public:
  JsonLines(std::string_view text, const std::string& path);

  const std::vector<std::string>& columns() const { return columns_; }

  /// Reads the next line that has any into `line`; false at the end.
  bool next_cells(CsvLine& line);

 private:
  TokenReader lines_;
  std::string path_;
  std::vector<std::string> columns_;
};

}  // namespace lacuna
