// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/energy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

JouleRange EnergyAccount::total() const {
  JouleRange sum = range;
  for (const SystemEnergyPart& part : beside) sum.add(part.joules);
  return sum;
}

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

EnergyAccount energy_account(const JouleRange& operations, const system::DrawnBeside& beside,
                             double steps) {
  JouleRange idle;
  idle.add(beside.idle, 1 / steps);
  return {{"chips", "operations on chips", operations},
          operations,
          {{"idle", "chips that wait", idle},
           {"links", "links and gateways", without_range(beside.links / steps)},
           {"streaming", "streaming memory", without_range(beside.streaming / steps)},
           {"machines", "machines", without_range(beside.machines / steps)},
           {"hosts", "hosts", without_range(beside.hosts / steps)}}};
}

std::string energy_text(const std::string& title, const EnergyAccount& account) {
  TextTable table;
  table.column(title, "", TextTable::Align::left);
  for (const char* const column : {"energy", "low", "high"}) table.column(column, "J");
  const auto row = [&](const std::string& what, const JouleRange& joules) {
    table.row(
        {what, four_digits(joules.nominal), four_digits(joules.low), four_digits(joules.high)});
  };
  row(account.work.text, account.range);
  for (const SystemEnergyPart& part : account.beside) {
    const bool ranged = part.joules.low != part.joules.high;
    table.row({part.text, four_digits(part.joules.nominal),
               ranged ? four_digits(part.joules.low) : "",
               ranged ? four_digits(part.joules.high) : ""});
  }
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

JouleRange idle_watts(const Machine& chip, const Pricing& pricing) {
  const auto number = [&](const char* path) -> std::uint64_t {
    const ParamBase* const found = chip.parameters().find(path);
    return found == nullptr ? 0 : std::stoull(found->value_text());
  };
  const std::uint64_t units =
      std::max(number("ipu.tiles"), number("wafer.columns") * number("wafer.rows"));
  if (units == 0) {
    throw UnsupportedError(
        fmt::format("{}: no row runs on a chip, so that nothing is known of one", chip.name()));
  }
  return idle_watts(chip, pricing, units, std::stod(chip.parameters().find("clock")->value_text()));
}

JouleRange idle_watts(const Machine& machine, const Pricing& pricing, std::uint64_t units,
                      double clock_ghz) {
  OpRecord record;
  record.result.cycles = 1'000'000;
  record.result.clock_ghz = clock_ghz;
  record.result.units = units;
  record.result.stack = {{Layer::idle, "idle", units * record.result.cycles}};
  pricing.price(machine, record);
  const JouleRange& joules = *record.row.energy_j;
  const double seconds = static_cast<double>(record.result.cycles) / clock_ghz * 1e-9;
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
