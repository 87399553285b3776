// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

// a sweep forks, so the reader may not start a thread
#define CSV_IO_NO_THREAD
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // the reader cuts long file names
#endif
#include <libfccp/csv.h>

#include "models/energy/action_table.hpp"
#include "models/energy/energy_table.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

template <unsigned columns>
using Reader = io::CSVReader<columns, io::trim_chars<' ', '\t'>, io::double_quote_escape<',', '"'>>;

constexpr std::array<const char*, 14> kPriceColumns = {
    "event",      "unit",    "class",  "n16_low",    "n16_nominal", "n16_high", "n7_low",
    "n7_nominal", "n7_high", "n5_low", "n5_nominal", "n5_high",     "mark",     "source"};
constexpr std::array<const char*, 14> kAreaColumns = {
    "block",      "unit",    "class",  "n16_low",    "n16_nominal", "n16_high", "n7_low",
    "n7_nominal", "n7_high", "n5_low", "n5_nominal", "n5_high",     "mark",     "source"};
constexpr std::array<const char*, 6> kActionColumns = {"machine", "action", "component",
                                                       "counts",  "event",  "multiplicity"};

constexpr std::array<const char*, 5> kUnitColumns = {"machine", "clock_tree", "exchange",
                                                     "busiest_cycle", "source"};

template <class AnyReader, std::size_t columns>
void read_header(AnyReader& reader, const std::array<const char*, columns>& names) {
  std::apply([&](auto... each) { reader.read_header(io::ignore_no_column, each...); }, names);
}

/// Where a cell stands, for messages.
struct Cell {
  const std::string& path;
  unsigned line;
  const char* column;
};

[[noreturn]] void refuse(const Cell& cell, const std::string& text) {
  throw RequestError(
      fmt::format("{}:{}: column '{}': {}", cell.path, cell.line, cell.column, text));
}

bool read_number(std::string_view text, double& value) {
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && read_to == end && std::isfinite(value);
}

double number(const Cell& cell, const std::string& text) {
  double value = 0;
  if (!read_number(text, value) || value < 0) {
    refuse(cell, fmt::format("'{}' is not a number of at least 0", text));
  }
  return value;
}

EnergyRange price(const Cell& cell, const std::string& low, const std::string& nominal,
                  const std::string& high) {
  const EnergyRange range{number(cell, low), number(cell, nominal), number(cell, high)};
  if (range.low > range.nominal || range.nominal > range.high) {
    refuse(cell, fmt::format("low {}, nominal {}, high {} are not in rising order", range.low,
                             range.nominal, range.high));
  }
  return range;
}

const std::string& one_of(const Cell& cell, const std::string& text,
                          const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (text == word) return text;
  }
  refuse(cell,
         fmt::format("'{}' is none of {}{}", text, fmt::join(words, ", "), hint_of(text, words)));
}

Component component(const Cell& cell, const std::string& text) {
  std::vector<std::string> words;
  for (unsigned i = 0; i < kComponents; ++i) {
    words.emplace_back(component_name(static_cast<Component>(i)));
    if (text == words.back()) return static_cast<Component>(i);
  }
  one_of(cell, text, words);
  return Component::mac;
}

/// Reads "32" or "32*exchange_distance_mm".
void multiplicity(const Cell& cell, const std::string& text, ActionRow& row) {
  const std::size_t star = text.find('*');
  row.multiplicity = number(cell, text.substr(0, star));
  row.times_distance = star != std::string::npos;
  if (row.times_distance) {
    one_of(cell, text.substr(star + 1), {"exchange_distance_mm", "core_pitch_mm"});
  }
}

std::vector<EnergyRow> read_rows(const std::string& path,
                                 const std::array<const char*, 14>& columns) {
  Reader<14> reader(path);
  read_header(reader, columns);
  std::vector<EnergyRow> rows;
  std::set<std::string> seen;
  EnergyRow row;
  std::array<std::string, 9> cells;
  auto& [a, b, c, d, e, f, g, h, i] = cells;
  while (reader.read_row(row.event, row.unit, row.scaling, a, b, c, d, e, f, g, h, i, row.mark,
                         row.source)) {
    const unsigned line = reader.get_file_line();
    if (row.event.empty()) refuse({path, line, columns[0]}, "is empty");
    if (!seen.insert(row.event).second) {
      refuse({path, line, columns[0]}, fmt::format("'{}' is given twice", row.event));
    }
    one_of({path, line, "class"}, row.scaling, {"logic", "sram", "wire", "leak", "io", "none"});
    row.nodes = {price({path, line, "n16"}, a, b, c), price({path, line, "n7"}, d, e, f),
                 price({path, line, "n5"}, g, h, i)};
    rows.push_back(row);
  }
  return rows;
}

std::vector<EnergyRow> read_prices(const std::string& path) {
  return read_rows(path, kPriceColumns);
}

std::vector<EnergyRow> read_area_rows(const std::string& path) {
  return read_rows(path, kAreaColumns);
}

std::vector<ActionRow> read_actions(const std::string& path) {
  Reader<6> reader(path);
  read_header(reader, kActionColumns);
  std::vector<ActionRow> rows;
  ActionRow row{};
  std::string part;
  std::string times;
  while (reader.read_row(row.machine, row.action, part, row.counts, row.event, times)) {
    const unsigned line = reader.get_file_line();
    if (row.machine.empty()) refuse({path, line, "machine"}, "is empty");
    row.component = component({path, line, "component"}, part);
    multiplicity({path, line, "multiplicity"}, times, row);
    rows.push_back(row);
  }
  return rows;
}

/// Reads "sram_read*2 + mac*peak_macs".
void busiest_cycle(const Cell& cell, const std::string& text, UnitEnergy& unit) {
  constexpr std::string_view kPlus = " + ";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kPlus, begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t star = part.find('*');
    if (star == std::string::npos || star == 0) {
      refuse(cell, fmt::format("'{}' is not of the form ACTION*COUNT", part));
    }
    const std::string action = part.substr(0, star);
    const std::string count = part.substr(star + 1);
    const bool of_peak = count == "peak_macs";
    unit.busiest.emplace_back(action, of_peak ? 0 : number(cell, count));
    if (of_peak) unit.of_peak.push_back(action);
    begin = end + kPlus.size();
  }
}

std::vector<UnitEnergy> read_units(const std::string& path) {
  Reader<5> reader(path);
  read_header(reader, kUnitColumns);
  std::vector<UnitEnergy> units;
  UnitEnergy unit;
  std::string exchange;
  std::string cycle;
  std::string source;
  while (reader.read_row(unit.machine, unit.clock_tree, exchange, cycle, source)) {
    const unsigned line = reader.get_file_line();
    one_of({path, line, "exchange"}, exchange, {"busy", "idle"});
    unit.exchange_busy = exchange == "busy";
    unit.busiest.clear();
    unit.of_peak.clear();
    busiest_cycle({path, line, "busiest_cycle"}, cycle, unit);
    units.push_back(unit);
  }
  return units;
}

template <class Kind>
const Kind* as(const io::error::base& error) {
  return dynamic_cast<const Kind*>(&error);
}

/// What is wrong with a header, or with a line as a whole.
std::string complaint(const io::error::base& error, const std::vector<std::string>& columns) {
  using namespace io::error;
  const std::string allowed = fmt::format("; allowed: {}", fmt::join(columns, ","));
  const auto* const column = as<with_column_name>(error);
  const std::string name = column == nullptr ? "" : static_cast<const char*>(column->column_name);
  if (as<header_missing>(error) != nullptr) return "found no header" + allowed;
  if (as<missing_column_in_header>(error) != nullptr) {
    return fmt::format("there is no column '{}'{}", name, allowed);
  }
  if (as<extra_column_in_header>(error) != nullptr) {
    const std::string hint = hint_of(name, columns);
    return fmt::format("found a column '{}'{}", name, hint.empty() ? allowed : hint);
  }
  if (as<duplicated_column_in_header>(error) != nullptr) {
    return fmt::format("the column '{}' is given twice", name);
  }
  const bool few = as<too_few_columns>(error) != nullptr;
  if (few || as<too_many_columns>(error) != nullptr) {
    return fmt::format("found {} cells than columns; allowed: {}", few ? "fewer" : "more",
                       columns.size());
  }
  if (as<escaped_string_not_closed>(error) != nullptr) return "a quote is not closed";
  return "found a line that is too long; allowed: less than 2^24 bytes";
}

/// The rows of a file, or RequestError with its place for what is no table at all.
template <class Read, std::size_t columns>
auto checked(Read read, const std::string& path, const std::array<const char*, columns>& names) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw RequestError(fmt::format("{}: there is no such file", path));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw RequestError(fmt::format("{}: is a folder, not a file", path));
  }
  try {
    return read(path);
  } catch (const io::error::can_not_open_file&) {
    throw RequestError(fmt::format("{}: cannot be read", path));
  } catch (const io::error::base& error) {
    const auto* const place = as<io::error::with_file_line>(error);
    throw RequestError(fmt::format("{}:{}: {}", path, place == nullptr ? 1 : place->file_line,
                                   complaint(error, {names.begin(), names.end()})));
  }
}

}  // namespace

EnergyTable EnergyTable::read(const std::string& path) {
  return EnergyTable(path, checked(read_prices, path, kPriceColumns));
}

EnergyTable EnergyTable::read_areas(const std::string& path) {
  return EnergyTable(path, checked(read_area_rows, path, kAreaColumns));
}

ActionTable ActionTable::read(const std::string& path) {
  std::vector<ActionRow> rows = checked(read_actions, path, kActionColumns);
  const std::filesystem::path units =
      std::filesystem::path(path).parent_path() / "energy_units.csv";
  return {path, std::move(rows), checked(read_units, units.string(), kUnitColumns)};
}

}  // namespace lacuna
