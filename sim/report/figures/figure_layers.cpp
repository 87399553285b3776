// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::array<const char*, 3> kPhases{"fwd", "bwd", "upd"};
constexpr std::size_t kMostRuns = 4;
constexpr std::size_t kMostLayers = 48;

/// Unit-cycles of a layer in a phase.
struct Busy {
  double compute = 0;
  double all = 0;
};

/// A run: its layers in the order of the trace, with a cell for each phase.
struct LayerMap {
  std::vector<std::pair<std::string, std::array<Busy, kPhases.size()>>> layers;

  std::array<Busy, kPhases.size()>& layer(const std::string& name) {
    return find_or_add(layers, [&](const auto& each) { return each.first == name; }, {name, {}})
        .second;
  }
};

/// The place of the phase that `id` begins with, as in "fwd.l0.q"; kPhases.size() if it has none.
std::size_t phase_of(const std::string& id) {
  const auto* const found = std::find_if(
      kPhases.begin(), kPhases.end(),
      [&](const std::string& phase) { return id.compare(0, phase.size() + 1, phase + ".") == 0; });
  return static_cast<std::size_t>(found - kPhases.begin());
}

LayerMap layer_map_of(const RunRecord& record) {
  LayerMap map;
  for (const OpRecord& op : record.ops) {
    const std::size_t phase = phase_of(op.row.op_id);
    if (phase == kPhases.size() || op.result.stack.empty()) continue;
    Busy& cell = map.layer(op.row.op_id.substr(4)).at(phase);
    for (const StackPart& part : op.result.stack) {
      const auto cycles = static_cast<double>(part.cycles);
      if (part.layer == Layer::compute) cell.compute += cycles;
      cell.all += cycles;
    }
  }
  return map;
}

/// Of the phases that any layer has; the others have no name.
std::vector<std::string> phase_names(const LayerMap& map) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    const bool present =
        any_of(map.layers, [&](const auto& layer) { return layer.second.at(i).all > 0; });
    names.emplace_back(present ? kPhases.at(i) : "");
  }
  return names;
}

CellMap cells_of(const LayerMap& map, const FigureRun& run) {
  CellMap all;
  all.name = fmt::format("layers_run{}", run.record->run);
  all.title = {run.bar(), "share of tiles or cores that compute"};
  all.row_name = "layer";
  all.column_name = "phase";
  all.value_name = "busy_percent";
  all.value_label = "Computing (%)";
  all.columns = phase_names(map);
  for (std::size_t row = 0; row < std::min(map.layers.size(), kMostLayers); ++row) {
    const auto& [name, cells] = map.layers[row];
    all.rows.push_back(name);
    for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
      CellMap::Cell cell{row, phase};
      if (cells.at(phase).all > 0) {  // a pixel without a value is left white
        cell.value = 100 * cells.at(phase).compute / cells.at(phase).all;
        cell.text = fmt::format("{:.0f}", *cell.value);
      }
      all.cells.push_back(cell);
    }
  }
  return all;
}

Axis named_cells(const std::vector<std::string>& names, bool down) {
  Axis axis = cells_axis("", names.size(), down);
  axis.names = true;
  axis.marks = named_rows(names).marks;
  return axis;
}

}  // namespace

Figure draw_cells(const CellMap& map) {
  CellChart chart;
  chart.page.name = map.name;
  chart.page.title = map.title;
  chart.page.data_height = std::max(1.2, 0.14 * static_cast<double>(map.rows.size()) + 0.1);
  chart.page.left = widest(map.rows) + 0.12;
  chart.page.right = 0.62;
  chart.columns = {map.row_name, map.column_name, "row", "column", map.value_name, "text"};
  chart.column = "column";
  chart.row = "row";
  chart.value = map.value_name;
  chart.text = "text";
  chart.x = named_cells(map.columns, false);
  chart.y = named_cells(map.rows, true);
  chart.label = map.value_label;
  std::string rows;
  for (const CellMap::Cell& cell : map.cells) {
    rows += csv_row(map.rows[cell.row], map.columns[cell.column], cell.row, cell.column,
                    pixel_text(cell.value), cell.text);
  }
  return draw(chart, rows);
}

void add_layer_figures(const FigureRuns& runs, Figures& figures) {
  std::size_t drawn = 0;
  for (const FigureRun& run : runs) {
    const LayerMap map = layer_map_of(*run.record);
    if (map.layers.size() < 2 || drawn++ >= kMostRuns) continue;
    figures.push_back(draw_cells(cells_of(map, run)));
  }
}

}  // namespace lacuna
