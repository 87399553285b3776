// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/nearest.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    parts.emplace_back(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::string RowCells::text(Column column) const {
  const CsvCell* cell = header_.find(line_, column);
  return cell == nullptr ? std::string() : cell->text;
}

void RowCells::fail(Column column, const std::string& code, const std::string& found,
                    const std::string& allowed, const std::string& hint) {
  const CsvCell* cell = header_.find(line_, column);
  const std::size_t at = cell == nullptr ? 1 : cell->column;
  problems_.add({place(path_, line_.number, at), code, name_of(column), found, allowed, hint,
                 line_.number, at});
  failed_.push_back(column);
}

void RowCells::fail_verbatim(Column column, const std::string& text) {
  const CsvCell* cell = header_.find(line_, column);
  Problem problem;
  problem.verbatim = text;
  problem.line = line_.number;
  problem.column = cell == nullptr ? 1 : cell->column;
  problems_.add(std::move(problem));
  failed_.push_back(column);
}

void RowCells::fail_empty(Column column, const std::string& allowed) {
  if (header_.has(column)) {
    fail(column, "E201", "", allowed);
  } else if (header_.report_missing(column)) {
    fail(column, "E101", "no such column", allowed);
  } else {
    failed_.push_back(column);  // it was reported at the first row that needs it
  }
}

bool RowCells::failed(Column column) const {
  return std::find(failed_.begin(), failed_.end(), column) != failed_.end();
}

std::optional<std::uint64_t> RowCells::integer(Column column, std::uint64_t least,
                                               std::uint64_t most) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const IntegerError error = parse_integer(cell, least, most, value);
  if (error == IntegerError::none) return value;
  fail(column, error == IntegerError::not_an_integer ? "E202" : "E203", cell,
       fmt::format("an integer in [{}, {}]", least, most));
  return std::nullopt;
}

std::optional<Decimal> RowCells::fraction(Column column) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  Decimal value;
  switch (parse_fraction(cell, value)) {
    case DecimalError::none:
      return value;
    case DecimalError::not_a_decimal:
      fail(column, "E204", cell, "a decimal number in [0, 1]");
      break;
    case DecimalError::out_of_range:
      fail(column, "E205", cell, "a decimal number in [0, 1]");
      break;
  }
  return std::nullopt;
}

std::optional<std::size_t> RowCells::word(Column column, const std::vector<std::string>& words) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), cell);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  fail(column, "E206", cell, fmt::format("{}", fmt::join(words, ", ")), nearest(cell, words));
  return std::nullopt;
}

std::optional<Pairs> RowCells::pairs(Column column) {
  const std::string cell = text(column);
  Pairs result;
  if (cell.empty()) return result;
  for (const std::string& part : split(cell)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      fail(column, "E207", part, "key=value;key=value");
      return std::nullopt;
    }
    result.emplace_back(trimmed(std::string_view(part).substr(0, equals)),
                        trimmed(std::string_view(part).substr(equals + 1)));
  }
  return result;
}

std::optional<RowCells::Block> RowCells::block(Column column) {
  const std::string cell = text(column);
  if (cell.empty()) return Block{};
  const std::string_view view = cell;
  const std::size_t cross = view.find_first_of("xX");
  const std::string_view second = cross == std::string_view::npos ? view : view.substr(cross + 1);
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  for (const IntegerError error : {parse_integer(view.substr(0, cross), 1, kMostSide, rows),
                                   parse_integer(second, 1, kMostSide, cols)}) {
    if (error == IntegerError::none) continue;
    fail(column, error == IntegerError::not_an_integer ? "E202" : "E203", cell,
         "a block 'b' or 'RxC' of at least 1");
    return std::nullopt;
  }
  return Block{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)};
}

std::vector<std::string> RowCells::list(Column column) const {
  const std::string cell = text(column);
  return cell.empty() ? std::vector<std::string>{} : split(cell);
}

}  // namespace lacuna
