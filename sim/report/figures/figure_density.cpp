// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostSeries = 20;  // more cannot be told apart

/// How the value of a dense run, whose time and energy no zero changes, follows the density of
/// the work that is useful in it.
enum class DenseFollows { nothing, density, inverse };

/// A quantity of a run that is drawn against its density.
struct DensityCurve {
  const char* name;
  const char* label;
  DenseFollows follows;
  bool ranges;
  std::optional<EnergyRange> (*value)(const FigureRun& run);
};

std::optional<EnergyRange> exactly(std::optional<double> value) {
  if (!value || *value <= 0) return std::nullopt;
  return EnergyRange{*value, *value, *value};
}

std::optional<EnergyRange> throughput(const FigureRun& run) { return throughput_range(run.total); }

std::optional<EnergyRange> speedup(const FigureRun& run) { return speedup_range(run.total); }

std::optional<EnergyRange> per_unit(const FigureRun& run) {
  std::optional<EnergyRange> range = throughput_range(run.total);
  if (!range || run.units == 0) return std::nullopt;
  for (const Corner corner : kCorners) range->at(corner) *= 1e3 / static_cast<double>(run.units);
  return range;
}

std::optional<EnergyRange> share_of_peak(const FigureRun& run) {
  if (!run.total.utilisation) return std::nullopt;
  return exactly(*run.total.utilisation * 100);
}

std::optional<EnergyRange> energy(const FigureRun& run) {
  const std::optional<EnergyRange> range = energy_per_flop(run.total);
  return range && range->low > 0 ? range : std::nullopt;
}

constexpr std::array<DensityCurve, 5> kCurves{{
    {"throughput", "Useful TFLOP/s", DenseFollows::density, false, throughput},
    {"speedup", "Speed-up over dense", DenseFollows::nothing, false, speedup},
    {"throughput_per_unit", "Useful GFLOP/s per tile or core", DenseFollows::density, false,
     per_unit},
    {"share_of_peak", "Useful FLOP/s, % of peak", DenseFollows::density, false, share_of_peak},
    {"energy", "Energy per useful FLOP (pJ)", DenseFollows::inverse, true, energy},
}};

/// A straight line of the page, from the least density to 1.
LineSeries reference(const std::string& label, unsigned dash, double least, double at_least,
                     double at_one) {
  LineSeries line{label, {"", 7, dash}, true};
  line.points = {exact_point(least, at_least), exact_point(1, at_one)};
  return line;
}

/// What the dense machine makes of sparse data: the sparse one pays where it is above (below, if
/// the quantity is energy) this line.
void add_dense_lines(const FigureRuns& runs, const DensityCurve& quantity, double least,
                     LineFigure& figure) {
  if (quantity.follows == DenseFollows::nothing) return;
  unsigned dash = 1;
  for (const FigureRun& run : runs) {
    const std::optional<EnergyRange> value = quantity.value(run);
    if (!run.ok() || run.pattern != "dense" || !value || run.repeated) continue;
    const double scale = quantity.follows == DenseFollows::density ? least : 1 / least;
    figure.series.push_back(reference(run.series() + " with zeros", dash++, least,
                                      value->nominal * scale, value->nominal));
  }
}

/// Published points of other hardware, never joined and never coloured like a simulated series.
void add_measured(const std::vector<MeasuredPoint>& measured, LineFigure& figure) {
  for (const MeasuredPoint& point : measured) {
    const std::string label = point.label + " (measured)";
    LineSeries& series =
        figure.labelled(label, {"#666666", 1 + static_cast<unsigned>(figure.series.size() % 3), 1});
    series.joined = false;
    series.points.push_back(exact_point(point.density, point.tflops));
  }
}

void add_ideal_lines(double least, LineFigure& figure) {
  figure.series.push_back(reference("ideal (1/density)", 1, least, 1 / least, 1));
  figure.series.push_back(reference("break-even", 2, least, 1, 1));
}

/// Runs of a series that differ in their seed alone, on their way to one point.
struct Repeats {
  std::vector<double> x;
  std::vector<EnergyRange> y;
};

/// Their mean, between the least and the most of them; or the range of prices if the quantity has
/// one, and of a single run its own range.
LinePoint point_of(const Repeats& repeats, bool priced) {
  std::vector<double> nominal;
  std::vector<double> low;
  std::vector<double> high;
  for (const EnergyRange& range : repeats.y) {
    nominal.push_back(range.nominal);
    low.push_back(range.low);
    high.push_back(range.high);
  }
  const Mean mean = mean_of(nominal);
  const double x = mean_of(repeats.x).mean;
  if (priced || !mean.half) return {x, mean.mean, mean_of(low).mean, mean_of(high).mean};
  return {x, mean.mean, mean.least, mean.most};
}

LineFigure lines_of(const FigureRuns& runs, const DensityCurve& quantity) {
  LineFigure figure;
  figure.name = quantity.name;
  figure.x_label = "Density of the weights";
  figure.y_label = quantity.label;
  figure.ranges = quantity.ranges;
  const std::vector<SeriesStyle> styles = run_styles(runs);
  std::map<std::pair<std::string, std::string>, Repeats> points;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const FigureRun& run = runs[i];
    // runs without values stand at the foot, where their density is known
    if (!run.ok() && !run.repeated && run.total.density.value_or(0) > 0) {
      figure.add_gap(run, run.series(), styles[i], *run.total.density);
    }
    const std::optional<EnergyRange> value = quantity.value(run);
    if (!run.ok() || !value || run.density <= 0) continue;
    figure.labelled(run.series(), styles[i]);
    Repeats& repeats = points[{run.series(), run.density_text}];
    repeats.x.push_back(run.density);
    repeats.y.push_back(*value);
    figure.ranges = figure.ranges || repeats.y.size() > 1 || value->low < value->high;
    figure.bands = !quantity.ranges && (figure.bands || repeats.y.size() > 1);
  }
  for (LineSeries& series : figure.series) {
    for (const auto& [key, repeats] : points) {
      if (key.first == series.label) series.points.push_back(point_of(repeats, quantity.ranges));
    }
  }
  figure.sort();
  return figure;
}

/// Bars of series at one density would hide each other; they are moved apart by a little.
void spread_ranges(LineFigure& figure) {
  const double step = 1.02;
  const double middle = (static_cast<double>(figure.series.size()) - 1) / 2;
  double index = 0;
  for (LineSeries& series : figure.series) {
    series.shift = std::pow(step, index - middle);
    ++index;
  }
}

}  // namespace

void add_density_figures(const std::vector<MeasuredPoint>& measured, const FigureRuns& runs,
                         Figures& figures) {
  for (const DensityCurve& quantity : kCurves) {
    LineFigure figure = lines_of(runs, quantity);
    const std::set<double> densities = figure.places();
    // one density is no curve; the bars of operations show such results
    if (round_texts(densities).size() < 2 || figure.series.size() > kMostSeries) continue;
    const double least = std::min(1.0, *densities.begin());
    figure.title = figure_title(runs);
    if (figure.ranges && !figure.bands) spread_ranges(figure);
    add_dense_lines(runs, quantity, least, figure);
    if (std::string(quantity.name) == "speedup") add_ideal_lines(least, figure);
    if (std::string(quantity.name) == "throughput") add_measured(measured, figure);
    figures.push_back(draw_lines(figure));
  }
}

}  // namespace lacuna
