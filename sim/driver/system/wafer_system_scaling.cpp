// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/wafer_system_scaling.hpp"

#include <fmt/format.h>

#include "sim/driver/system/scaling_figure.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

double efficiency(const std::vector<WaferScalingRow>& rows, const WaferScalingRow& row) {
  return rows.front().run.seconds_per_step() / row.run.seconds_per_step();
}

double joules_per_share(const WaferSystemRun& run) {
  return run.energy.total().nominal / run.params.steps / run.params.wafers;
}

}  // namespace

NamedTable wafer_scaling_table(const std::vector<WaferScalingRow>& rows) {
  NamedTable table{
      "system_scaling", {"machine", "wafers", "step_s", "efficiency", "joules_per_share"}, {}};
  for (const WaferScalingRow& row : rows) {
    table.rows.push_back({row.machine, row.run.params.wafers.value_text(),
                          fmt::format("{}", row.run.seconds_per_step()),
                          fmt::format("{}", efficiency(rows, row)),
                          fmt::format("{}", joules_per_share(row.run))});
  }
  return table;
}

std::string wafer_scaling_text(const std::vector<WaferScalingRow>& rows) {
  TextTable table;
  table.column("system", "", TextTable::Align::left);
  table.column("wafers", "");
  table.column("step", "us");
  table.column("efficiency", "%");
  table.column("energy of a share", "J");
  for (const WaferScalingRow& row : rows) {
    table.row({row.machine, row.run.params.wafers.value_text(),
               four_digits(row.run.seconds_per_step() * 1e6),
               fmt::format("{:.1f}", 100 * efficiency(rows, row)),
               four_digits(joules_per_share(row.run))});
  }
  return "Systems of wafers, the same share of a batch for each wafer\n\n" + table.text();
}

Figure wafer_scaling_figure(const std::vector<WaferScalingRow>& rows) {
  std::vector<ScalingPoint> points;
  for (const WaferScalingRow& row : rows) {
    const double wafers = row.run.params.wafers;
    const double rate = wafers / row.run.seconds_per_step();
    points.push_back({wafers, rate, rate / efficiency(rows, row)});
  }
  return scaling_lines(
      {"system_scaling",
       {"Wafers that share a store of weights", "the same share of a batch for each"},
       "wafers",
       "shares/s"},
      points);
}

}  // namespace lacuna
