// SPDX-License-Identifier: Apache-2.0
#include "sim/report/power_over_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/report/figures/byte_ways.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

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

ChartLayer over_time(const std::string& column, const char* label, const std::string& colour) {
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
  for (const ByteWay& way : byte_ways()) {
    const auto bytes = static_cast<double>(interval.*way.in_interval);
    const double peak = result.peaks.*way.peak;
    power.*way.power_gbps = bytes / seconds * 1e-9;
    if (peak > 0) power.*way.share = bytes / (peak * cycles);
  }
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

std::string power_csv(const Runs& records) {
  const std::string head =
      csv_line({"run", "op_id", "from_cycle", "to_cycle", "power_w", "power_low_w", "power_high_w",
                "sram_gbps", "fabric_gbps", "io_gbps", "sram_share", "fabric_share", "io_share"});
  std::string csv;
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      for (const PowerInterval& each : op.power) {
        csv += csv_row(op.row.run, op.row.op_id, each.from, each.to, each.watts.nominal,
                       each.watts.low, each.watts.high, each.sram_gbps, each.fabric_gbps,
                       each.io_gbps, each.sram_share, each.fabric_share, each.io_share);
      }
    }
  }
  return csv.empty() ? csv : head + csv;
}

std::string intervals_csv(const Runs& records) {
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
        for (const ByteWay& way : byte_ways()) {
          line("bytes", way.column, "B", each.*way.in_interval);
        }
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
  const double micros = micros_of(op);
  Chart chart = over_time("bandwidth_time", run, op, micros);
  for (const ByteWay& way : byte_ways()) {
    chart.columns.push_back(way.column + std::string("_percent"));
    if (!(op.power.front().*way.share)) continue;  // a machine without it
    chart.layers.push_back(over_time(chart.columns.back(), way.name, way.style.colour));
  }
  std::string rows;
  double most = 0;
  for (const PowerInterval& each : op.power) {
    for (const Cycle cycle : {each.from, each.to}) {
      std::vector<std::string> cells = as_cells(static_cast<double>(cycle) * micros);
      for (const ByteWay& way : byte_ways()) {
        const std::optional<double>& share = each.*way.share;
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
