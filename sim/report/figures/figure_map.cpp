// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// A cell of a map: what a square weight matrix of one size gains at one number of columns.
struct MapCell {
  std::uint64_t size = 0;
  std::uint64_t n = 0;
  std::optional<double> speedup;
  Status status = Status::ok;
};

/// Cells of one machine, pattern, density, mode and type.
struct Map {
  std::string label;
  std::vector<std::string> title;
  std::vector<MapCell> cells;
};

void add_op(const FigureRun& run, const SummaryRow& row, std::vector<Map>& maps) {
  if (row.pattern == "dense" || !row.m || row.m != row.k || !row.n) return;
  const std::string density = row.density ? short_number(*row.density) : "";
  const std::string label = fmt::format("{} {} at {} {} {}", row.machine, pattern_label(row),
                                        density, row.mode, row.dtype);
  Map& map = find_or_add(maps, [&](const Map& each) { return each.label == label; },
                         {label, {label, fmt::format("{}: {}", run.machine, run.extent)}, {}});
  const bool ok = row.status == Status::ok;
  map.cells.push_back({*row.m, *row.n, ok ? row.speedup_vs_dense : std::nullopt, row.status});
}

template <class Member>
std::vector<std::uint64_t> values(const Map& map, Member member) {
  std::set<std::uint64_t> found;
  for (const MapCell& cell : map.cells) found.insert(cell.*member);
  return {found.begin(), found.end()};
}

/// Names of cells, counted from the left or from below.
Axis sizes_axis(const char* label, const std::vector<std::uint64_t>& all) {
  Axis axis = cells_axis(label, all.size(), false);
  axis.names = true;
  for (const std::uint64_t value : all) {
    // five figures are too wide for a cell
    const bool wide = value >= 10000 && value % 1024 == 0;
    axis.marks.emplace_back(static_cast<double>(axis.marks.size()),
                            wide ? fmt::format("{}Ki", value / 1024) : fmt::format("{}", value));
  }
  return axis;
}

std::string text_of(const MapCell& cell) {
  switch (cell.status) {
    case Status::out_of_memory:
      return "oom";
    case Status::unsupported:
      return "unsup";
    case Status::failed:
      return "fail";
    case Status::interrupted:
      return "intr";
    case Status::ok:
      break;
  }
  return cell.speedup ? "ok" : "-";  // nothing to compare it with
}

Figure draw_map(const Map& map) {
  const std::vector<std::uint64_t> sizes = values(map, &MapCell::size);
  const std::vector<std::uint64_t> ns = values(map, &MapCell::n);
  CellChart chart;
  chart.page.name = "speedup_map_" + file_word(map.label);
  chart.page.title = map.title;
  // the scale beside the cells has seven marks
  chart.page.data_height = std::max(0.22 * static_cast<double>(sizes.size()), 0.9);
  chart.page.left = 0.62;
  chart.page.right = 0.62;
  chart.columns = {"m_and_k", "n", "speedup_vs_dense", "status", "row", "column", "text"};
  chart.column = "column";
  chart.row = "row";
  chart.value = "speedup_vs_dense";
  chart.text = "text";
  chart.x = sizes_axis("Columns of the other operand, n", ns);
  chart.y = sizes_axis("Weights, m = k", sizes);
  chart.label = "Speed-up over dense";
  chart.shades = CellChart::Shades::gain;
  std::string rows;
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    for (std::size_t column = 0; column < ns.size(); ++column) {
      const auto* const cell = find_where(map.cells, [&](const MapCell& each) {
        return each.size == sizes[row] && each.n == ns[column];
      });
      if (cell == nullptr) continue;
      const bool known = cell->speedup.value_or(0) > 0;
      const std::string words = text_of(*cell);
      rows += csv_row(cell->size, cell->n, pixel_text(cell->speedup), words, row, column,
                      known ? fmt::format("{:.2f}", *cell->speedup) : words);
    }
  }
  return draw(chart, rows);
}

}  // namespace

void add_map_figures(const FigureRuns& runs, Figures& figures) {
  std::vector<Map> maps;
  for (const FigureRun& run : runs) {
    for (const SummaryRow& op : run.ops) add_op(run, op, maps);
  }
  for (const Map& map : maps) {
    // fewer than two sizes or numbers of columns are a line, and no map
    if (values(map, &MapCell::size).size() < 2 || values(map, &MapCell::n).size() < 2) continue;
    figures.push_back(draw_map(map));
  }
}

}  // namespace lacuna
