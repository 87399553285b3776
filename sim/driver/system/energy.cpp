// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/energy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/refused.hpp"
#include "sim/driver/run/area.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

std::optional<JouleRange> energy_over(const std::optional<JouleRange>& joules,
                                      const std::optional<JouleRange>& dense) {
  if (!joules || !dense) return std::nullopt;
  JouleRange ratio;
  for (const Corner corner : kCorners) {
    if (!(dense->at(corner) > 0)) return std::nullopt;
    ratio.at(corner) = joules->at(corner) / dense->at(corner);
  }
  const auto [low, high] = std::minmax({ratio.low, ratio.nominal, ratio.high});
  return JouleRange{low, ratio.nominal, high};
}

void add_range(const std::string& name, const JouleRange& range, double over, const char* unit,
               std::vector<NamedQuantity>& to) {
  to.push_back({name, range.nominal / over, unit});
  to.push_back({name + "_low", range.low / over, unit});
  to.push_back({name + "_high", range.high / over, unit});
}

void add_over_dense(const JouleRange& joules, const JouleRange& dense,
                    std::vector<NamedQuantity>& to) {
  const std::optional<JouleRange> ratio = energy_over(joules, dense);
  if (ratio) add_range("energy_vs_dense", *ratio, 1, "", to);
}

std::string energy_text(const std::string& title, const EnergyAccount& account) {
  TextTable table;
  table.column(title, "", TextTable::Align::left);
  for (const char* const column : {"energy", "low", "high"}) table.column(column, "J");
  const auto row = [&](const std::string& what, const JouleRange& joules) {
    const bool ranged = joules.low != joules.high;
    table.row({what, four_digits(joules.nominal), ranged ? four_digits(joules.low) : "",
               ranged ? four_digits(joules.high) : ""});
  };
  for (const SystemEnergyPart& part : account.parts) row(part.text, part.joules);
  table.rule();
  row("all", account.total());
  return table.text();
}

std::string not_counted(const std::vector<StandingPower>& all) {
  std::vector<std::string> missing;
  for (const StandingPower& each : all) {
    if (each.watts == 0) missing.push_back(each.text);
  }
  if (missing.empty()) return "";
  return fmt::format("\nNot counted is the standing power of {}: none is published.\n",
                     fmt::join(missing, ", "));
}

double number_of(const Machine& chip, const char* path) {
  const ParamBase* const parameter = chip.parameters().find(path);
  if (parameter == nullptr) {
    throw refused("{}: a chip of a system needs the parameter {}; IPUs have it", chip.name(), path);
  }
  return std::stod(parameter->value_text());
}

JouleRange idle_watts(const Machine& chip, const Pricing& pricing) {
  return idle_watts(chip, pricing, units_of(chip));
}

JouleRange idle_watts(const Machine& chip, const Pricing& pricing, std::uint64_t units) {
  OpRecord record;
  OpResult& idle = record.result;
  idle.cycles = 1'000'000;
  idle.clock_ghz = number_of(chip, "clock");
  idle.units = units;
  idle.stack = {{Layer::idle, "idle", units * idle.cycles}};
  pricing.price(chip, record);
  const JouleRange& joules = *record.row.energy_j;
  const double seconds = static_cast<double>(idle.cycles) / idle.clock_ghz * 1e-9;
  return {joules.low / seconds, joules.nominal / seconds, joules.high / seconds};
}

std::uint64_t edge_bytes(const OpResult& result) {
  constexpr std::uint64_t kWavelet = 4;
  for (const StatEntry& entry : result.statistics) {
    if (entry.path == "wafer.edge" && entry.name == "wavelets") return kWavelet * entry.value;
  }
  return 0;
}

}  // namespace lacuna
