// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/config_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/driver/files/locations.hpp"
#include "workloads/trace/csv_lines.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 22U;

}  // namespace

ConfigTable::ConfigTable(const std::filesystem::path& path, std::vector<std::string> columns)
    : path_(path.string()), columns_(std::move(columns)) {
  CsvLines lines(read_words(path, kLargestFile));
  bool head = true;
  for (CsvLine line; lines.next(line);) {
    if (line.kind != CsvLine::Kind::cells) continue;
    Row row{line.number, {}};
    for (const CsvCell& cell : line.cells) row.cells.push_back(cell.text);
    const bool wrong = head ? row.cells != columns_ : row.cells.size() != columns_.size();
    if (wrong) {
      throw RequestError(fmt::format("{}:{}: found {} cells; allowed: {}{}", path_, line.number,
                                     row.cells.size(), head ? "the columns " : "those of ",
                                     fmt::join(columns_, ",")));
    }
    if (!head) rows_.push_back(std::move(row));
    head = false;
  }
}

const std::string& ConfigTable::text(std::size_t row, const char* column) const {
  return cells(row).at(place_in(columns_, column).value());
}

double ConfigTable::number(std::size_t row, const char* column) const {
  if (const auto value = parsed_number<double>(text(row, column))) return *value;
  throw RequestError(fmt::format("{}:{}: {} = '{}' is not a number", path_, rows_[row].line, column,
                                 text(row, column)));
}

std::uint64_t ConfigTable::count(std::size_t row, const char* column) const {
  if (const auto value = parsed_number<std::uint64_t>(text(row, column))) return *value;
  throw RequestError(fmt::format("{}:{}: {} = '{}' is not a whole number", path_, rows_[row].line,
                                 column, text(row, column)));
}

}  // namespace lacuna
