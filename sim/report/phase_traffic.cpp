// SPDX-License-Identifier: Apache-2.0
#include "sim/report/phase_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/byte_ways.hpp"
#include "sim/report/figures/figure_drawing.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostDrawnRuns = 8;

constexpr std::size_t kWays = std::tuple_size_v<std::decay_t<decltype(byte_ways())>>;

/// Phases of one name: cycles, and for each way the bytes and what it could have moved.
struct Traffic {
  std::string name;
  double cycles = 0;
  std::array<double, kWays> bytes{};
  std::array<double, kWays> possible{};

  bool moves() const {
    return any_of(bytes, [](double b) { return b > 0; });
  }
};

Traffic traffic_of(const OpRecord& op, const PhaseTraffic& phase) {
  Traffic traffic{phase.name};
  const auto times = static_cast<double>(op.repeat);
  traffic.cycles = static_cast<double>(phase.cycles) * times;
  for (std::size_t i = 0; i < kWays; ++i) {
    traffic.bytes.at(i) = static_cast<double>(phase.*byte_ways().at(i).bytes) * times;
    traffic.possible.at(i) = op.result.peaks.*byte_ways().at(i).peak * traffic.cycles;
  }
  return traffic;
}

/// The phases of a run that moved anything, those of one name together, the first ones.
std::vector<Traffic> traffic_of(const RunRecord& run) {
  std::vector<Traffic> all;
  for (const OpRecord& op : run.ops) {
    for (const PhaseTraffic& phase : op.result.phases) {
      const Traffic one = traffic_of(op, phase);
      if (!one.moves() || !(one.cycles > 0)) continue;
      const auto is_same = [&](const Traffic& other) { return other.name == one.name; };
      if (all.size() == kMostBars && !any_of(all, is_same)) continue;
      Traffic& same = find_or_add(all, is_same, {one.name});
      same.cycles += one.cycles;
      for (std::size_t i = 0; i < kWays; ++i) {
        same.bytes.at(i) += one.bytes.at(i);
        same.possible.at(i) += one.possible.at(i);
      }
    }
  }
  return all;
}

std::string figure_rows(const std::vector<Traffic>& bars) {
  std::string csv;
  for (std::size_t w = 0; w < kWays; ++w) {
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const Traffic& bar = bars[i];
      if (!(bar.possible.at(w) > 0)) continue;
      csv +=
          csv_row(byte_ways().at(w).name, bar.name, i, bar.bytes.at(w) / bar.possible.at(w) * 100,
                  bar.bytes.at(w), bar.possible.at(w), bar.cycles);
    }
  }
  return csv;
}

/// A phase with its share of the cycles of all.
std::vector<std::string> labels_of(const std::vector<Traffic>& bars, double cycles) {
  std::vector<std::string> labels;
  labels.reserve(bars.size());
  for (const Traffic& bar : bars) {
    labels.push_back(fmt::format("{} ({:.0f} %)", bar.name, 100 * bar.cycles / cycles));
  }
  return labels;
}

Figure figure_of(const RunRecord& run, const std::vector<Traffic>& bars, const std::string& name) {
  double cycles = 0;
  for (const OpRecord& op : run.ops) cycles += static_cast<double>(op.result.cycles);
  const std::vector<std::string> labels = labels_of(bars, cycles);
  const std::vector<std::string> title = {
      run.pattern.empty() ? fmt::format("{}, {}", run.machine, run.workload)
                          : fmt::format("{}, {}, {}", run.machine, run.workload, run.pattern),
      "phases, and their shares of the cycles"};
  Chart chart = share_chart(name, title, labels);
  chart.columns = {"way", "phase", "place", "percent_of_peak", "bytes", "peak_bytes", "cycles"};
  for (std::size_t w = 0; w < kWays; ++w) {
    const bool there = any_of(bars, [&](const Traffic& bar) { return bar.possible.at(w) > 0; });
    if (!there) continue;
    chart.layers.push_back(share_layer(byte_ways().at(w).name, byte_ways().at(w).style));
  }
  return draw(chart, figure_rows(bars));
}

}  // namespace

std::string phases_csv(const Runs& records) {
  std::vector<std::string> head{"run", "op_id", "phase", "cycles"};
  for (const ByteWay& way : byte_ways()) {
    for (const char* const what : {"bytes", "gbps", "share"}) {
      head.push_back(fmt::format("{}_{}", way.column, what));
    }
  }
  std::string csv;
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      for (const PhaseTraffic& phase : op.result.phases) {
        const Traffic traffic = traffic_of(op, phase);
        std::vector<std::string> cells =
            as_cells(run.run, op.row.op_id, phase.name, phase.cycles * op.repeat);
        for (std::size_t w = 0; w < kWays; ++w) {
          const double bytes = traffic.bytes.at(w);
          const double possible = traffic.possible.at(w);
          const double gbps = bytes / traffic.cycles * op.result.clock_ghz;
          append(cells, as_cells(phase.*byte_ways().at(w).bytes * op.repeat,
                                 traffic.cycles > 0 ? cell_text(gbps) : "",
                                 possible > 0 ? cell_text(bytes / possible) : ""));
        }
        csv += csv_line(cells);
      }
    }
  }
  return csv.empty() ? csv : csv_line(head) + csv;
}

std::string phases_table(const OpRecord& op) {
  if (op.result.phases.empty()) return "";
  TextTable table({"phase<", "cycles", "memory|B", "of peak|%", "fabric|B", "of peak|%", "edge|B",
                   "of peak|%"});
  for (const PhaseTraffic& phase : op.result.phases) {
    const Traffic traffic = traffic_of(op, phase);
    std::vector<std::string> cells = as_cells(phase.name, phase.cycles * op.repeat);
    for (std::size_t w = 0; w < kWays; ++w) {
      const double possible = traffic.possible.at(w);
      cells.push_back(cell_text(phase.*byte_ways().at(w).bytes * op.repeat));
      cells.push_back(possible > 0 ? fmt::format("{:.1f}", 100 * traffic.bytes.at(w) / possible)
                                   : "");
    }
    table.row(cells);
  }
  return table.text();
}

Figures phase_figures(const Runs& records) {
  Figures figures;
  if (records.size() > kMostDrawnRuns) return figures;
  for (const RunRecord& run : records) {
    const std::vector<Traffic> bars = traffic_of(run);
    if (bars.empty()) continue;
    figures.push_back(figure_of(
        run, bars,
        records.size() == 1 ? "bandwidth_phases" : fmt::format("bandwidth_phases_{}", run.run)));
  }
  return figures;
}

}  // namespace lacuna
