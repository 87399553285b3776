// SPDX-License-Identifier: Apache-2.0
#include "sim/report/power_over_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

std::optional<double> share_of(std::uint64_t bytes, double peak_per_cycle, double cycles) {
  if (!(peak_per_cycle > 0)) return std::nullopt;
  return static_cast<double>(bytes) / (peak_per_cycle * cycles);
}

/// A chart of one operation over its time, without its lines; `micros` of a cycle.
Chart over_time(const char* name, const RunRecord& run, const OpRecord& op, double micros) {
  Chart chart;
  chart.page.name = fmt::format("{}_run{}_{}", name, run.run, file_word(op.row.op_id));
  chart.page.title = {fmt::format("{}, {}, {}", run.machine, run.workload, op.row.op_id),
                      fmt::format("intervals of {} cycles", op.power.front().to)};
  chart.page.left = 0.5;
  chart.columns = {"time_us"};
  chart.x = {"Time (us)", false, 0, static_cast<double>(op.power.back().to) * micros};
  return chart;
}

double micros_of(const OpRecord& op) { return 1 / (op.result.clock_ghz * 1000); }

ChartLayer over_time(const char* column, const char* label, const char* colour) {
  ChartLayer layer{Mark::line, {}, "time_us", column, {colour}, label};
  layer.weight = 1;
  return layer;
}

}  // namespace

PowerInterval power_of(const Interval& interval, const JouleRange& joules, const OpResult& result) {
  PowerInterval power;
  power.from = interval.from;
  power.to = interval.to;
  const auto cycles = static_cast<double>(interval.to - interval.from);
  const double seconds = cycles / (result.clock_ghz * 1e9);
  for (const Corner corner : kCorners) power.watts.at(corner) = joules.at(corner) / seconds;
  power.sram_gbps = static_cast<double>(interval.sram_bytes) / seconds * 1e-9;
  power.fabric_gbps = static_cast<double>(interval.fabric_bytes) / seconds * 1e-9;
  power.io_gbps = static_cast<double>(interval.io_bytes) / seconds * 1e-9;
  power.sram_share = share_of(interval.sram_bytes, result.peaks.sram_bytes_per_cycle, cycles);
  power.fabric_share = share_of(interval.fabric_bytes, result.peaks.fabric_bytes_per_cycle, cycles);
  power.io_share = share_of(interval.io_bytes, result.peaks.io_bytes_per_cycle, cycles);
  return power;
}

PowerPeak power_peak(const std::vector<PowerInterval>& intervals) {
  PowerPeak peak;
  double sum = 0;
  double cycles = 0;
  for (const PowerInterval& each : intervals) {
    const auto length = static_cast<double>(each.to - each.from);
    sum += each.watts.nominal * length;
    cycles += length;
    if (each.watts.nominal <= peak.peak_w) continue;
    peak.peak_w = each.watts.nominal;
    peak.at = each.from;
  }
  peak.mean_w = cycles > 0 ? sum / cycles : 0;
  return peak;
}

std::string power_csv_head() {
  return csv_line({"run", "op_id", "from_cycle", "to_cycle", "power_w", "power_low_w",
                   "power_high_w", "sram_gbps", "fabric_gbps", "io_gbps", "sram_share",
                   "fabric_share", "io_share"});
}

std::string power_csv_rows(const OpRecord& op) {
  std::string csv;
  for (const PowerInterval& each : op.power) {
    csv += csv_row(op.row.run, op.row.op_id, each.from, each.to, each.watts.nominal, each.watts.low,
                   each.watts.high, each.sram_gbps, each.fabric_gbps, each.io_gbps, each.sram_share,
                   each.fabric_share, each.io_share);
  }
  return csv;
}

std::string intervals_csv(const std::vector<RunRecord>& records) {
  std::string csv =
      csv_line({"run", "op_id", "from_cycle", "to_cycle", "path", "name", "unit", "value"});
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      const Intervals& intervals = op.result.intervals;
      for (const Interval& each : intervals.each) {
        const auto line = [&](const std::string& path, const std::string& name,
                              const std::string& unit, std::uint64_t value) {
          csv += csv_row(run.run, op.row.op_id, each.from, each.to, path, name, unit, value);
        };
        for (std::size_t i = 0; i < each.counters.size(); ++i) {
          const StatEntry& counter = intervals.counters[i];
          line(counter.path, counter.name, counter.unit, each.counters[i]);
        }
        for (std::size_t i = 0; i < each.stack.size(); ++i) {
          const StackPart& part = intervals.stack[i];
          line("cycle_stack", fmt::format("{}.{}", layer_name(part.layer), part.kind),
               "unit-cycles", each.stack[i]);
        }
        line("bytes", "sram", "B", each.sram_bytes);
        line("bytes", "fabric", "B", each.fabric_bytes);
        line("bytes", "io", "B", each.io_bytes);
      }
    }
  }
  return csv;
}

Figure power_figure(const RunRecord& run, const OpRecord& op) {
  const double micros = micros_of(op);
  Chart chart = over_time("power", run, op, micros);
  chart.columns = {"time_us", "low", "nominal", "high"};
  std::string rows;
  double most = 0;
  for (const PowerInterval& each : op.power) {
    most = std::max(most, each.watts.high);
    for (const Cycle cycle : {each.from, each.to}) {  // a step, drawn as its two ends
      rows += csv_row(static_cast<double>(cycle) * micros, each.watts.low, each.watts.nominal,
                      each.watts.high);
    }
  }
  chart.y = {"Power (W)", false, 0, most > 0 ? most * 1.05 : 1};
  chart.layers = {over_time("", "all prices low to all high", "#CFE3F2"),
                  over_time("nominal", "nominal", "#0072B2")};
  chart.layers.front().mark = Mark::band;
  return draw(chart, rows);
}

Figure bandwidth_time_figure(const RunRecord& run, const OpRecord& op) {
  struct Line {
    const char* title;
    const char* column;
    std::optional<double> PowerInterval::*share;
    const char* colour;
  };
  static constexpr std::array<Line, 3> kLines{
      {{"memory", "sram_percent", &PowerInterval::sram_share, "#0072B2"},
       {"fabric", "fabric_percent", &PowerInterval::fabric_share, "#D55E00"},
       {"input/output", "io_percent", &PowerInterval::io_share, "#009E73"}}};
  const double micros = micros_of(op);
  Chart chart = over_time("bandwidth_time", run, op, micros);
  for (const Line& line : kLines) {
    chart.columns.emplace_back(line.column);
    if (!(op.power.front().*line.share)) continue;  // a machine without it
    chart.layers.push_back(over_time(line.column, line.title, line.colour));
  }
  std::string rows;
  double most = 0;
  for (const PowerInterval& each : op.power) {
    for (const Cycle cycle : {each.from, each.to}) {
      std::vector<std::string> cells{fmt::format("{}", static_cast<double>(cycle) * micros)};
      for (const Line& line : kLines) {
        const std::optional<double>& share = each.*line.share;
        most = std::max(most, share.value_or(0));
        cells.push_back(share ? fmt::format("{}", 100 * *share) : "NaN");
      }
      rows += csv_line(cells);
    }
  }
  chart.y = {"Bandwidth (% of its peak)", false, 0, most > 0 ? most * 105 : 1};
  return draw(chart, rows);
}

}  // namespace lacuna
