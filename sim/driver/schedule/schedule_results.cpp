// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/schedule_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

std::optional<double> bytes_of(const SummaryRow& row) {
  if (!row.sram_read_bytes || !row.sram_write_bytes) return std::nullopt;
  return static_cast<double>(*row.sram_read_bytes + *row.sram_write_bytes);
}

std::optional<double> share(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

std::optional<double> cycles_of(const SummaryRow& row) {
  return row.cycles ? std::optional<double>(static_cast<double>(*row.cycles)) : std::nullopt;
}

/// The machines of `rows`, in their order.
std::vector<std::string> machines_of(const std::vector<SampleRow>& rows) {
  std::vector<std::string> machines;
  for (const SampleRow& row : rows) {
    if (machines.empty() || machines.back() != row.machine) machines.push_back(row.machine);
  }
  return machines;
}

}  // namespace

std::optional<double> joules_of(const SummaryRow& row) {
  return row.energy_j ? std::optional<double>(row.energy_j->nominal) : std::nullopt;
}

double SampleRow::exposed_s() const {
  if (!update) return gradient_s;
  constexpr double kNs = 1e-9;
  const double convert = static_cast<double>(update->convert_ns) * kNs;
  const double transfer = static_cast<double>(update->transfer_ns) * kNs;
  if (!overlap) return gradient_s + convert + transfer;
  const double hides = static_cast<double>(point->phase.steps) * total.time_s.value_or(0);
  return gradient_s + std::max(0.0, std::max(convert, transfer) - hides);
}

std::optional<double> SampleRow::step_time() const {
  if (!total.time_s || point->steps == 0) return total.time_s;
  const double share = static_cast<double>(point->updates) / static_cast<double>(point->steps);
  return *total.time_s + exposed_s() * share;
}

void add_dense_gradients(std::vector<SampleRow>& rows, std::size_t first,
                         const std::vector<const RunRecord*>& records, const RunRecord& dense) {
  const auto gradients = [](const RunRecord& record) {
    double seconds = 0;
    for (const OpRecord& op : record.ops) {
      const std::string& id = op.row.op_id;
      const std::string end = "_dw";
      const bool gradient = id.size() > end.size() && id.rfind(end) == id.size() - end.size();
      if (gradient) seconds += op.row.time_s.value_or(0);
    }
    return seconds;
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    rows[first + i].gradient_s = std::max(0.0, gradients(dense) - gradients(*records[i]));
  }
}

SampleRow sample_row(const SchedulePoint& point, const RunRecord& record) {
  SampleRow row;
  row.point = &point;
  row.machine = record.machine;
  row.total = record.total;
  for (const ParameterValue& parameter : record.parameters) {
    if (parameter.path == "host.overlap") row.overlap = parameter.value == "true";
  }
  for (const OpRecord& op : record.ops) {
    for (const auto& [name, text] : op.result.notes) {
      if (name != "propagation steps") continue;
      row.propagation =
          row.propagation.value_or(0) + op.repeat * std::strtoull(text.c_str(), nullptr, 10);
    }
    for (const StatEntry& entry : op.result.statistics) {
      const auto add = [&](const char* name, std::uint64_t UpdateCost::*member) {
        if (entry.path != "host" || entry.name != name) return;
        if (!row.update) row.update = UpdateCost{};
        *row.update.*member += entry.value;
      };
      add("convert_ns", &UpdateCost::convert_ns);
      add("transfer_ns", &UpdateCost::transfer_ns);
    }
  }
  return row;
}

std::string results_csv(const std::vector<SampleRow>& rows) {
  std::string csv = csv_line({"machine", "update", "steps", "density", "imbalance_16x16", "cycles",
                              "time_s", "useful_tflops", "energy_j", "sram_bytes", "fabric_bytes",
                              "io_bytes", "propagation_steps", "updates", "update_convert_ns",
                              "update_transfer_ns", "update_exposed_s", "step_time", "status"});
  for (const SampleRow& row : rows) {
    const auto cost = [&](std::uint64_t UpdateCost::*member) {
      return row.update ? std::optional(*row.update.*member) : std::nullopt;
    };
    csv += csv_row(row.machine, row.point->phase.index, row.point->steps, row.point->phase.density,
                   row.point->imbalance, row.total.cycles, row.total.time_s,
                   row.total.useful_tflops, joules_of(row.total), bytes_of(row.total),
                   row.total.fabric_bytes, row.total.io_bytes, row.propagation, row.point->updates,
                   cost(&UpdateCost::convert_ns), cost(&UpdateCost::transfer_ns), row.exposed_s(),
                   row.step_time(), status_name(row.total.status));
  }
  return csv;
}

Figure time_figure(const std::vector<SampleRow>& rows) {
  const std::vector<std::string> machines = machines_of(rows);
  std::map<std::uint64_t, std::map<std::string, double>> times;
  for (const SampleRow& row : rows) {
    if (row.total.time_s) times[row.point->phase.index][row.machine] = *row.step_time() * 1e6;
  }
  Chart chart;
  chart.page.name = "step_time";
  chart.page.left = 0.62;
  chart.page.title = {"Simulated time of a step over the schedule"};
  chart.columns = {"update"};
  chart.x.label = "update";
  chart.y = {"time of a step, us", false, 0};
  for (const std::string& machine : machines) {
    const auto index = static_cast<unsigned>(chart.layers.size());
    chart.columns.push_back(machine);
    chart.layers.push_back(
        {Mark::joined, {}, "update", machine, series_style(index, machine, index), machine});
  }
  std::string lines;
  for (const auto& [update, by_machine] : times) {
    std::vector<std::string> cells = as_cells(update);
    for (const std::string& machine : machines) {
      const auto found = by_machine.find(machine);
      cells.push_back(found == by_machine.end() ? "" : cell_text(found->second));
    }
    lines += csv_line(cells);
  }
  return draw(chart, lines);
}

std::string results_table(const std::vector<SampleRow>& rows) {
  TextTable table({"machine<", "update", "steps", "density", "moved", "explored", "imbalance|16x16",
                   "cycles|per step", "time|us", "useful|TFLOP/s", "energy|mJ", "SRAM|MB",
                   "spill|steps", "update|us", "exposed|us", "step|us", "status<"});
  std::string machine;
  for (const SampleRow& row : rows) {
    if (!machine.empty() && machine != row.machine) table.rule();
    machine = row.machine;
    table.row(as_cells(
        row.machine, row.point->phase.index, row.point->steps,
        four_digits(row.point->phase.density), fmt::format("{:.4f}", row.point->phase.moved),
        fmt::format("{:.4f}", row.point->phase.explored),
        fmt::format("{:.3f}", row.point->imbalance), row.total.cycles,
        number_cell(row.total.time_s, 1e6), number_cell(row.total.useful_tflops),
        number_cell(joules_of(row.total), 1e3), number_cell(bytes_of(row.total), 1e-6),
        row.propagation,
        row.update
            ? four_digits(static_cast<double>(row.update->convert_ns + row.update->transfer_ns) *
                          1e-3)
            : "",
        four_digits(row.exposed_s() * 1e6), number_cell(row.step_time(), 1e6),
        row.total.status == Status::ok ? "" : status_name(row.total.status)));
  }
  return table.text();
}

Figure rounds_figure(const std::vector<SchedulePoint>& points, double dense_flop,
                     const std::vector<SampleRow>& rows, const std::vector<SummaryRow>& dense) {
  const std::vector<std::string> machines = machines_of(rows);
  Chart chart;
  chart.page.name = "rounds";
  chart.page.left = 0.5;
  chart.page.title = {"A step in each round of pruning (dense = 1)"};
  chart.columns = {"round", "density", "FLOP"};
  for (const std::string& machine : machines) {
    chart.columns.push_back(machine + " cycles");
    chart.columns.push_back(machine + " SRAM bytes");
  }
  chart.x.label = "round";
  chart.y = {"share of the dense step", false, 0};
  for (std::size_t i = 1; i < chart.columns.size(); ++i) {
    const std::string& column = chart.columns[i];
    chart.layers.push_back(
        {Mark::joined, {}, "round", column, line_style(static_cast<unsigned>(i - 1)), column});
  }
  std::string lines;
  for (const SchedulePoint& point : points) {
    std::vector<std::string> cells =
        as_cells(point.phase.index, point.phase.density, point.flop / dense_flop);
    for (std::size_t i = 0; i < machines.size(); ++i) {
      std::optional<double> cycles;
      std::optional<double> bytes;
      for (const SampleRow& row : rows) {
        if (row.machine != machines[i] || row.point != &point) continue;
        cycles = share(cycles_of(row.total), cycles_of(dense[i]));
        bytes = share(bytes_of(row.total), bytes_of(dense[i]));
      }
      append(cells, as_cells(cycles, bytes));
    }
    lines += csv_line(cells);
  }
  return draw(chart, lines);
}

Figures phases_figure(const std::vector<SchedulePoint>& points, double dense_flop,
                      const std::vector<SampleRow>& rows, const std::vector<SummaryRow>& dense) {
  StackedFigure figure;
  figure.name = "phases";
  figure.title = {"Sparse pre-training and dense fine-tuning"};
  figure.x_label = "share of all of it dense, %";
  figure.note_label = "less";
  figure.parts = {{"pre-training", "#0072B2"}, {"fine-tuning", "#E69F00"}};
  // `value` of a phase, `base` of a dense step; both for a step
  const auto bar = [&](const std::string& label, const std::string& group, auto value,
                       const std::optional<double>& base) {
    double steps = 0;
    for (const SchedulePoint& point : points) steps += static_cast<double>(point.phase.steps);
    StackedBar one{label, group, {0, 0}, ""};
    double sum = 0;
    for (const SchedulePoint& point : points) {
      const std::optional<double> part = share(value(point), base);
      if (!part) return;  // it did not run
      const double percent = *part * static_cast<double>(point.phase.steps) / steps * 100;
      one.values[point.phase.dense ? 1 : 0] += percent;
      sum += percent;
    }
    one.note = fmt::format("{:.2f}x", 100 / sum);
    figure.bars.push_back(std::move(one));
  };
  bar(
      "FLOP", "", [](const SchedulePoint& point) { return std::optional<double>(point.flop); },
      dense_flop);
  const std::vector<std::string> machines = machines_of(rows);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const auto of = [&](auto quantity) {
      return [&rows, &machines, i, quantity](const SchedulePoint& point) -> std::optional<double> {
        for (const SampleRow& row : rows) {
          if (row.machine == machines[i] && row.point == &point) return quantity(row.total);
        }
        return std::nullopt;
      };
    };
    const auto seconds = [](const SummaryRow& row) { return row.time_s; };
    bar(machines[i] + " time", machines[i], of(seconds), seconds(dense[i]));
    bar(machines[i] + " energy", machines[i], of(joules_of), joules_of(dense[i]));
  }
  Figures figures;
  add_stacked(figure, figures);
  return figures;
}

}  // namespace lacuna
