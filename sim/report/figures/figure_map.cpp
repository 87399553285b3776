// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_python.hpp"
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
  std::string machine;
  std::string label;
  std::vector<std::string> title;
  std::vector<MapCell> cells;
};

std::string file_name(const std::string& label) {
  std::string name = "speedup_map_";
  for (const char c : label) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

std::vector<Map> maps_of(const FigureData& data) {
  std::vector<Map> maps;
  for (const SummaryRow& row : data.rows) {
    if (row.op_id == kTotal || row.pattern == "dense" || !row.m || row.m != row.k || !row.n) {
      continue;
    }
    const std::string density = row.density ? short_number(*row.density) : "";
    const std::string label = fmt::format("{} {} at {} {} {}", row.machine, pattern_label(row),
                                          density, row.mode, row.dtype);
    auto map = std::find_if(maps.begin(), maps.end(),
                            [&](const Map& each) { return each.label == label; });
    if (map == maps.end()) {
      maps.push_back({row.machine, label, {label}, {}});
      map = maps.end() - 1;
    }
    const bool ok = row.status == Status::ok;
    map->cells.push_back({*row.m, *row.n, ok ? row.speedup_vs_dense : std::nullopt, row.status});
  }
  return maps;
}

template <class Member>
std::vector<std::uint64_t> values(const Map& map, Member member) {
  std::set<std::uint64_t> found;
  for (const MapCell& cell : map.cells) found.insert(cell.*member);
  return {found.begin(), found.end()};
}

std::string tics(const char* axis, const std::vector<std::uint64_t>& all) {
  std::string text = fmt::format("  set {}tics scale 0 (", axis);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // five figures are too wide for a cell
    const bool wide = all[i] >= 10000 && all[i] % 1024 == 0;
    const std::string value = wide ? fmt::format("{}Ki", all[i] / 1024) : fmt::format("{}", all[i]);
    text += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", value, i);
  }
  return text + ")\n";
}

/// Blue where sparse wins, orange where dense does, white at 1; a factor of eight is full colour.
/// In grey the lighter is the slower.
constexpr const char* kColours =
    "  grey = vermilion eq '#787878'\n"
    "  eval grey ? \"set palette defined (-3 '#FFFFFF', 3 '#333333')\" : \"set palette defined (-3 "
    "'\".vermilion.\"', 0 '#FFFFFF', 3 '\".blue.\"')\"\n"
    "  dark(v) = grey ? v > 0.5 : abs(v) > 1.6\n"
    "  set cbrange [-3:3]\n"
    "  set cbtics ('1/8' -3, '1/4' -2, '1/2' -1, '1' 0, '2' 1, '4' 2, '8' 3)\n";

std::string map_body(const std::string& name, const std::vector<std::uint64_t>& sizes,
                     const std::vector<std::uint64_t>& ns) {
  std::string body = "  unset grid\n  set border 0\n";
  body += tics("x", ns) + tics("y", sizes) + kColours;
  body +=
      fmt::format("  set xrange [-0.5:{}]\n  set yrange [-0.5:{}]\n",
                  static_cast<double>(ns.size()) - 0.5, static_cast<double>(sizes.size()) - 0.5);
  body += "  set xlabel 'Columns of the other operand, n'\n";
  body += "  set ylabel 'Weights, m = k'\n";
  body +=
      "  set colorbox user origin screen (1 - 0.55*unit/width),graph 0 size screen 0.02,graph 1\n"
      "  set cblabel 'Speed-up over dense' offset 0.8,0\n";
  body += fmt::format("  sizes = '{}'\n  ns = '{}'\n", fmt::join(sizes, " "), fmt::join(ns, " "));
  body +=
      "  at(list, v) = (sum [i=1:words(list)] (word(list, i) + 0 == v ? i - 1 : 0))\n"
      "  shade(v) = v > 8 ? 3 : v < 0.125 ? -3 : log(v)/log(2)\n"
      "  cell(v) = v > 0 ? sprintf('%.2f', v) : strcol(4)\n";
  body += fmt::format(
      "  plot {0} skip 1 using (at(ns, $2)):(at(sizes, $1)):(shade($3)) with image pixels notitle, "
      "\\\n"
      "       {0} skip 1 using (at(ns, $2)):(at(sizes, $1)):(dark(shade($3)) ? cell($3) : '') with "
      "labels textcolor '#FFFFFF' notitle, \\\n"
      "       {0} skip 1 using (at(ns, $2)):(at(sizes, $1)):(dark(shade($3)) ? '' : cell($3)) with "
      "labels notitle\n",
      quoted(name + ".csv"));
  return body;
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

Figure draw_map(const Map& map, const std::vector<std::string>& machines) {
  const std::vector<std::uint64_t> sizes = values(map, &MapCell::size);
  const std::vector<std::uint64_t> ns = values(map, &MapCell::n);
  Figure figure;
  figure.name = file_name(map.label);
  figure.csv = csv_line({"m_and_k", "n", "speedup_vs_dense", "status"});
  for (const std::uint64_t size : sizes) {
    for (const std::uint64_t n : ns) {
      const auto cell = std::find_if(map.cells.begin(), map.cells.end(), [&](const MapCell& each) {
        return each.size == size && each.n == n;
      });
      if (cell == map.cells.end()) continue;
      const std::string speedup = cell->speedup ? fmt::format("{}", *cell->speedup) : "NaN";
      figure.csv +=
          csv_line({fmt::format("{}", size), fmt::format("{}", n), speedup, text_of(*cell)});
    }
  }
  Page page;
  page.name = figure.name;
  page.title = map.title;
  page.title.insert(page.title.end(), machines.begin(), machines.end());
  // the scale beside the cells has seven marks
  page.data_height = std::max(0.22 * static_cast<double>(sizes.size()), 0.9);
  page.left = 0.62;
  page.right = 0.62;
  figure.python = python_of_map(page);
  figure.script = figure_script(page, map_body(figure.name, sizes, ns));
  return figure;
}

}  // namespace

void add_map_figures(const FigureData& data, const std::vector<FigureRun>& /*runs*/,
                     std::vector<Figure>& figures) {
  for (const Map& map : maps_of(data)) {
    // fewer than two sizes or numbers of columns are a line, and no map
    if (values(map, &MapCell::size).size() < 2 || values(map, &MapCell::n).size() < 2) continue;
    std::vector<std::string> machines;
    for (const auto& [machine, extent] : data.extents) {
      if (map.machine == machine) {
        machines.push_back(fmt::format("{}: {}", machine, extent));
      }
    }
    figures.push_back(draw_map(map, machines));
  }
}

}  // namespace lacuna
