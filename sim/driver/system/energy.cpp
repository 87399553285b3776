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
