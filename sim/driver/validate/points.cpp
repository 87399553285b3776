// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/files/locations.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestFile = 64U << 20U;

// larger than any matrix of a layer, small enough that a product of two fits 64 bits
constexpr std::uint32_t kLargestSide = 1U << 24U;

const std::vector<std::string>& common_columns() {
  static const std::vector<std::string> names = {"id",    "system", "workload", "metric",
                                                 "value", "unit",   "source",   "confidence"};
  return names;
}

const std::vector<std::string>& shape_columns() {
  static const std::vector<std::string> names = {"m",     "k",     "n",   "density",
                                                 "block", "dtype", "mode"};
  return names;
}

/// A cell and the column, from 1, in which it starts.
struct Cell {
  std::string text;
  std::size_t column = 1;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// One file while it is read; all errors name the place.
class PointReader {
 public:
  PointReader(const std::string& text, std::string name) : text_(text), name_(std::move(name)) {}

  std::vector<ValidationPoint> read();

 private:
  [[noreturn]] void refuse(std::size_t column, const std::string& what) const {
    throw TraceError(fmt::format("{}:{}:{}: {}", name_, line_, column, what));
  }

  bool next_line(std::string_view& line);
  std::vector<Cell> split(std::string_view line) const;
  void read_header(const std::vector<Cell>& cells);
  ValidationPoint read_row(const std::vector<Cell>& cells);
  void read_shape(const std::vector<Cell>& cells, ValidationPoint& point) const;
  void read_parameters(const Cell& cell, ValidationPoint& point) const;
  void read_seen(const Cell& cell, ValidationPoint& point) const;

  const Cell& cell(const std::vector<Cell>& cells, const std::string& name) const {
    return cells[places_.at(name)];
  }
  std::uint32_t side(const Cell& cell, const char* name) const;
  double number(const Cell& cell) const;

  const std::string& text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::map<std::string, std::size_t> places_;
  bool shaped_ = true;
  std::set<std::string> ids_;
};

bool PointReader::next_line(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  line = std::string_view(text_).substr(at_, end - at_);
  at_ = end + 1;
  ++line_;
  return true;
}

/// Cells between commas; a cell in quotes may hold commas and, doubled, quotes.
std::vector<Cell> PointReader::split(std::string_view line) const {
  std::vector<Cell> cells;
  std::size_t i = 0;
  for (;;) {
    Cell cell{"", i + 1};
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i >= line.size()) refuse(cell.column, "the quote is not closed in this line");
        if (line[i] != '"') {
          cell.text += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          cell.text += line[i++];
        } else {
          break;
        }
      }
      ++i;
      if (i < line.size() && line[i] != ',' && line[i] != '\r') {
        refuse(i + 1, "a comma must follow the closing quote");
      }
      i = std::min(line.find(',', i), line.size());
    } else {
      const std::size_t end = std::min(line.find(',', i), line.size());
      cell.text = trimmed(line.substr(i, end - i));
      i = end;
    }
    cells.push_back(std::move(cell));
    if (i >= line.size()) return cells;
    ++i;
  }
}

void PointReader::read_header(const std::vector<Cell>& cells) {
  std::vector<std::string> known = common_columns();
  known.insert(known.end(), shape_columns().begin(), shape_columns().end());
  known.emplace_back("parameters");
  known.emplace_back("mask_rule");
  known.emplace_back("seen");
  for (const Cell& title : cells) {
    if (std::find(known.begin(), known.end(), title.text) == known.end()) {
      refuse(title.column,
             fmt::format("there is no column '{}'{}", title.text, hint_of(title.text, known)));
    }
    if (!places_.emplace(title.text, places_.size()).second) {
      refuse(title.column, fmt::format("the column '{}' is given twice", title.text));
    }
  }
  shaped_ = places_.count("parameters") == 0;
  std::vector<std::string> needed = common_columns();
  if (shaped_) needed.insert(needed.end(), shape_columns().begin(), shape_columns().end());
  for (const std::string& name : needed) {
    if (places_.count(name) == 0) refuse(1, fmt::format("the column '{}' is missing", name));
  }
}

std::uint32_t PointReader::side(const Cell& cell, const char* name) const {
  std::uint32_t value = 0;
  const char* const end = cell.text.data() + cell.text.size();
  const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
  if (error != std::errc() || stop != end || value == 0 || value > kLargestSide) {
    refuse(cell.column, fmt::format("{} = '{}' is not a whole number in [1, {}]", name, cell.text,
                                    kLargestSide));
  }
  return value;
}

double PointReader::number(const Cell& cell) const {
  double value = 0;
  const char* const end = cell.text.data() + cell.text.size();
  const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    refuse(cell.column, fmt::format("value = '{}' is not a number", cell.text));
  }
  if (value <= 0) {
    refuse(cell.column, fmt::format("value = '{}' is not above 0: errors are shares of it; of a "
                                    "point without a value it is empty",
                                    cell.text));
  }
  return value;
}

void PointReader::read_shape(const std::vector<Cell>& cells, ValidationPoint& point) const {
  const auto optional_side = [&](const char* name) -> std::optional<std::uint32_t> {
    const Cell& found = cell(cells, name);
    if (found.text.empty()) return std::nullopt;
    return side(found, name);
  };
  point.m = optional_side("m");
  point.k = optional_side("k");
  point.best_n = cell(cells, "n").text == "best";
  if (!point.best_n) point.n = optional_side("n");
  // results that do not depend on the block say so
  if (cell(cells, "block").text != "any") point.block = optional_side("block").value_or(0);
  if (const Cell& density = cell(cells, "density"); !density.text.empty()) {
    Decimal value;
    if (parse_fraction(density.text, value) != DecimalError::none || value.mantissa == 0) {
      refuse(density.column,
             fmt::format("density = '{}' is not a decimal in (0, 1] of at most 9 digits",
                         density.text));
    }
    point.density = value;
  }
  point.dtype = cell(cells, "dtype").text;
  point.mode = cell(cells, "mode").text;
  if (places_.count("mask_rule") != 0) point.mask_rule = cell(cells, "mask_rule").text;
}

void PointReader::read_parameters(const Cell& cell, ValidationPoint& point) const {
  std::size_t at = 0;
  while (at < cell.text.size()) {
    const std::size_t end = std::min(cell.text.find(';', at), cell.text.size());
    const std::string_view item = std::string_view(cell.text).substr(at, end - at);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(cell.column + at, fmt::format("parameters: '{}' is not of the form key=value", item));
    }
    const std::string key(trimmed(item.substr(0, equals)));
    if (!point.parameters.emplace(key, trimmed(item.substr(equals + 1))).second) {
      refuse(cell.column + at, fmt::format("parameters: '{}' is given twice", key));
    }
    at = end + 1;
  }
}

void PointReader::read_seen(const Cell& cell, ValidationPoint& point) const {
  if (!cell.text.empty() && cell.text != "chosen" && cell.text != "checked") {
    refuse(cell.column,
           fmt::format("seen = '{}'; allowed: chosen, checked, or nothing", cell.text));
  }
  point.seen = cell.text;
}

ValidationPoint PointReader::read_row(const std::vector<Cell>& cells) {
  if (cells.size() != places_.size()) {
    refuse(cells.back().column,
           fmt::format("{} cells, but the header has {}", cells.size(), places_.size()));
  }
  ValidationPoint point;
  point.file = name_;
  point.line = line_;
  for (const char* const name : {"id", "system", "workload", "metric"}) {
    if (cell(cells, name).text.empty()) {
      refuse(cell(cells, name).column, fmt::format("'{}' is empty", name));
    }
  }
  point.id = cell(cells, "id").text;
  if (!ids_.insert(point.id).second) {
    refuse(cell(cells, "id").column, fmt::format("the id '{}' is given twice", point.id));
  }
  point.system = cell(cells, "system").text;
  point.workload = cell(cells, "workload").text;
  point.metric = cell(cells, "metric").text;
  if (const Cell& value = cell(cells, "value"); !value.text.empty()) point.value = number(value);
  point.unit = cell(cells, "unit").text;
  point.source = cell(cells, "source").text;
  point.confidence = cell(cells, "confidence").text;
  if (places_.count("seen") != 0) read_seen(cell(cells, "seen"), point);
  if (shaped_) {
    read_shape(cells, point);
  } else {
    read_parameters(cell(cells, "parameters"), point);
  }
  return point;
}

std::vector<ValidationPoint> PointReader::read() {
  std::vector<ValidationPoint> points;
  std::string_view line;
  while (next_line(line)) {
    if (trimmed(line).empty() || line.front() == '#') continue;
    const std::vector<Cell> cells = split(line);
    if (places_.empty()) {
      read_header(cells);
    } else {
      points.push_back(read_row(cells));
    }
  }
  if (places_.empty()) throw TraceError(fmt::format("{}:1:1: the file is empty", name_));
  return points;
}

}  // namespace

std::vector<ValidationPoint> parse_validation_points(const std::string& text,
                                                     const std::string& name) {
  return PointReader(text, name).read();
}

std::vector<ValidationPoint> read_validation_points(const fs::path& file) {
  return parse_validation_points(read_text(file, kLongestFile), file.string());
}

std::vector<fs::path> shipped_validation_points() {
  const fs::path config = config_folder();
  std::error_code ignored;
  // installed, the points are beside the presets; in the source tree, in traces/
  for (const fs::path& folder : {config.parent_path() / "traces" / "validation",
                                 config.parent_path().parent_path() / "traces" / "validation"}) {
    if (!fs::is_directory(folder, ignored)) continue;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".csv") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  throw RequestError(
      fmt::format("the shipped points are not in traces/validation beside '{}'; name files with "
                  "--points",
                  config.string()));
}

}  // namespace lacuna
