// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"

namespace lacuna {

namespace {

/// Where an operation or a run stands: useful FLOP per byte that its memories carried.
std::optional<LinePoint> place(const SummaryRow& row) {
  if (row.status != Status::ok || !row.useful_flop || !row.useful_tflops) return std::nullopt;
  if (!row.sram_read_bytes || !row.sram_write_bytes) return std::nullopt;
  const auto bytes = static_cast<double>(*row.sram_read_bytes + *row.sram_write_bytes);
  if (bytes <= 0 || *row.useful_tflops <= 0) return std::nullopt;
  const double x = static_cast<double>(*row.useful_flop) / bytes;
  return exact_point(x, *row.useful_tflops);
}

/// Memory bandwidth up to the ridge, peak arithmetic beyond it.
LineSeries roof(const std::string& label, unsigned dash, const PeakRates& peak, double left,
                double right) {
  LineSeries line{label, {"", 7, dash}, true};
  const double ridge = peak.tflops * 1e3 / peak.sram_gbps;
  const auto at = [&](double x) {
    line.points.push_back(exact_point(x, std::min(peak.tflops, peak.sram_gbps * x * 1e-3)));
  };
  at(left);
  if (ridge > left && ridge < right) at(ridge);
  at(right);
  return line;
}

/// The operations of a single run, or the runs of a comparison.
LineFigure points_of(const FigureRuns& runs) {
  LineFigure figure;
  const std::vector<SeriesStyle> styles = run_styles(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<SummaryRow> rows = runs[i].ops;
    if (runs.size() > 1) rows = {runs[i].total};
    for (const SummaryRow& row : rows) {
      const std::optional<LinePoint> point = place(row);
      if (!point) continue;
      LineSeries& series = figure.labelled(runs[i].series(), styles[i]);
      series.joined = false;
      series.points.push_back(*point);
    }
  }
  return figure;
}

/// The first peak of each machine that has a point, in the order of the runs.
std::vector<std::pair<std::string, PeakRates>> peaks_of(const FigureRuns& runs) {
  std::vector<std::pair<std::string, PeakRates>> peaks;
  for (const FigureRun& run : runs) {
    const bool known = any_of(peaks, [&](const auto& each) { return each.first == run.machine; });
    if (known || !run.ok() || !run.peaks || run.peaks->sram_gbps <= 0) continue;
    peaks.emplace_back(run.machine, *run.peaks);
  }
  return peaks;
}

}  // namespace

void add_roofline_figure(const FigureRuns& runs, Figures& figures) {
  LineFigure figure = points_of(runs);
  const std::vector<std::pair<std::string, PeakRates>> peaks = peaks_of(runs);
  if (figure.series.empty() || peaks.empty()) return;
  double left = HUGE_VAL;
  double right = 0;
  const auto show = [&](double x) {
    left = std::min(left, x);
    right = std::max(right, x);
  };
  for (const LineSeries& series : figure.series) {
    for (const LinePoint& point : series.points) show(point.x);
  }
  // the ridges belong on the page, they say which part of a roof is the lower one
  for (const auto& [machine, peak] : peaks) show(peak.tflops * 1e3 / peak.sram_gbps);
  unsigned dash = 1;
  for (const auto& [machine, peak] : peaks) {
    figure.series.push_back(roof(machine + " roof", dash++, peak, left / 2, right * 2));
  }
  figure.name = "roofline";
  figure.x_label = "Useful FLOP per byte of tile or core memory";
  figure.y_label = "Useful TFLOP/s";
  figure.title = figure_title(runs);
  append(figure.title, missing_lines(runs));
  figure.x_at_values = false;
  figure.roofs = true;
  figures.push_back(draw_lines(figure));
}

}  // namespace lacuna
