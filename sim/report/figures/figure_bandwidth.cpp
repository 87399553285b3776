// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// A way that bytes take, and what they could at most be in a second.
struct Way {
  const char* name;
  const char* colour;
  unsigned marker;
  std::optional<double> SummaryRow::*achieved;
  double PeakRates::*peak;
};

constexpr std::array<Way, 3> kWays{
    {{"tile or core memory", "#0072B2", 7, &SummaryRow::sram_gbps, &PeakRates::sram_gbps},
     {"fabric", "#D55E00", 9, &SummaryRow::fabric_gbps, &PeakRates::fabric_gbps},
     {"edge of the chip", "#009E73", 13, &SummaryRow::io_gbps, &PeakRates::io_gbps}}};

std::string bandwidth_csv(const FigureData& data, const std::vector<FigureRun>& bars) {
  std::string csv = csv_line({"way", "bar", "place", "percent_of_peak", "gbps", "peak_gbps"});
  for (const Way& way : kWays) {
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const std::optional<double> achieved = bars[i].total.*way.achieved;
      const double peak = data.peaks.at(bars[i].run).*way.peak;
      if (!achieved || peak <= 0) continue;
      csv += csv_line({way.name, bars[i].bar(), fmt::format("{}", i),
                       fmt::format("{}", *achieved / peak * 100), fmt::format("{}", *achieved),
                       fmt::format("{}", peak)});
    }
  }
  return csv;
}

std::string bandwidth_body(const std::string& name, const std::vector<FigureRun>& bars) {
  std::string body = "  set xrange [0:100]\n  set xtics 25 format '%g %%'\n";
  body += "  set xlabel 'Share of the bandwidth there is'\n";
  body += fmt::format("  set yrange [{}:-0.6]\n  set ytics scale 0 (",
                      static_cast<double>(bars.size()) - 0.4);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    body += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(bars[i].bar()), i);
  }
  body += ")\n";
  for (const Way& way : kWays) {
    body += &way == kWays.data() ? "  plot " : ", \\\n       ";
    body += fmt::format(
        "'{3}.csv' skip 1 using (strcol(1) eq {0} ? $4 : NaN):3 with points linewidth 1.2 "
        "linecolor '{1}' pointtype {2} pointsize 0.5*size title {0}",
        quoted(way.name), way.colour, way.marker, name);
  }
  return body + "\n";
}

void add_page(const FigureData& data, const std::string& name,
              const std::vector<std::string>& title, const std::vector<FigureRun>& bars,
              std::vector<Figure>& figures) {
  Page page;
  page.name = name;
  page.title = title;
  page.data_height = 0.125 * static_cast<double>(bars.size()) + 0.1;
  std::vector<std::string> labels;
  labels.reserve(bars.size());
  for (const FigureRun& run : bars) labels.push_back(run.bar());
  page.left = widest(labels) + 0.12;
  page.right = 0.2;
  std::vector<PythonSeries> series;
  for (const Way& way : kWays) {
    page.legend.emplace_back(way.name);
    series.push_back({way.name, {way.colour, way.marker}, false});
  }
  const std::string python =
      python_of_dots(page, {"Share of the bandwidth there is", labels}, series);
  figures.push_back(
      {name, bandwidth_csv(data, bars), figure_script(page, bandwidth_body(name, bars)), python});
}

}  // namespace

void add_bandwidth_figure(const FigureData& data, const std::vector<FigureRun>& runs,
                          std::vector<Figure>& figures) {
  std::vector<std::vector<FigureRun>> pages;
  for (const FigureRun& run : runs) {
    if (!run.ok() || data.peaks.count(run.run) == 0) continue;
    if (pages.empty() || pages.back().size() == kMostBars) pages.emplace_back();
    pages.back().push_back(run);
  }
  std::vector<std::string> title = figure_title(data, runs);
  for (std::string& line : missing_lines(runs)) title.push_back(std::move(line));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string name = i == 0 ? "bandwidth" : fmt::format("bandwidth_{}", i + 1);
    add_page(data, name, title, pages[i], figures);
  }
}

}  // namespace lacuna
