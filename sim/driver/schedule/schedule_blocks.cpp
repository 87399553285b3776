// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/schedule_blocks.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

/// The loss of a dense model with about `flop` FLOP for a sequence, as the source interpolates it.
std::optional<double> dense_loss_at(const ValidationPoints& points, double flop) {
  const std::string mark = "dense interpolated to ";
  for (const ValidationPoint& point : points) {
    if (point.metric != "MLM_loss" || !starts_with(point.workload, mark)) continue;
    const double at = std::strtod(point.workload.c_str() + mark.size(), nullptr);
    constexpr double kNear = 0.01;
    if (std::abs(at - flop) < kNear * flop) return point.value;
  }
  return std::nullopt;
}

std::string relative(double part, double whole) {
  return whole > 0 ? fmt::format("{}", part / whole) : "";
}

std::string optional_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "";
}

}  // namespace

void add_published_losses(const std::string& model, double density,
                          std::vector<BlockOutcome>& outcomes) {
  ValidationPoints points;
  for (const auto& file : shipped_validation_points()) {
    for (ValidationPoint& point : read_validation_points(file)) {
      if (point.metric == "MLM_loss") points.push_back(std::move(point));
    }
  }
  constexpr double kSame = 1e-9;
  for (BlockOutcome& outcome : outcomes) {
    outcome.dense_loss = dense_loss_at(points, outcome.flop);
    for (const ValidationPoint& point : points) {
      const bool same = point.mode == "dynamic" && point.block == outcome.block && point.density &&
                        std::abs(point.density->value() - density) < kSame;
      // the main results, without the variations of one setting
      if (same && starts_with(lower_case(point.workload), model + " phase-1"))
        outcome.loss = point.value;
    }
  }
}

std::string blocks_table(const std::vector<BlockOutcome>& outcomes) {
  TextTable table({"block", "machine<", "loss|published", "dense loss|same FLOP",
                   "FLOP|per sequence", "step|us", "dense|us", "energy|mJ", "FLOP|x fewer",
                   "time|x less", "energy|x less"});
  for (const BlockOutcome& outcome : outcomes) {
    for (const MachineTotals& machine : outcome.machines) {
      const auto value = [&](double number) { return machine.whole ? four_digits(number) : ""; };
      table.row({fmt::format("{}", outcome.block), machine.machine, optional_number(outcome.loss),
                 optional_number(outcome.dense_loss), fmt::format("{:.4g}", outcome.flop),
                 value(machine.seconds / outcome.steps * 1e6),
                 value(machine.dense_seconds / outcome.steps * 1e6),
                 value(machine.joules / outcome.steps * 1e3),
                 four_digits(outcome.dense_flop / outcome.flop),
                 value(machine.dense_seconds / machine.seconds),
                 value(machine.dense_joules / machine.joules)});
    }
  }
  return "\nBy block; losses are published and not simulated\n\n" + table.text();
}

Figures blocks_figures(const std::vector<BlockOutcome>& outcomes) {
  const bool any = any_of(outcomes, [](const BlockOutcome& each) { return each.loss.has_value(); });
  if (!any) return {};
  Chart chart;
  chart.page.name = "loss_cost";
  chart.page.left = 0.62;
  chart.page.title = {"Published loss against the cost of a step (dense = 1)"};
  chart.columns = {"block", "published_loss", "FLOP"};
  for (const MachineTotals& machine : outcomes.front().machines) {
    chart.columns.push_back(machine.machine + " time");
    chart.columns.push_back(machine.machine + " energy");
  }
  chart.x = {"cost of a step, dense = 1", true};
  chart.y.label = "published loss (not simulated), nats";
  ChartLayer one;
  one.mark = Mark::wall;
  one.value = 1;
  one.style = {"#888888", 0, 3};
  one.weight = 0.7;
  chart.layers = {one};
  constexpr std::array<const char*, 5> kColours = {"#000000", "#0072B2", "#D55E00", "#009E73",
                                                   "#CC79A7"};
  for (std::size_t i = 2; i < chart.columns.size(); ++i) {
    const std::string& column = chart.columns[i];
    const SeriesStyle style{kColours.at((i - 2) % kColours.size()), static_cast<unsigned>(4 + i)};
    chart.layers.push_back({Mark::joined, {}, column, "published_loss", style, column});
  }
  std::string rows;
  for (const BlockOutcome& outcome : outcomes) {
    std::vector<std::string> cells = as_cells(outcome.block, optional_number(outcome.loss),
                                              relative(outcome.flop, outcome.dense_flop));
    for (const MachineTotals& machine : outcome.machines) {
      cells.push_back(machine.whole ? relative(machine.seconds, machine.dense_seconds) : "");
      cells.push_back(machine.whole ? relative(machine.joules, machine.dense_joules) : "");
    }
    rows += csv_line(cells);
  }
  return {draw(chart, rows)};
}

}  // namespace lacuna
