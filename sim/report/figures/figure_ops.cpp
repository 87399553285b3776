// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostOps = 24;  // of one page

/// A quantity of an operation, drawn as dots beside its name.
struct OpQuantity {
  const char* name;
  const char* label;
  bool of_dense;  // relative to the dense run, of which alone it says nothing
  std::optional<EnergyRange> (*value)(const SummaryRow& op);
};

constexpr std::array<OpQuantity, 2> kOpQuantities{
    {{"throughput_by_op", "Useful TFLOP/s", false, throughput_range},
     {"speedup_by_op", "Speed-up over dense", true, speedup_range}}};

/// Runs of one density, and the dense ones they are compared with.
struct Panel {
  std::string suffix;  // of the file's name
  FigureRuns runs;
  std::vector<SeriesStyle> styles;
};

std::vector<Panel> panels(const FigureRuns& runs) {
  const std::vector<SeriesStyle> styles = run_styles(runs);
  std::vector<std::string> densities;
  for (const FigureRun& run : runs) {
    const std::string& text = run.density_text;
    const bool known = contains(densities, text);
    if (run.pattern != "dense" && !known) densities.push_back(text);
  }
  if (densities.empty()) densities.emplace_back("1");
  std::vector<Panel> result;
  for (const std::string& density : densities) {
    Panel panel;
    if (densities.size() > 1) panel.suffix = "_density_" + density;
    std::replace(panel.suffix.begin(), panel.suffix.end(), '.', '_');
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].pattern != "dense" && runs[i].density_text != density) continue;
      panel.runs.push_back(runs[i]);
      panel.styles.push_back(styles[i]);
    }
    result.push_back(panel);
  }
  return result;
}

std::vector<std::string> op_names(const Panel& panel) {
  std::vector<std::string> names;
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      if (!contains(names, op.op_id)) {
        names.push_back(op.op_id);
      }
    }
  }
  return names;
}

/// The dots as rows of CSV; `low` and `high` become their extremes.
std::string dots_rows(const Panel& panel, const OpQuantity& quantity,
                      const std::vector<std::string>& names, double& low, double& high) {
  std::string csv;
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      const std::optional<EnergyRange> value = quantity.value(op);
      if (!value) continue;
      const std::size_t place = *place_in(names, op.op_id);
      csv += csv_row(key_cell(run.bar()), op.op_id, place, value->nominal, value->low, value->high);
      low = low == 0 ? value->low : std::min(low, value->low);
      high = std::max(high, value->high);
    }
  }
  return csv;
}

/// What has no value stands at the left edge, with its reason; of one operation all in a line.
std::vector<std::string> gaps_of(const Panel& panel, const std::vector<std::string>& names) {
  std::vector<std::string> texts(names.size());
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      if (op.status == Status::ok) continue;
      const std::size_t place = *place_in(names, op.op_id);
      std::string& text = texts[place];
      text += (text.empty() ? "" : "; ") + run.bar() + ": " + status_words(op.status);
    }
  }
  return texts;
}

/// The dots with their ranges, for rows from `low` to `high`.
Chart dots_of(const Panel& panel, const OpQuantity& quantity, const std::vector<std::string>& names,
              const std::vector<std::string>& title, double low, double high) {
  Chart chart;
  chart.page.name = quantity.name + panel.suffix;
  chart.page.title = title;
  chart.page.data_height = 0.16 * static_cast<double>(names.size()) + 0.1;
  chart.page.left = widest(names) + 0.12;
  chart.columns = {"series", "op", "place", quantity.label, "low", "high"};
  chart.x = log_axis(quantity.label, log_marks(low, high));
  chart.y = named_rows(names);
  const std::vector<std::string> gaps = gaps_of(panel, names);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (!gaps[i].empty()) chart.gaps.emplace_back(static_cast<double>(i), gaps[i]);
  }
  for (std::size_t i = 0; i < panel.runs.size(); ++i) {
    ChartLayer layer{
        Mark::across, {{"series", panel.runs[i].bar()}}, quantity.label, "place", panel.styles[i]};
    chart.layers.push_back(layer);
    layer.mark = Mark::points;
    layer.label = panel.runs[i].bar();
    layer.size = 0.55;
    chart.layers.push_back(std::move(layer));
  }
  return chart;
}

}  // namespace

void add_op_figures(const FigureRuns& runs, Figures& figures) {
  for (const Panel& panel : panels(runs)) {
    const std::vector<std::string> names = op_names(panel);
    // one operation is its own total, and of very many the table tells more
    if (names.size() < 2 || names.size() > kMostOps) continue;
    for (const OpQuantity& quantity : kOpQuantities) {
      double low = 0;
      double high = 0;
      const std::string rows = dots_rows(panel, quantity, names, low, high);
      const bool only_dense =
          all_of(panel.runs, [](const auto& run) { return run.pattern == "dense"; });
      if (low == 0 || (only_dense && quantity.of_dense) || panel.runs.size() > 16) continue;
      figures.push_back(
          draw(dots_of(panel, quantity, names, figure_title(panel.runs), low, high), rows));
    }
  }
}

Figures make_figures(const Runs& records, const FigureExtras& extras) {
  Figures figures;
  const FigureRuns runs = figure_runs(records);
  if (runs.empty()) return figures;
  add_density_figures(extras.measured, runs, figures);
  // of runs that differ in their seed alone, bars and maps show the first
  FigureRuns firsts;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(firsts),
               [](const FigureRun& run) { return !run.repeated; });
  add_sweep_figures(firsts, figures);
  add_area_figure(firsts, figures);
  add_op_figures(firsts, figures);
  add_stack_figures(firsts, figures);
  add_energy_figure(firsts, figures);
  add_roofline_figure(firsts, figures);
  add_bandwidth_figure(firsts, figures);
  add_blas_figure(extras.references, firsts, figures);
  add_layer_figures(firsts, figures);
  add_map_figures(firsts, figures);
  add_layout_map(firsts, figures);
  return figures;
}

}  // namespace lacuna
