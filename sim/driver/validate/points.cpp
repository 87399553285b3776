// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/locations.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestFile = 64U << 20U;

// larger than any matrix of a layer, small enough that a product of two fits 64 bits
constexpr std::uint32_t kLargestSide = 1U << 24U;

const std::vector<std::string> kCommon = {"id",    "system", "workload", "metric",
                                          "value", "unit",   "source",   "confidence"};
const std::vector<std::string> kShape = {"m", "k", "n", "density", "block", "dtype", "mode"};

/// Columns of words, which are kept as they are.
constexpr std::array<std::pair<const char*, std::string ValidationPoint::*>, 11> kWords = {
    {{"id", &ValidationPoint::id},
     {"system", &ValidationPoint::system},
     {"workload", &ValidationPoint::workload},
     {"metric", &ValidationPoint::metric},
     {"unit", &ValidationPoint::unit},
     {"source", &ValidationPoint::source},
     {"confidence", &ValidationPoint::confidence},
     {"dtype", &ValidationPoint::dtype},
     {"mode", &ValidationPoint::mode},
     {"mask_rule", &ValidationPoint::mask_rule},
     {"seen", &ValidationPoint::seen}}};

/// One file while it is read; all errors name the place.
class PointReader {
 public:
  PointReader(const std::string& text, std::string name) : lines_(text), name_(std::move(name)) {}

  ValidationPoints read() {
    ValidationPoints points;
    while (lines_.next_cells(line_)) {
      if (line_.open_quote != 0) refuse(line_.open_quote, "the quote is not closed in this line");
      if (places_.empty()) {
        read_header();
      } else {
        points.push_back(read_row());
      }
    }
    if (places_.empty()) throw TraceError(fmt::format("{}:1:1: the file is empty", name_));
    return points;
  }

 private:
  [[noreturn]] void refuse(std::size_t column, const std::string& what) const {
    throw TraceError(
        fmt::format("{}:{}:{}: {}", name_, std::max<std::size_t>(line_.number, 1), column, what));
  }

  void read_header() {
    std::vector<std::string> known = kCommon;
    append(known, kShape);
    known.insert(known.end(), {"parameters", "mask_rule", "seen"});
    for (const CsvCell& title : line_.cells) {
      if (!contains(known, title.text)) {
        refuse(title.column,
               fmt::format("there is no column '{}'{}", title.text, hint_of(title.text, known)));
      }
      if (!places_.emplace(title.text, places_.size()).second) {
        refuse(title.column, fmt::format("the column '{}' is given twice", title.text));
      }
    }
    std::vector<std::string> needed = kCommon;
    if (!has("parameters")) append(needed, kShape);
    for (const std::string& name : needed) {
      if (!has(name.c_str())) refuse(1, fmt::format("the column '{}' is missing", name));
    }
  }

  ValidationPoint read_row() {
    if (line_.cells.size() != places_.size()) {
      refuse(line_.cells.back().column,
             fmt::format("{} cells, but the header has {}", line_.cells.size(), places_.size()));
    }
    ValidationPoint point;
    point.file = name_;
    point.line = line_.number;
    for (const char* const name : {"id", "system", "workload", "metric"}) {
      if (cell(name).text.empty()) refuse(cell(name).column, fmt::format("'{}' is empty", name));
    }
    for (const auto& [name, member] : kWords) {
      if (has(name)) point.*member = cell(name).text;
    }
    if (!ids_.insert(point.id).second) {
      refuse(cell("id").column, fmt::format("the id '{}' is given twice", point.id));
    }
    if (!point.seen.empty() && point.seen != "chosen" && point.seen != "checked") {
      refuse(cell("seen").column,
             fmt::format("seen = '{}'; allowed: chosen, checked, or nothing", point.seen));
    }
    if (!cell("value").text.empty()) point.value = number(cell("value"));
    has("parameters") ? read_parameters(cell("parameters"), point) : read_shape(point);
    return point;
  }

  void read_shape(ValidationPoint& point) const {
    point.m = side("m");
    point.k = side("k");
    point.best_n = cell("n").text == "best";
    if (!point.best_n) point.n = side("n");
    // results that do not depend on the block say so
    if (cell("block").text != "any") point.block = side("block").value_or(0);
    const CsvCell& density = cell("density");
    if (density.text.empty()) return;
    Decimal value;
    if (parse_fraction(density.text, value) != DecimalError::none || value.mantissa == 0) {
      refuse(density.column, fmt::format("density = '{}' is not a decimal in (0, 1] of at most 9 "
                                         "digits",
                                         density.text));
    }
    point.density = value;
  }

  void read_parameters(const CsvCell& cell, ValidationPoint& point) const {
    std::size_t at = 0;
    while (at < cell.text.size()) {
      const std::size_t end = std::min(cell.text.find(';', at), cell.text.size());
      const std::string_view item = std::string_view(cell.text).substr(at, end - at);
      const std::size_t equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        refuse(cell.column + at,
               fmt::format("parameters: '{}' is not of the form key=value", item));
      }
      const std::string key(trimmed(item.substr(0, equals)));
      if (!point.parameters.emplace(key, trimmed(item.substr(equals + 1))).second) {
        refuse(cell.column + at, fmt::format("parameters: '{}' is given twice", key));
      }
      at = end + 1;
    }
  }

  bool has(const char* name) const { return places_.count(name) != 0; }
  const CsvCell& cell(const char* name) const { return line_.cells[places_.at(name)]; }

  std::optional<std::uint32_t> side(const char* name) const {
    const CsvCell& found = cell(name);
    if (found.text.empty()) return std::nullopt;
    const auto value = parse_integer(found.text, 1, kLargestSide);
    if (value) return static_cast<std::uint32_t>(*value);
    refuse(found.column, fmt::format("{} = '{}' is not a whole number in [1, {}]", name, found.text,
                                     kLargestSide));
  }

  double number(const CsvCell& cell) const {
    const double value = parsed_number<double>(cell.text).value_or(NAN);
    if (!std::isfinite(value)) {
      refuse(cell.column, fmt::format("value = '{}' is not a number", cell.text));
    }
    if (value <= 0) {
      refuse(cell.column, fmt::format("value = '{}' is not above 0: errors are shares of it; of a "
                                      "point without a value it is empty",
                                      cell.text));
    }
    return value;
  }

  CsvLines lines_;
  std::string name_;
  CsvLine line_;
  std::map<std::string, std::size_t> places_;
  std::set<std::string> ids_;
};

}  // namespace

ValidationPoints parse_validation_points(const std::string& text, const std::string& name) {
  return PointReader(text, name).read();
}

ValidationPoints read_validation_points(const fs::path& file) {
  return parse_validation_points(read_text(file, kLongestFile), file.string());
}

std::vector<fs::path> shipped_validation_points() {
  std::vector<fs::path> files = shipped_files("validation", ".csv");
  if (!files.empty()) return files;
  throw refused(
      "the shipped points are not in traces/validation beside '{}'; name files with "
      "--points",
      config_folder().string());
}

}  // namespace lacuna
