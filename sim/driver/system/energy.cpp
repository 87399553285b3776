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

std::vector<SystemEnergyPart> energy_beside(const system::SystemParams& params,
                                            const system::Fabric& fabric,
                                            const system::ProgramResult& run,
                                            const JouleRange& idle_w) {
  using system::Use;
  std::vector<std::uint64_t> waits;
  for (const system::TimeStack& chip : run.chips) {
    std::uint64_t busy = 0;
    for (const Use use :
         {Use::forward, Use::recompute, Use::backward, Use::optimizer, Use::exchange}) {
      busy += chip[static_cast<std::size_t>(use)];
    }
    waits.push_back(run.ns - busy);
  }
  double links = 0;
  double streaming = 0;
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    const double bits = 8 * static_cast<double>(run.bytes[i]);
    const bool memory = fabric.resources()[i].kind == system::ResourceKind::ddr;
    const double price = memory ? params.memory_pj_bit : params.link_pj_bit;
    (memory ? streaming : links) += bits * price * 1e-12;
  }
  const double seconds = static_cast<double>(run.ns) * 1e-9;
  return {{"idle", "chips that wait", joules_of_waiting(waits, idle_w)},
          {"links", "links and gateways", without_range(links)},
          {"streaming", "streaming memory", without_range(streaming)},
          {"machines", "machines", without_range(params.machine_w * params.machines * seconds)},
          {"hosts", "hosts", without_range(params.hosts_w * seconds)}};
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
