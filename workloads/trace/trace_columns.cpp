// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_columns.hpp"

#include <fmt/format.h>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {

const std::array<const char*, kColumns>& column_names() {
  static const std::array<const char*, kColumns> kNames = {"id",
                                                           "op",
                                                           "model",
                                                           "layer",
                                                           "phase",
                                                           "m",
                                                           "k",
                                                           "n",
                                                           "batch",
                                                           "repeat",
                                                           "dtype",
                                                           "partials",
                                                           "mode",
                                                           "residency",
                                                           "pattern",
                                                           "density",
                                                           "block",
                                                           "pattern_file",
                                                           "seed",
                                                           "pattern_args",
                                                           "x_pattern",
                                                           "x_density",
                                                           "x_pattern_file",
                                                           "fn",
                                                           "args",
                                                           "stage",
                                                           "depends_on",
                                                           "note"};
  return kNames;
}

const char* name_of(Column column) { return column_names().at(static_cast<std::size_t>(column)); }

TraceHeader::TraceHeader(const CsvLine& line, Diagnostics& diagnostics)
    : width_(line.cells.size()) {
  places_.fill(-1);
  const std::vector<std::string> names(column_names().begin(), column_names().end());
  const auto fail = [&](std::size_t column, const char* code, const std::string& found,
                        const std::string& allowed, const std::string& hint = "") {
    diagnostics.add(line.number, column, code, found, allowed, found, hint);
  };
  const std::string& first = line.cells.front().text;
  const std::size_t other = first.find_first_of(";\t");
  if (line.cells.size() == 1 && other != std::string::npos) {
    report_missing(Column::id);
    report_missing(Column::op);
    fail(1, "E102", first,
         fmt::format("commas between the columns, not {}", first[other] == ';' ? "';'" : "tabs"));
    return;
  }
  for (std::size_t i = 0; i < line.cells.size(); ++i) {
    const CsvCell& cell = line.cells[i];
    const auto name = place_in(names, cell.text);
    if (!name) {
      fail(cell.column, "E102", cell.text, listed(names), nearest(cell.text, names));
      continue;
    }
    int& column = places_.at(*name);
    if (column >= 0) fail(cell.column, "E103", cell.text, "each column once");
    if (column < 0) column = static_cast<int>(i);
  }
  for (const Column required : {Column::id, Column::op}) {
    if (has(required)) continue;
    report_missing(required);
    diagnostics.add(line.number, 1, "E101", "no such column",
                    fmt::format("a header with the column '{}'", name_of(required)),
                    name_of(required));
  }
}

const CsvCell* TraceHeader::find(const CsvLine& line, Column column) const {
  const int at = places_.at(static_cast<std::size_t>(column));
  if (at < 0 || static_cast<std::size_t>(at) >= line.cells.size()) return nullptr;
  return &line.cells[static_cast<std::size_t>(at)];
}

bool TraceHeader::report_missing(Column column) {
  bool& reported = reported_.at(static_cast<std::size_t>(column));
  const bool first = !reported;
  reported = true;
  return first;
}

}  // namespace lacuna
