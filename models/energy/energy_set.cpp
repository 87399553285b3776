// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "models/energy/energy_table.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

double factor_of(const std::string& path, std::size_t line, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value) || value <= 0) {
    throw RequestError(
        fmt::format("{}:{}: found '{}'; allowed: a factor above 0", path, line, text));
  }
  return value;
}

void narrow(EnergyRow& row, double least, double nominal, double most) {
  for (EnergyRange& price : row.nodes) {
    const double given = price.nominal;
    price = {given * least, given * nominal, given * most};
  }
}

}  // namespace

std::string EnergyTable::text() const {
  std::string all;
  for (const EnergyRow& row : rows_) {
    all += row.event;
    for (const EnergyRange& price : row.nodes) {
      all += fmt::format(" {} {} {}", price.low, price.nominal, price.high);
    }
    all += '\n';
  }
  for (const std::vector<double>& member : members_) {
    all += fmt::format("{}\n", fmt::join(member, " "));
  }
  return all;
}

EnergyTable EnergyTable::with_set(const std::string& path) const {
  std::ifstream file(path);
  std::string text;
  if (!file || !std::getline(file, text)) {
    throw RequestError(fmt::format("{}: cannot be read; it is the set of energy prices", path));
  }
  const std::size_t members = cells_of(text).size() - 1;
  if (text.rfind("event,", 0) != 0 || members == 0) {
    throw RequestError(
        fmt::format("{}:1: found '{}'; allowed: event, and a column for each member", path, text));
  }
  EnergyTable result = *this;
  result.members_.assign(members, std::vector<double>(rows_.size(), 1));
  std::vector<std::string> events;
  for (const EnergyRow& row : rows_) events.push_back(row.event);
  std::set<std::string> seen;
  for (std::size_t line = 2; std::getline(file, text); ++line) {
    const std::vector<std::string> cells = cells_of(text);
    if (cells.size() != members + 1) {
      throw RequestError(
          fmt::format("{}:{}: found {} cells; allowed: {}", path, line, cells.size(), members + 1));
    }
    const auto known = std::find(events.begin(), events.end(), cells[0]);
    if (known == events.end() || !seen.insert(cells[0]).second) {
      throw RequestError(fmt::format(
          "{}:{}: found '{}', which {}", path, line, cells[0],
          known == events.end() ? "is no event; did you mean '" + nearest(cells[0], events) + "'?"
                                : "is given twice"));
    }
    const auto row = static_cast<std::size_t>(known - events.begin());
    double least = 0;
    double most = 0;
    for (std::size_t m = 0; m < members; ++m) {
      const double factor = factor_of(path, line, cells[m + 1]);
      least = m == 0 ? factor : std::min(least, factor);
      most = std::max(most, factor);
      result.members_[m][row] = factor;
    }
    const double nominal = result.members_[0][row];
    narrow(result.rows_[row], least, nominal, most);
    for (std::vector<double>& member : result.members_) member[row] /= nominal;
  }
  // What the set does not have is known no better than before: it ranges within its own prices.
  return result;
}

}  // namespace lacuna
