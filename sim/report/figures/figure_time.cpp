// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostDrawnCells = 16384;

std::string load_rows(const LoadMap& map) {
  std::string csv;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const double value = map.values[i];
    csv += csv_row(i % map.columns, i / map.columns,
                   std::isnan(value) ? "NaN" : fmt::format("{}", value));
  }
  return csv;
}

std::string phases_rows(const std::vector<PhaseSpan>& spans,
                        const std::vector<std::string>& tracks) {
  std::string csv;
  for (const PhaseSpan& span : spans) {
    const std::size_t place = *place_in(tracks, span.track);
    csv += csv_row(span.track, span.phase, layer_name(span.layer), place, span.from, span.to,
                   span.busy);
  }
  return csv;
}

/// Round, and so that there are at most five marks: more, of seven figures each, would run into
/// each other.
std::uint64_t mark_distance(std::uint64_t end) {
  for (std::uint64_t decade = 1;; decade *= 10) {
    for (const std::uint64_t digit : {1U, 2U, 5U}) {
      if (digit * decade * 5 >= end) return digit * decade;
    }
  }
}

}  // namespace

Figure draw_load_map(const LoadMap& map) {
  const std::size_t rows = (map.values.size() + map.columns - 1) / map.columns;
  double most = 0;
  for (const double value : map.values) {
    if (!std::isnan(value)) most = std::max(most, value);
  }
  CellChart chart;
  chart.page.name = map.name;
  chart.page.title = map.title;
  chart.page.right = 0.62;
  // square cells, but no page higher than it is wide twice
  chart.page.aspect =
      std::clamp(static_cast<double>(rows) / static_cast<double>(map.columns), 0.18, 2.2);
  chart.columns = {"column", "row", map.quantity};
  chart.column = "column";
  chart.row = "row";
  chart.value = map.quantity;
  chart.x = cells_axis("Column", map.columns, false);
  chart.y = cells_axis("Row", rows, true);
  chart.label = map.quantity;
  chart.most = most > 0 ? most : 1;
  chart.many = map.values.size() > kMostDrawnCells;
  return draw(chart, load_rows(map));
}

Figure draw_phases(const std::string& name, const std::vector<std::string>& title,
                   const std::vector<PhaseSpan>& spans) {
  std::uint64_t end = 1;
  std::set<Layer> present;
  std::vector<std::string> tracks;  // in the order of their first spans
  for (const PhaseSpan& span : spans) {
    end = std::max(end, span.to);
    present.insert(span.layer);
    place_or_add(tracks, span.track);
  }
  SpanChart chart;
  chart.y = named_rows(tracks);
  chart.page.name = name;
  chart.page.title = title;
  chart.page.data_height = 0.13 * static_cast<double>(tracks.size()) + 0.15;
  chart.page.left = widest(tracks) + 0.12;
  chart.page.right = 0.2;
  chart.columns = {"track", "phase", "layer", "place", "from", "to", "busy"};
  chart.place = "place";
  chart.kind_of = "layer";
  chart.from = "from";
  chart.to = "to";
  chart.busy = "busy";
  chart.x = {"Cycle", false, 0, static_cast<double>(end)};
  const std::uint64_t step = mark_distance(end);
  for (std::uint64_t mark = 0; mark <= end; mark += step) {
    chart.x.marks.emplace_back(static_cast<double>(mark), fmt::format("{}", mark));
  }
  for (const Layer layer : present) {
    chart.kinds.emplace_back(layer_name(layer), layer_colour(layer));
  }
  return draw(chart, phases_rows(spans, tracks));
}

}  // namespace lacuna
