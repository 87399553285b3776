// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/quantity_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kMostShares = 6;

/// "1.161 to 2.756": the ends of the range of a quantity, if it has one.
std::string range_of(const std::vector<NamedQuantity>& all, const std::string& name) {
  const NamedQuantity* const low = find_quantity(all, name + "_low");
  const NamedQuantity* const high = find_quantity(all, name + "_high");
  if (low == nullptr || high == nullptr) return "";
  return quantity_text(low->value) + " to " + quantity_text(high->value);
}

/// The table of the first quantities, with the ends of their ranges.
std::string table_of(const std::vector<NamedQuantity>& all, std::size_t most) {
  TextTable table({"<", "value", "unit<", "low to high<"});
  for (const NamedQuantity& each : all) {
    if (most == 0) break;
    if (is_end(all, each.name)) continue;
    table.row({each.name, quantity_text(each.value), each.unit, range_of(all, each.name)});
    --most;
  }
  return table.text(false);
}

std::string shares_of(const QuantityScreen& screen) {
  if (screen.shares.empty()) return "";
  std::vector<std::pair<std::string, double>> shares = screen.shares;
  sort_all(shares, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "\n" + screen.where + "\n";
  for (std::size_t i = 0; i < std::min(shares.size(), kMostShares); ++i) {
    if (shares[i].second < 0.05) break;
    text += fmt::format("  {:<24}{:>5.1f}\n", shares[i].first, shares[i].second);
  }
  return text;
}

}  // namespace

bool is_end(const std::vector<NamedQuantity>& all, const std::string& name) {
  for (const char* const end : {"_low", "_high"}) {
    const std::size_t size = std::string(end).size();
    if (!ends_with(name, end)) continue;
    if (find_quantity(all, name.substr(0, name.size() - size)) != nullptr) return true;
  }
  return false;
}

const NamedQuantity* find_quantity(const std::vector<NamedQuantity>& all, const std::string& name) {
  return find_where(all, [&](const auto& each) { return each.name == name; });
}

std::string quantity_text(double value) {
  return std::isfinite(value) ? four_digits(value) : "any";
}

std::string quantity_csv(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string quantity_table(const std::vector<NamedQuantity>& all, const char* title) {
  TextTable table({title + std::string("<"), "value", "unit<"});  // left out where none is said
  for (const NamedQuantity& each : all) {
    table.row({each.name, quantity_text(each.value), each.unit});
  }
  return table.text();
}

std::string quantity_screen(const QuantityScreen& screen) {
  std::string head = wrapped(screen.title);
  for (const std::string& sentence : screen.sentences) head += wrapped(sentence);
  head += '\n';
  const std::vector<NamedQuantity>& all = screen.quantities;
  const auto rows = count_where(all, [&](const auto& each) { return !is_end(all, each.name); });
  return fitted_screen(
      head, rows, [&](std::size_t n) { return table_of(all, n); }, "first numbers",
      shares_of(screen) + screen.more, false);
}

std::string quantity_sentence(const std::vector<NamedQuantity>& quantities, const std::string& what,
                              const std::string& time, const std::string& rate,
                              const std::string& joules) {
  const NamedQuantity* const seconds = find_quantity(quantities, time);
  if (seconds == nullptr) return "";
  const bool long_one = seconds->value >= 1e-3;
  std::string text =
      fmt::format("{} takes {} {}", what, four_digits(seconds->value * (long_one ? 1e3 : 1e6)),
                  long_one ? "ms" : "us");
  if (const NamedQuantity* const per_second = find_quantity(quantities, rate)) {
    text += fmt::format(": {} {}", four_digits(per_second->value), rate);
  }
  if (const NamedQuantity* const each = find_quantity(quantities, joules)) {
    text += fmt::format(", {} J each", four_digits(each->value));
    const std::string range = range_of(quantities, joules);
    if (!range.empty()) text += fmt::format(" ({})", range);
  }
  return text + ".";
}

}  // namespace lacuna
