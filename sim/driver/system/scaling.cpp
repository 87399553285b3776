// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/scaling.hpp"

#include <fmt/format.h>

#include "sim/base/refused.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

using system::TrainingParams;

TrainingParams spread_over(const TrainingParams& training, unsigned chips) {
  const unsigned replica = training.tensor * training.pipeline;
  if (replica > chips) {
    throw refused("a replica of {} x {} = {} chips does not fit a system of {}",
                  training.tensor.value(), training.pipeline.value(), replica, chips);
  }
  TrainingParams spread = training;
  spread.replicas = chips / replica;
  const std::uint64_t batches = std::uint64_t{training.accumulation} * training.replicas;
  if (batches % spread.replicas != 0) {
    throw refused("{} micro-batches do not come out even over {} replicas", batches,
                  spread.replicas.value());
  }
  spread.accumulation = static_cast<unsigned>(batches / spread.replicas);
  if (training.rts_state == training.replicas) spread.rts_state = spread.replicas.value();
  if (training.rts == training.replicas) spread.rts = spread.replicas.value();
  spread.check();
  return spread;
}

double Scaling::efficiency(const ScalingRow& row) const {
  const ScalingRow& first = rows.front();
  const double chips = static_cast<double>(row.chips) / static_cast<double>(first.chips);
  return row.rate() / first.rate() / chips;
}

NamedTable scaling_table(const Scaling& scaling) {
  NamedTable table{scaling.name, {"system", "chips"}, {}};
  if (scaling.is_cut()) table.columns.insert(table.columns.end(), {"replicas", "accumulation"});
  table.columns.insert(table.columns.end(), {"step_time", scaling.each + "s_per_s", "efficiency",
                                             "energy_per_" + scaling.each});
  for (const ScalingRow& row : scaling.rows) {
    std::vector<std::string>& cells = table.row(row.system, row.chips);
    if (scaling.is_cut()) cells.insert(cells.end(), {row.replicas, row.accumulation});
    for (const double value :
         {row.seconds, row.rate(), scaling.efficiency(row), row.joules / row.each}) {
      cells.push_back(fmt::format("{}", value));
    }
  }
  return table;
}

std::string scaling_text(const Scaling& scaling) {
  TextTable table({"system<", "chips"});
  if (scaling.is_cut()) {
    for (const char* const column : {"replicas", "accumulation"}) table.column(column, "");
  }
  table.column("step_time", "s");
  table.column(scaling.each + "s", "1/s");
  table.column("efficiency", "%");
  table.column("energy", "J per " + scaling.each);
  for (std::vector<std::string> cells : scaling_table(scaling).rows) {
    const std::size_t numbers = cells.size() - 4;  // step, rate, efficiency, energy
    for (std::size_t i = numbers; i < cells.size(); ++i) {
      const double value = std::stod(cells[i]);
      cells[i] = i == numbers + 2 ? fmt::format("{:.1f}", 100 * value) : four_digits(value);
    }
    table.row(std::move(cells));
  }
  return fmt::format("{}: {}\n\n", scaling.title.at(0), scaling.title.at(1)) + table.text();
}

Figure scaling_figure(const Scaling& scaling) {
  LineFigure figure;
  figure.name = scaling.name;
  figure.title = scaling.title;
  figure.x_label = "chips";
  figure.y_label = scaling.each + "s/s";
  figure.x_at_values = false;
  LineSeries simulated{"simulated", line_style(0)};
  LineSeries ideal{"as many more as chips", line_style(1), true};
  for (const ScalingRow& row : scaling.rows) {
    const auto chips = static_cast<double>(row.chips);
    const double rate = row.rate();
    const double most = rate / scaling.efficiency(row);
    // errors of a time, and so of a rate
    const double low = row.trust ? rate * (1 + row.trust->p5) : rate;
    const double high = row.trust ? rate * (1 + row.trust->p95) : rate;
    figure.ranges = figure.ranges || row.trust;
    simulated.points.push_back({chips, rate, low, high});
    ideal.points.push_back(exact_point(chips, most));
  }
  figure.series = {ideal, simulated};
  return draw_lines(figure);
}

}  // namespace lacuna
