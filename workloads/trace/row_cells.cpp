// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_cells.hpp"

#include <fmt/format.h>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

std::vector<std::string> trimmed_parts(const std::string& text) {
  std::vector<std::string> parts = split(text, ';');
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

}  // namespace

std::string RowCells::text(Column column) const {
  const CsvCell* cell = header_.find(line_, column);
  return cell == nullptr ? std::string() : cell->text;
}

std::size_t RowCells::begin_of(Column column) const {
  const CsvCell* cell = header_.find(line_, column);
  return cell == nullptr ? 1 : cell->column;
}

void RowCells::fail(Column column, const std::string& code, const std::string& found,
                    const std::string& allowed, const std::string& hint) {
  diagnostics_.add(line_.number, begin_of(column), code, found, allowed, name_of(column), hint);
  failed_.push_back(column);
}

void RowCells::fail_with_op(Column column, const std::string& op) {
  fail(column, "E208", text(column), fmt::format("empty with op {}", op));
}

void RowCells::fail_verbatim(Column column, const std::string& text) {
  diagnostics_.add_message(line_.number, begin_of(column), text);
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

bool RowCells::failed(Column column) const { return contains(failed_, column); }

std::optional<std::uint64_t> RowCells::integer(Column column, std::uint64_t least,
                                               std::uint64_t most) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  const auto value = parse_integer(cell, least, most);
  if (!value) fail(column, integer_error(cell), cell, integer_in(least, most));
  return value;
}

std::optional<Decimal> RowCells::fraction(Column column) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  Decimal value;
  const DecimalError error = parse_fraction(cell, value);
  if (error == DecimalError::none) return value;
  fail(column, error == DecimalError::not_a_decimal ? "E204" : "E205", cell,
       "a decimal number in [0, 1]");
  return std::nullopt;
}

std::optional<std::size_t> RowCells::word(Column column, const std::vector<std::string>& words) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  if (const auto at = place_in(words, cell)) return at;
  fail(column, "E206", cell, listed(words), nearest(cell, words));
  return std::nullopt;
}

std::optional<Pairs> RowCells::pairs(Column column) {
  const std::string cell = text(column);
  Pairs result;
  if (cell.empty()) return result;
  for (const std::string& part : trimmed_parts(cell)) {
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

bool RowCells::check_key(Column column, const Pairs& pairs, std::size_t i,
                         const std::vector<std::string>& keys) {
  const auto& [key, value] = pairs[i];
  const bool known = contains(keys, key);
  if (known && find_value(pairs, key) == &value) return true;
  fail(column, "E207", key, known ? "each key once" : listed(keys),
       known ? "" : nearest(key, keys));
  return false;
}

void RowCells::check_word(Column column, const std::string& key, const std::string& value,
                          const std::vector<std::string>& words) {
  if (contains(words, value)) return;
  fail(column, "E206", value, fmt::format("{}, one of {}", key, fmt::join(words, ", ")),
       nearest(value, words));
}

void RowCells::require_key(Column column, const Pairs& pairs, const std::string& key) {
  if (find_value(pairs, key) == nullptr) fail_empty(column, fmt::format("a value for '{}'", key));
}

std::vector<std::string> RowCells::list(Column column) const {
  const std::string cell = text(column);
  return cell.empty() ? std::vector<std::string>{} : trimmed_parts(cell);
}

}  // namespace lacuna
