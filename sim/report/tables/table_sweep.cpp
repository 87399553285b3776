// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_sweep.hpp"

#include <fmt/format.h>

#include <optional>

#include "sim/report/tables/table_runs.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

void append_values(std::vector<std::string>& cells, const SummaryRow& row) {
  cells.push_back(kernel_text(row));
  cells.push_back(row.cycles ? fmt::format("{}", *row.cycles) : "");
  cells.push_back(number_cell(row.time_s, 1e6));
  cells.push_back(range_cell(row.time_low_s, row.time_high_s, 1e6));
  cells.push_back(number_cell(row.useful_tflops));
  cells.push_back(row.utilisation ? fmt::format("{:.1f}", 100 * *row.utilisation) : "");
  cells.push_back(number_cell(row.speedup_vs_dense));
  cells.push_back(range_cell(row.speedup_low, row.speedup_high));
  cells.push_back(number_cell(row.silicon_mm2));
  cells.push_back(number_cell(row.gflops_per_mm2));
  cells.push_back(row.energy_j ? four_digits(row.energy_j->nominal * 1e6) : "");
  cells.push_back(number_cell(row.pj_per_useful_flop));
  cells.emplace_back(row.status == Status::ok ? "" : status_name(row.status));
}

}  // namespace

std::string sweep_table(const std::vector<RunRecord>& records, const std::vector<std::string>& axes,
                        const std::vector<std::vector<std::string>>& axis_text) {
  TextTable table;
  table.column("run", "");
  for (const std::string& axis : axes) table.column(axis, "");
  table.column("mode, weights", "", TextTable::Align::left);
  table.column("cycles", "");
  table.column("time", "us");
  table.column("5 to 95 %", "us", TextTable::Align::left);
  table.column("useful", "TFLOP/s");
  table.column("of peak", "%");
  table.column("speed-up", "vs dense");
  table.column("5 to 95 %", "vs dense", TextTable::Align::left);
  table.column("silicon", "mm2");
  table.column("per area", "GFLOP/s/mm2");
  table.column("energy", "uJ");
  table.column("energy", "pJ/FLOP");
  table.column("status", "", TextTable::Align::left);
  for (const RunRecord& record : records) {
    std::vector<std::string> cells = {fmt::format("{}", record.run)};
    const std::vector<std::string>& place = axis_text.at(record.run);
    cells.insert(cells.end(), place.begin(), place.end());
    append_values(cells, whole_row(record));
    table.row(std::move(cells));
  }
  return table.text();
}

}  // namespace lacuna
