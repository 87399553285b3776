// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/byte_ways.hpp"
#include "sim/report/figures/figure_drawing.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

std::string bandwidth_rows(const FigureRuns& bars) {
  std::string csv;
  for (const ByteWay& way : byte_ways()) {
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const std::optional<double> achieved = bars[i].total.*way.gbps;
      const double peak = (*bars[i].peaks).*way.peak_gbps;
      if (!achieved || peak <= 0) continue;
      csv += csv_row(way.name, bars[i].bar(), i, *achieved / peak * 100, *achieved, peak);
    }
  }
  return csv;
}

void add_page(const std::string& name, const std::vector<std::string>& title,
              const FigureRuns& bars, Figures& figures) {
  std::vector<std::string> labels;
  labels.reserve(bars.size());
  for (const FigureRun& run : bars) labels.push_back(run.bar());
  Chart chart = share_chart(name, title, labels);
  chart.columns = {"way", "bar", "place", "percent_of_peak", "gbps", "peak_gbps"};
  for (const ByteWay& way : byte_ways()) {
    chart.layers.push_back(share_layer(way.name, way.style));
  }
  figures.push_back(draw(chart, bandwidth_rows(bars)));
}

}  // namespace

Chart share_chart(const std::string& name, const std::vector<std::string>& title,
                  const std::vector<std::string>& rows) {
  Chart chart;
  chart.page.name = name;
  chart.page.title = title;
  chart.page.data_height = 0.125 * static_cast<double>(rows.size()) + 0.1;
  chart.page.left = widest(rows) + 0.12;
  chart.page.right = 0.2;
  chart.x = {"Share of the bandwidth there is", false, 0, 100};
  chart.x.percent = true;
  chart.y = named_rows(rows);
  return chart;
}

ChartLayer share_layer(const std::string& way, const SeriesStyle& style) {
  ChartLayer layer{Mark::points, {{"way", way}}, "percent_of_peak", "place", style, way};
  layer.size = 0.5;
  return layer;
}

void add_bandwidth_figure(const FigureRuns& runs, Figures& figures) {
  std::vector<FigureRuns> pages;
  for (const FigureRun& run : runs) {
    if (!run.ok() || !run.peaks) continue;
    if (pages.empty() || pages.back().size() == kMostBars) pages.emplace_back();
    pages.back().push_back(run);
  }
  std::vector<std::string> title = figure_title(runs);
  append(title, missing_lines(runs));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string name = i == 0 ? "bandwidth" : fmt::format("bandwidth_{}", i + 1);
    add_page(name, title, pages[i], figures);
  }
}

}  // namespace lacuna
