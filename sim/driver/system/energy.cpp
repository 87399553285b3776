// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/energy.hpp"

#include <fmt/format.h>

#include "sim/report/tables/text_table.hpp"

namespace lacuna {

JouleRange EnergyAccount::total() const {
  JouleRange sum = range;
  for (const SystemEnergyPart& part : beside) {
    sum.low += part.joules.low;
    sum.nominal += part.joules.nominal;
    sum.high += part.joules.high;
  }
  return sum;
}

JouleRange joules_of_waiting(const std::vector<std::uint64_t>& ns, const JouleRange& idle_w) {
  JouleRange sum;
  for (const std::uint64_t each : ns) {
    const double seconds = static_cast<double>(each) * 1e-9;
    for (const Corner corner : kCorners) sum.at(corner) += idle_w.at(corner) * seconds;
  }
  return sum;
}

EnergyAccount energy_account(const JouleRange& operations, const system::DrawnBeside& beside) {
  return {{"chips", "operations on chips", operations},
          operations,
          {{"idle", "chips that wait", beside.idle},
           {"links", "links and gateways", without_range(beside.links)},
           {"streaming", "streaming memory", without_range(beside.streaming)},
           {"machines", "machines", without_range(beside.machines)},
           {"hosts", "hosts", without_range(beside.hosts)}}};
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

}  // namespace lacuna
