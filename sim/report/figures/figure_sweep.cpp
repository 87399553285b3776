// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostSweepSeries = 10;  // more cannot be told apart

std::optional<double> positive(const std::string& text) {
  const auto value = parsed_number<double>(text);
  return value && *value > 0 ? value : std::nullopt;
}

/// Whether each value of axis `axis` goes with one text of the runs alone, of which there are
/// several: what is zipped with an axis moves along it.
template <class Text>
bool goes_with(const FigureRuns& runs, std::size_t axis, const Text& text) {
  std::map<std::string, std::string> with;
  std::set<std::string> texts;
  for (const FigureRun& run : runs) {
    if (run.total.varying.size() <= axis) continue;
    const std::string mine = text(run);
    texts.insert(mine);
    if (with.emplace(run.total.varying[axis], mine).first->second != mine) return false;
  }
  return texts.size() > 1;
}

/// What lines along an axis do not name: the axis, and what is zipped with it.
struct Along {
  const std::vector<std::string>& names;  // of all axes
  std::set<std::size_t> axes;
  bool pattern = false;
  bool density = false;

  Along(const FigureRuns& runs, std::size_t axis)
      : names(varying_of(runs)),
        axes{axis},
        pattern(goes_with(runs, axis, [](const FigureRun& run) { return run.pattern; })),
        density(goes_with(runs, axis, [](const FigureRun& run) { return run.density_text; })) {
    for (std::size_t other = 0; other < names.size(); ++other) {
      const auto value = [other](const FigureRun& run) {
        return other < run.total.varying.size() ? run.total.varying[other] : std::string();
      };
      if (goes_with(runs, axis, value)) axes.insert(other);
    }
  }

  /// The axis, and what goes with it, as far as there is room below the axis.
  std::string label(std::size_t axis) const {
    constexpr std::size_t kMostLetters = 60;
    for (const bool whole : {true, false}) {
      const std::string text = beside(axis, whole);
      if (text.empty()) return names[axis];
      std::string label = fmt::format("{} (with {})", names[axis], text);
      if (label.size() <= kMostLetters) return label;
    }
    const std::size_t others = axes.size() - 1 + (pattern ? 1 : 0) + (density ? 1 : 0);
    return fmt::format("{} (with {} more)", names[axis], others);
  }

 private:
  /// What goes with the axis, by whole paths or by their last words.
  std::string beside(std::size_t axis, bool whole) const {
    std::string text;
    const auto add = [&](const std::string& name) { text += (text.empty() ? "" : " and ") + name; };
    for (const std::size_t other : axes) {
      const std::string& path = names[other];
      if (other != axis) add(whole ? path : last_word(path));
    }
    if (pattern) add("pattern");
    if (density) add("density");
    return text;
  }
};

/// What the line of a run is called.
std::string line_name(const FigureRun& run, const Along& along) {
  std::string name = run.machine;
  if (!along.pattern) name += " " + run.pattern;
  if (!along.density && run.pattern != "dense") name += " at " + run.density_text;
  for (std::size_t i = 0; i < run.total.varying.size(); ++i) {
    const std::string& value = run.total.varying[i];
    if (along.axes.count(i) == 0 && !value.empty()) {
      name += fmt::format(" {}={}", last_word(along.names[i]), value);
    }
  }
  return name;
}

struct Metric {
  const char* name;
  const char* label;
  std::optional<EnergyRange> (*value)(const SummaryRow& row);
};

std::optional<EnergyRange> energy(const SummaryRow& row) {
  const std::optional<double>& value = row.pj_per_useful_flop;
  if (!value || !(*value > 0)) return std::nullopt;
  return EnergyRange{*value, *value, *value};
}

const std::array<Metric, 3> kMetrics = {{
    {"throughput", "Useful TFLOP/s", throughput_range},
    {"speedup", "Speed-up over dense", speedup_range},
    {"energy", "Energy per useful FLOP (pJ)", energy},
}};

LineFigure figure_of(const FigureRuns& runs, std::size_t axis, const Metric& metric) {
  LineFigure figure;
  figure.name = file_word(fmt::format("{}_against_{}", metric.name, varying_of(runs)[axis]));
  const Along along(runs, axis);
  figure.x_label = along.label(axis);
  figure.y_label = metric.label;
  for (const FigureRun& run : runs) {
    if (run.total.varying.size() <= axis) continue;
    const std::optional<double> x = positive(run.total.varying[axis]);
    const std::optional<EnergyRange> y = metric.value(run.total);
    const std::string name = line_name(run, along);
    if (x && !run.ok()) {
      figure.add_gap(run, name, {"#444444"}, *x);  // unless a line of this name has a style
    }
    if (!run.ok() || !x || !y) continue;
    figure.ranges = figure.ranges || y->low < y->high;
    figure.labelled(name, line_style(static_cast<unsigned>(figure.series.size())))
        .points.push_back({*x, y->nominal, y->low, y->high});
  }
  figure.sort();
  for (LineGap& gap : figure.gaps) {
    for (const LineSeries& series : figure.series) {
      if (series.label == gap.series) gap.style = series.style;
    }
  }
  return figure;
}

}  // namespace

void add_sweep_figures(const FigureRuns& runs, Figures& figures) {
  for (std::size_t axis = 0; axis < varying_of(runs).size(); ++axis) {
    for (const Metric& metric : kMetrics) {
      LineFigure figure = figure_of(runs, axis, metric);
      if (figure.places().size() < 3 || figure.series.size() > kMostSweepSeries) continue;
      figure.title = figure_title(runs);
      figures.push_back(draw_lines(figure));
    }
  }
}

}  // namespace lacuna
