// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/scaling.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/driver/system/scaling_figure.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

using system::TrainingParams;

TrainingParams spread_over(const TrainingParams& training, unsigned chips) {
  const unsigned replica = training.tensor * training.pipeline;
  if (replica > chips) {
    throw RequestError(fmt::format("a replica of {} x {} = {} chips does not fit a system of {}",
                                   training.tensor.value(), training.pipeline.value(), replica,
                                   chips));
  }
  TrainingParams spread = training;
  spread.replicas = chips / replica;
  const std::uint64_t batches = std::uint64_t{training.accumulation} * training.replicas;
  if (batches % spread.replicas != 0) {
    throw RequestError(fmt::format("{} micro-batches do not come out even over {} replicas",
                                   batches, spread.replicas.value()));
  }
  spread.accumulation = static_cast<unsigned>(batches / spread.replicas);
  if (training.rts_state == training.replicas) spread.rts_state = spread.replicas.value();
  if (training.rts == training.replicas) spread.rts = spread.replicas.value();
  spread.check();
  return spread;
}

std::string scaling_text(const std::string& name, const std::vector<ScalingRow>& rows) {
  TextTable table;
  table.column("system", "", TextTable::Align::left);
  for (const char* const column : {"chips", "replicas", "accumulation"}) table.column(column, "");
  table.column("step_time", "s");
  table.column("sequences", "1/s");
  table.column("efficiency", "%");
  table.column("energy", "J per sequence");
  for (const ScalingRow& row : rows) {
    table.row({row.system, fmt::format("{}", row.training.chips()),
               row.training.replicas.value_text(), row.training.accumulation.value_text(),
               four_digits(row.seconds), four_digits(row.sequences_per_s),
               fmt::format("{:.1f}", 100 * row.efficiency), four_digits(row.joules_per_sequence)});
  }
  return fmt::format("{}: a batch of {} sequences on several systems\n\n", name,
                     rows.front().training.global_batch()) +
         table.text();
}

std::string scaling_csv(const std::vector<ScalingRow>& rows) {
  std::string text = csv_line({"system", "chips", "replicas", "accumulation", "step_s",
                               "sequences_per_s", "efficiency", "joules_per_sequence"});
  for (const ScalingRow& row : rows) {
    text +=
        csv_line({row.system, fmt::format("{}", row.training.chips()),
                  row.training.replicas.value_text(), row.training.accumulation.value_text(),
                  fmt::format("{}", row.seconds), fmt::format("{}", row.sequences_per_s),
                  fmt::format("{}", row.efficiency), fmt::format("{}", row.joules_per_sequence)});
  }
  return text;
}

Figure scaling_figure(const std::string& name, const std::vector<ScalingRow>& rows) {
  std::vector<ScalingPoint> points;
  for (const ScalingRow& row : rows) {
    ScalingPoint point{static_cast<double>(row.training.chips()), row.sequences_per_s,
                       row.sequences_per_s / row.efficiency};
    if (row.trust) {  // errors of a time
      point.low = row.sequences_per_s * (1 + row.trust->p5);
      point.high = row.sequences_per_s * (1 + row.trust->p95);
    }
    points.push_back(point);
  }
  return scaling_lines({"scaling",
                        {name, fmt::format("a batch of {} sequences, more and more chips",
                                           rows.front().training.global_batch())},
                        "chips",
                        "sequences/s"},
                       points);
}

}  // namespace lacuna
