// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/layout_note.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kMostLayouts = 24;
constexpr std::size_t kMostMapRows = 24;

/// Keys without the part before their first point: those of one machine are told apart without.
std::string short_layout(const std::string& layout) {
  std::string text;
  for (const std::string& word : split(layout, ' ')) {
    const std::size_t point = word.find('.');
    const bool key = point != std::string::npos && point < word.find('=');
    text += (text.empty() ? "" : " ") + (key ? word.substr(point + 1) : word);
  }
  return text;
}

/// Rising; "1" last.
std::vector<std::string> densities_of(const std::vector<const FigureRun*>& runs) {
  std::vector<std::pair<double, std::string>> all;
  for (const FigureRun* const run : runs) {
    const bool known =
        any_of(all, [&](const auto& each) { return each.second == run->density_text; });
    if (!known) all.emplace_back(run->density, run->density_text);
  }
  sort_all(all);
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const auto& each : all) texts.push_back(each.second);
  return texts;
}

/// Names of rows without the words that all of them have.
void shorten(std::vector<std::string>& rows) {
  if (rows.size() < 2) return;
  std::vector<std::string> common = split(rows.front(), ' ');
  for (const std::string& row : rows) {
    const std::vector<std::string> words = split(row, ' ');
    erase_where(common, [&](const std::string& word) { return !contains(words, word); });
  }
  for (std::string& row : rows) {
    std::string text;
    for (const std::string& word : split(row, ' ')) {
      if (contains(common, word)) continue;
      text += (text.empty() ? "" : " ") + word;
    }
    row = text;
  }
}

/// Of a run of one operation, if it was chosen.
std::string layout_of(const FigureRun& run) {
  const std::vector<OpRecord>& ops = run.record->ops;
  return ops.size() == 1 ? note_of(ops[0].result, kLayoutNote) : "";
}

/// A pixel for each place, row by row, as gnuplot has images; those without a run are white.
std::vector<CellMap::Cell> all_places(const CellMap& map) {
  std::vector<CellMap::Cell> all;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const auto* const at = find_where(map.cells, [&](const CellMap::Cell& each) {
        return each.row == row && each.column == column;
      });
      all.push_back(at == nullptr ? CellMap::Cell{row, column} : *at);
    }
  }
  return all;
}

}  // namespace

void add_layout_map(const FigureRuns& runs, Figures& figures) {
  std::vector<const FigureRun*> laid;
  for (const FigureRun& run : runs) {
    const bool sparse = run.pattern != "dense" && run.density > 0;
    if (run.ok() && !run.repeated && sparse && !layout_of(run).empty()) laid.push_back(&run);
  }
  CellMap map;
  map.columns = densities_of(laid);
  if (map.columns.size() < 2) return;
  map.name = "layout_map";
  map.row_name = "series";
  map.column_name = "density";
  map.value_name = "percent_of_linear";
  map.value_label = "Speed-up, % of 1/density";
  std::vector<std::string> layouts;
  for (const FigureRun* const run : laid) {
    CellMap::Cell cell;
    cell.row = place_or_add(map.rows, run->series());
    cell.column = place_or_add(map.columns, run->density_text);
    if (cell.row >= kMostMapRows) continue;
    cell.text = fmt::format("{}", place_or_add(layouts, layout_of(*run)) + 1);
    if (run->total.speedup_vs_dense) {
      cell.value = std::min(100.0, 100 * *run->total.speedup_vs_dense * run->density);
    }
    map.cells.push_back(cell);
  }
  if (layouts.size() > kMostLayouts) return;
  map.rows.resize(std::min(map.rows.size(), kMostMapRows));
  map.cells = all_places(map);
  shorten(map.rows);
  map.title = {"layout of each product, over the density of its weights"};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    map.title.push_back(fmt::format("{}: {}", i + 1, short_layout(layouts[i])));
  }
  figures.push_back(draw_cells(map));
}

}  // namespace lacuna
