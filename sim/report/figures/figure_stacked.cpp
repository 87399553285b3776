// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_stacked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostBars = 36;          // of one page
constexpr double kWide = 0.55 * kPageWidthIn;  // beside the bars

double sum_of(const StackedBar& bar) {
  double sum = 0;
  for (const double value : bar.values) sum += value;
  return sum;
}

/// Where the bars stand, from the top; groups are a little apart.
std::vector<double> places_of(const std::vector<StackedBar>& bars) {
  std::vector<double> places;
  double y = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (i > 0) y += bars[i].group == bars[i - 1].group ? 1 : 1.6;
    places.push_back(y);
  }
  return places;
}

std::string stacked_csv(const StackedFigure& figure, const std::vector<double>& places) {
  std::string csv = csv_line({"bar", "part", "place", "from", "to", "value", "note"});
  for (std::size_t i = 0; i < figure.bars.size(); ++i) {
    const StackedBar& bar = figure.bars[i];
    const double sum = sum_of(bar);
    // multiplied first, so that the last part of a bar ends at 100 exactly
    const auto scaled = [&](double value) {
      if (!figure.percent) return value;
      return sum > 0 ? value * 100 / sum : 0;
    };
    double below = 0;
    for (std::size_t part = 0; part < figure.parts.size(); ++part) {
      const double value = bar.values[part];
      csv += csv_line({bar.label, figure.parts[part].name, fmt::format("{}", places[i]),
                       fmt::format("{}", scaled(below)), fmt::format("{}", scaled(below + value)),
                       fmt::format("{}", value), bar.note});
      below += value;
    }
  }
  return csv;
}

/// A round length that holds the longest bar, and the distance of its marks.
std::pair<double, double> round_axis(const std::vector<StackedBar>& bars) {
  double longest = 0;
  for (const StackedBar& bar : bars) longest = std::max(longest, sum_of(bar));
  if (longest <= 0) return {1, 0.25};
  const double decade = std::pow(10, std::floor(std::log10(longest / 4)));
  for (const double digit : {1.0, 2.0, 2.5, 5.0, 10.0}) {
    const double step = digit * decade;
    if (step * 5 >= longest) return {step * std::ceil(longest / step), step};
  }
  return {longest, longest / 4};
}

/// `narrow`: long labels leave room for half the marks.
std::string stacked_body(const StackedFigure& figure, const std::vector<double>& places,
                         bool narrow) {
  const auto [longest, step] = figure.percent ? std::pair{100.0, 25.0} : round_axis(figure.bars);
  std::string body = "  unset grid\n  set border 1\n";
  body += fmt::format("  set xrange [0:{:.6g}]\n  set yrange [{}:-1.4]\n", longest,
                      places.back() + 0.6);
  body += fmt::format("  set xtics {:.6g} format '{}'\n", narrow ? 2 * step : step,
                      figure.percent ? "%g %%" : "%g");
  body += fmt::format("  set xlabel {}\n  set ytics scale 0 (", quoted(figure.x_label));
  for (std::size_t i = 0; i < figure.bars.size(); ++i) {
    body += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(figure.bars[i].label), places[i]);
  }
  body += ")\n";
  for (std::size_t i = 0; i <= figure.bars.size(); ++i) {
    const bool head = i == figure.bars.size();
    body += fmt::format("  set label {} {} at {:.6g},{} left textcolor '#444444'\n", i + 1,
                        quoted(head ? figure.note_label : figure.bars[i].note), longest * 1.015,
                        head ? -1 : places[i]);
  }
  for (std::size_t i = 0; i < figure.bars.size(); ++i) {
    if (!figure.bars[i].is_gap) continue;
    body += fmt::format(
        "  set label {} '' at {:.6g},{} point pointtype 6 pointsize 0.6*size linecolor '#444444' "
        "front\n",
        figure.bars.size() + 2 + i, longest * 0.01, places[i]);
  }
  for (const StackedPart& part : figure.parts) {
    body += &part == &figure.parts.front() ? "  plot " : ", \\\n       ";
    body += fmt::format(
        "{} skip 1 using (strcol(2) eq {} ? $4 : NaN):3:4:5:($3-0.38):($3+0.38) with boxxyerror "
        "fillstyle solid 1.0 noborder linecolor '{}' title {}",
        quoted(figure.name + ".csv"), quoted(part.name), part.colour, quoted(part.name));
  }
  return body + "\n";
}

void add_page(const StackedFigure& figure, std::vector<Figure>& figures) {
  const std::vector<double> places = places_of(figure.bars);
  Page page;
  page.name = figure.name;
  page.title = figure.title;
  page.data_height = 0.12 * (places.back() + 1) + 0.1;
  std::vector<std::string> labels;
  std::vector<std::string> notes{figure.note_label};
  for (const StackedBar& bar : figure.bars) {
    labels.push_back(bar.label);
    notes.push_back(bar.note);
  }
  page.left = widest(labels) + 0.12;
  page.right = widest(notes) + 0.12;
  for (const StackedPart& part : figure.parts) page.legend.push_back(part.name);
  figures.push_back(
      {figure.name, stacked_csv(figure, places),
       figure_script(page, stacked_body(figure, places, page.left + page.right > kWide))});
}

}  // namespace

void add_stacked(const StackedFigure& figure, std::vector<Figure>& figures) {
  for (std::size_t first = 0; first < figure.bars.size(); first += kMostBars) {
    StackedFigure page = figure;
    const std::size_t last = std::min(first + kMostBars, figure.bars.size());
    page.bars.assign(figure.bars.begin() + static_cast<std::ptrdiff_t>(first),
                     figure.bars.begin() + static_cast<std::ptrdiff_t>(last));
    if (first > 0) page.name = fmt::format("{}_{}", figure.name, first / kMostBars + 1);
    add_page(page, figures);
  }
}

}  // namespace lacuna
