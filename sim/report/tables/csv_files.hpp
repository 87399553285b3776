// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// One line of CSV after RFC 4180, with LF: a cell is quoted if it has to be.
std::string csv_line(const std::vector<std::string>& cells);

/// A cell as text, a number as the shortest that reads back as the same; empty if there is none.
template <class Cell>
std::string cell_text(const Cell& cell) {
  return fmt::format("{}", cell);
}
template <class Cell>
std::string cell_text(const std::optional<Cell>& cell) {
  return cell ? fmt::format("{}", *cell) : "";
}

/// The same for a place of an image, which gnuplot leaves white where there is none.
inline std::string pixel_text(const std::optional<double>& value) {
  return value ? cell_text(value) : "NaN";
}

/// Cells as text, and a line of them.
template <class... Cells>
std::vector<std::string> as_cells(const Cells&... cells) {
  return {cell_text(cells)...};
}
template <class... Cells>
std::string csv_row(const Cells&... cells) {
  return csv_line(as_cells(cells...));
}

/// The texts of the CSV files of a result folder.
std::string summary_csv(const Runs& records);
std::string statistics_csv(const Runs& records);

/// `run,op_id,units,cycles,layer,kind,unit_cycles`: units x cycles is the sum of unit_cycles over
/// the rows of an operation, exactly.
std::string cycle_stack_csv(const Runs& records);

/// `run,op_id,cycle,unit,kind,argument`, of one execution of each operation.
std::string events_csv(const Runs& records);

/// The cells of a CSV text, its heading first; whether one is a number.
std::vector<std::vector<std::string>> csv_rows(const std::string& csv);
bool is_number(const std::string& cell);

/// A CSV text as a table for a terminal, numbers with four digits; nothing if it has no row.
std::string csv_as_text(const std::string& csv);

}  // namespace lacuna
