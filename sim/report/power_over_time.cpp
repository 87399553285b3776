// SPDX-License-Identifier: Apache-2.0
#include "sim/report/power_over_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

std::optional<double> share_of(std::uint64_t bytes, double peak_per_cycle, double cycles) {
  if (!(peak_per_cycle > 0)) return std::nullopt;
  return static_cast<double>(bytes) / (peak_per_cycle * cycles);
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

/// A figure of one operation over its time, without its lines.
struct OverTime {
  Figure figure;
  Page page;
  double micros = 0;  // of a cycle
};

OverTime over_time(const char* name, const RunRecord& run, const OpRecord& op) {
  std::string id = op.row.op_id;
  std::replace_if(
      id.begin(), id.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  OverTime made;
  made.figure.name = fmt::format("{}_run{}_{}", name, run.run, id);
  made.micros = 1 / (op.result.clock_ghz * 1000);
  made.page.name = made.figure.name;
  made.page.title = {fmt::format("{}, {}, {}", run.machine, run.workload, op.row.op_id),
                     fmt::format("intervals of {} cycles", op.power.front().to)};
  made.page.left = 0.5;
  return made;
}

std::string time_axis(const OverTime& made, Cycle end) {
  return fmt::format("  set xlabel 'Time (us)'\n  set xrange [0:{:.6g}]\n",
                     static_cast<double>(end) * made.micros);
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
    csv += csv_line({fmt::format("{}", op.row.run), op.row.op_id, fmt::format("{}", each.from),
                     fmt::format("{}", each.to), fmt::format("{}", each.watts.nominal),
                     fmt::format("{}", each.watts.low), fmt::format("{}", each.watts.high),
                     fmt::format("{}", each.sram_gbps), fmt::format("{}", each.fabric_gbps),
                     fmt::format("{}", each.io_gbps), cell(each.sram_share),
                     cell(each.fabric_share), cell(each.io_share)});
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
          csv += csv_line({fmt::format("{}", run.run), op.row.op_id, fmt::format("{}", each.from),
                           fmt::format("{}", each.to), path, name, unit, fmt::format("{}", value)});
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
  OverTime made = over_time("power", run, op);
  Figure& figure = made.figure;
  figure.csv = csv_line({"time_us", "low", "nominal", "high"});
  double most = 0;
  for (const PowerInterval& each : op.power) {
    most = std::max(most, each.watts.high);
    for (const Cycle cycle : {each.from, each.to}) {  // a step, drawn as its two ends
      figure.csv +=
          csv_line({fmt::format("{}", static_cast<double>(cycle) * made.micros),
                    fmt::format("{}", each.watts.low), fmt::format("{}", each.watts.nominal),
                    fmt::format("{}", each.watts.high)});
    }
  }
  made.page.legend = {"all prices low to all high", "nominal"};
  std::string body = time_axis(made, op.power.back().to) + "  set ylabel 'Power (W)'\n";
  body += fmt::format("  set yrange [0:{:.6g}]\n", most > 0 ? most * 1.05 : 1);
  body += fmt::format(
      "  plot {0} skip 1 using 1:2:4 with filledcurves fillstyle solid 1.0 noborder linecolor "
      "'#CFE3F2' title 'all prices low to all high', \\\n"
      "       {0} skip 1 using 1:3 with lines linewidth 1.0 linecolor '#0072B2' title 'nominal'\n",
      quoted(figure.name + ".csv"));
  figure.script = figure_script(made.page, body);
  PythonCurves curves{"Time (us)", "Power (W)", 0, most > 0 ? most * 1.05 : 1};
  curves.curves = {{0, 2, {"nominal", {"#0072B2"}}, false}};
  curves.between = made.page.legend.front();
  figure.python = python_of_curves(made.page, curves);
  return figure;
}

Figure bandwidth_time_figure(const RunRecord& run, const OpRecord& op) {
  struct Line {
    const char* title;
    std::optional<double> PowerInterval::*share;
    const char* colour;
  };
  static constexpr std::array<Line, 3> kLines{
      {{"memory", &PowerInterval::sram_share, "#0072B2"},
       {"fabric", &PowerInterval::fabric_share, "#D55E00"},
       {"input/output", &PowerInterval::io_share, "#009E73"}}};
  OverTime made = over_time("bandwidth_time", run, op);
  Figure& figure = made.figure;
  figure.csv = csv_line({"time_us", "sram_percent", "fabric_percent", "io_percent"});
  double most = 0;
  for (const PowerInterval& each : op.power) {
    for (const Cycle cycle : {each.from, each.to}) {
      std::vector<std::string> cells{fmt::format("{}", static_cast<double>(cycle) * made.micros)};
      for (const Line& line : kLines) {
        const std::optional<double>& share = each.*line.share;
        most = std::max(most, share.value_or(0));
        cells.push_back(share ? fmt::format("{}", 100 * *share) : "NaN");
      }
      figure.csv += csv_line(cells);
    }
  }
  PythonCurves curves{"Time (us)", "Bandwidth (% of its peak)", 0, most > 0 ? most * 105 : 1};
  std::string body = time_axis(made, op.power.back().to);
  body += "  set ylabel 'Bandwidth (% of its peak)'\n";
  body += fmt::format("  set yrange [0:{:.6g}]\n  plot ", most > 0 ? most * 105 : 1);
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    const Line& line = kLines.at(i);
    if (!(op.power.front().*line.share)) continue;  // a machine without it
    if (!made.page.legend.empty()) body += ", \\\n       ";
    made.page.legend.emplace_back(line.title);
    curves.curves.push_back({0, i + 1, {line.title, {line.colour}}, false});
    body += fmt::format("{} skip 1 using 1:{} with lines linewidth 1.0 linecolor '{}' title '{}'",
                        quoted(figure.name + ".csv"), i + 2, line.colour, line.title);
  }
  figure.script = figure_script(made.page, body + "\n");
  figure.python = python_of_curves(made.page, curves);
  return figure;
}

}  // namespace lacuna
