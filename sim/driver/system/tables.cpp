// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/tables.hpp"

#include <fmt/format.h>

#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

NamedTable metrics_table(const std::string& name, const std::vector<SystemMetric>& metrics) {
  NamedTable table{name, {"quantity", "value", "unit"}, {}};
  for (const SystemMetric& metric : metrics) {
    table.rows.push_back({metric.name, fmt::format("{}", metric.value), metric.unit});
  }
  return table;
}

std::vector<SystemMetric> rate_metrics(const system::TrainingParams& training,
                                       const StepNumbers& step) {
  const double sequences = training.global_batch();
  const double tokens = static_cast<double>(training.tokens) * sequences / training.packing;
  const double tflops = step.flop / step.seconds * 1e-12;
  return {{"global_batch", sequences, "sequences"},
          {"sequences_per_s", sequences / step.seconds, "1/s"},
          {"tokens_per_s", tokens / step.seconds, "1/s"},
          {"tflops", tflops, "TFLOP/s"},
          {"tflops_per_chip", tflops / step.chips, "TFLOP/s"}};
}

std::vector<SystemMetric> energy_metrics(const EnergyAccount& energy, double steps,
                                         double seconds) {
  const JouleRange all = energy.total();
  return {{"energy", all.nominal / steps, "J"},
          {"energy_low", all.low / steps, "J"},
          {"energy_high", all.high / steps, "J"},
          {"power", all.nominal / seconds, "W"}};
}

std::vector<SystemMetric> part_metrics(const EnergyAccount& energy, double steps) {
  std::vector<SystemMetric> metrics = {
      {"energy_" + energy.work.key, energy.work.joules.nominal / steps, "J"}};
  for (const SystemEnergyPart& part : energy.beside) {
    metrics.push_back({"energy_" + part.key, part.joules.nominal / steps, "J"});
  }
  return metrics;
}

SystemMetric energy_per_sequence(const system::TrainingParams& training, double joules) {
  return {"energy_per_sequence", joules / training.global_batch(), "J"};
}

std::vector<SystemMetric> whole_training(const system::TrainingParams& training, double seconds) {
  if (training.train_steps == 0) return {};
  return {{"training_time", training.train_steps * seconds / 3600, "h"}};
}

std::string quantities_text(const std::vector<SystemMetric>& metrics) {
  TextTable table;
  table.column("quantity", "", TextTable::Align::left);
  table.column("value", "");
  table.column("unit", "", TextTable::Align::left);
  for (const SystemMetric& metric : metrics) {
    const bool part = metric.name.rfind("energy_", 0) == 0 && metric.name != "energy_per_sequence";
    if (!part) table.row({metric.name, four_digits(metric.value), metric.unit});
  }
  return table.text();
}

NamedTable time_stack_table(const std::string& name, const std::vector<const char*>& uses,
                            const std::vector<std::vector<std::uint64_t>>& ns) {
  NamedTable table{name, {"chip", "use", "ns"}, {}};
  for (std::size_t chip = 0; chip < ns.size(); ++chip) {
    for (std::size_t use = 0; use < uses.size(); ++use) {
      table.rows.push_back(
          {fmt::format("{}", chip), uses[use], fmt::format("{}", ns[chip].at(use))});
    }
  }
  return table;
}

std::uint64_t MemoryOfPlace::total() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.second;
  return sum;
}

NamedTable memory_table(const std::string& name, const std::vector<MemoryOfPlace>& places) {
  NamedTable table{name, {"phase", "chip"}, {}};
  if (!places.empty()) {
    for (const auto& part : places.front().parts) table.columns.emplace_back(part.first);
  }
  table.columns.insert(table.columns.end(), {"total", "capacity"});
  for (const MemoryOfPlace& place : places) {
    std::vector<std::string> cells = {place.phase, place.place};
    for (const auto& part : place.parts) cells.push_back(fmt::format("{}", part.second));
    cells.push_back(fmt::format("{}", place.total()));
    cells.push_back(fmt::format("{}", place.capacity));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string timeline_json(const std::string& process, const std::vector<std::string>& tracks,
                          const std::vector<TimelineBar>& bars) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::string separator;
  const auto add = [&](const std::string& event) {
    text += separator + event;
    separator = ",\n";
  };
  add(fmt::format(R"({{"name":"process_name","ph":"M","pid":0,"args":{{"name":"{}"}}}})", process));
  for (std::size_t track = 0; track < tracks.size(); ++track) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"{}"}}}})",
                    track, tracks[track]));
  }
  for (const TimelineBar& bar : bars) {
    add(fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                    bar.name, bar.track, static_cast<double>(bar.from) * 1e-3,
                    static_cast<double>(bar.to - bar.from) * 1e-3));
  }
  return text + "\n]}\n";
}

std::string csv_of(const NamedTable& table) {
  std::string text = csv_line(table.columns);
  for (const std::vector<std::string>& row : table.rows) text += csv_line(row);
  return text;
}

}  // namespace lacuna
