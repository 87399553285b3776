// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_python.hpp"
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
  std::uint64_t run = 0;
  std::vector<std::pair<std::string, std::array<Busy, kPhases.size()>>> layers;

  std::array<Busy, kPhases.size()>& layer(const std::string& name) {
    for (auto& [known, cells] : layers) {
      if (known == name) return cells;
    }
    layers.push_back({name, {}});
    return layers.back().second;
  }
};

/// The place of the phase that `id` begins with, as in "fwd.l0.q"; kPhases.size() if it has none.
std::size_t phase_of(const std::string& id) {
  const auto* const found = std::find_if(
      kPhases.begin(), kPhases.end(),
      [&](const std::string& phase) { return id.compare(0, phase.size() + 1, phase + ".") == 0; });
  return static_cast<std::size_t>(found - kPhases.begin());
}

std::vector<LayerMap> layer_maps_of(const FigureData& data) {
  std::vector<LayerMap> maps;
  for (const StackRow& row : data.stacks) {
    const std::size_t phase = phase_of(row.op_id);
    if (phase == kPhases.size()) continue;
    if (maps.empty() || maps.back().run != row.run) maps.push_back({row.run, {}});
    const auto cycles = static_cast<double>(row.unit_cycles);
    Busy& cell = maps.back().layer(row.op_id.substr(4)).at(phase);
    if (row.layer == Layer::compute) cell.compute += cycles;
    cell.all += cycles;
  }
  return maps;
}

/// Of the phases that any layer has; the others have no name.
std::vector<std::string> phase_names(const LayerMap& map) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    const bool present = std::any_of(map.layers.begin(), map.layers.end(),
                                     [&](const auto& layer) { return layer.second.at(i).all > 0; });
    names.emplace_back(present ? kPhases.at(i) : "");
  }
  return names;
}

CellMap cells_of(const LayerMap& map, const std::vector<std::string>& title) {
  CellMap all;
  all.name = fmt::format("layers_run{}", map.run);
  all.title = title;
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

std::string named_tics(const char* axis, const std::vector<std::string>& names) {
  std::string text = fmt::format("  set {}tics scale 0 (", axis);
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", lacuna::quoted(names[i]), i);
  }
  return text + ")\n";
}

}  // namespace

Figure draw_cells(const CellMap& map) {
  constexpr double kDark = 55;
  Figure figure;
  figure.name = map.name;
  figure.csv =
      csv_line({map.row_name, map.column_name, "row", "column", map.value_name, "text", "dark"});
  for (const CellMap::Cell& cell : map.cells) {
    figure.csv += csv_line({map.rows[cell.row], map.columns[cell.column],
                            fmt::format("{}", cell.row), fmt::format("{}", cell.column),
                            cell.value ? fmt::format("{}", *cell.value) : "NaN", cell.text,
                            cell.value.value_or(0) > kDark ? "1" : "0"});
  }
  Page page;
  page.name = figure.name;
  page.title = map.title;
  page.data_height = std::max(1.2, 0.14 * static_cast<double>(map.rows.size()) + 0.1);
  page.left = widest(map.rows) + 0.12;
  page.right = 0.62;
  std::string body = "  unset grid\n  set border 0\n";
  body += named_tics("x", map.columns) + named_tics("y", map.rows);
  body += fmt::format("  set xrange [-0.5:{}]\n  set yrange [{}:-0.5]\n",
                      static_cast<double>(map.columns.size()) - 0.5,
                      static_cast<double>(map.rows.size()) - 0.5);
  body += "  set cbrange [0:100]\n";
  body += kShades;
  body += fmt::format(
      "  set colorbox user origin screen (1 - 0.55*unit/width),graph 0 size screen 0.02,graph 1\n"
      "  set cblabel {} offset 0.8,0\n",
      lacuna::quoted(map.value_label));
  body += fmt::format(
      "  plot {0} skip 1 using 4:3:5 with image pixels notitle, \\\n"
      "       {0} skip 1 using 4:3:($7 == 1 ? strcol(6) : '') with labels textcolor '#FFFFFF' "
      "notitle, \\\n"
      "       {0} skip 1 using 4:3:($7 == 1 ? '' : strcol(6)) with labels notitle\n",
      lacuna::quoted(figure.name + ".csv"));
  figure.script = figure_script(page, body);
  figure.python = python_of_cells(page, {map.value_name, map.value_label, map.columns, map.rows});
  return figure;
}

void add_layer_figures(const FigureData& data, const std::vector<FigureRun>& runs,
                       std::vector<Figure>& figures) {
  std::size_t drawn = 0;
  for (const LayerMap& map : layer_maps_of(data)) {
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&](const FigureRun& each) { return each.run == map.run; });
    if (run == runs.end() || map.layers.size() < 2 || drawn++ >= kMostRuns) continue;
    figures.push_back(
        draw_cells(cells_of(map, {run->bar(), "share of tiles or cores that compute"})));
  }
}

}  // namespace lacuna
