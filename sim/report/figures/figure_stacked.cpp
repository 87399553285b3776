// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_stacked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "sim/report/figures/figure_drawing.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr double kLeastBarsIn = 0.7;  // width of the bars alone
constexpr double kWantedBarsIn = 1.2;
constexpr double kHalfTickIn = 0.2;    // of the mark at the end of the axis
constexpr double kMostWidthIn = 7.16;  // two columns of a paper

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

constexpr std::size_t kFirstPart = 5;  // column of the data

/// A row for each bar: its values as they are, and what a bar may be normalised to.
std::string stacked_rows(const StackedFigure& figure) {
  std::string csv;
  for (const StackedBar& bar : figure.bars) {
    std::vector<std::string> cells = {key_cell(bar.label), bar.note, cell_text(bar.time_us),
                                      cell_text(bar.dense_time_us)};
    for (const double value : bar.values) cells.push_back(fmt::format("{}", value));
    csv += csv_line(cells);
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

/// What the bars are stretched to: `share` to 100 %, `sum` as they are; runs also `time`, and
/// `dense`, in times of the dense run.
std::string normalisation(const StackChart& chart) {
  std::string text = fmt::format(
      "  all(i) = (sum [c={}:{}] column(c))\n"
      "  stretch(i) = normalise eq 'share' ? 100/all(0) : normalise eq 'time' ? column(3)/all(0) : "
      "normalise eq 'dense' ? column(3)/column(4)/all(0) : 1\n"
      "  from(k) = (sum [c={}:(k-1)] column(c))*stretch(0)\n"
      "  to(k) = (sum [c={}:k] column(c))*stretch(0)\n",
      kFirstPart, kFirstPart + chart.parts.size() - 1, kFirstPart, kFirstPart);
  text += fmt::format("  narrow = {:.5f}*unit > 0.55*width\n", chart.page.left + chart.page.right);
  text +=
      "  if (normalise eq 'share') { step = narrow ? 50 : 25; set xrange [0:100]; set xtics step "
      "format '%g %%' }\n";
  text += fmt::format(
      "  if (normalise eq 'sum') {{ step = narrow ? {1:.6g} : {2:.6g}; set xrange [0:{0:.6g}]; set "
      "xtics step format '%g' }}\n",
      chart.longest, 2 * chart.step, chart.step);
  text +=
      "  if (normalise eq 'time' || normalise eq 'dense') { set xrange [0:*]; set format x '%g' "
      "}\n";
  // the name of the axis stands below the middle of the bars, or as near to it as the page has room
  text += fmt::format(
      "  beyond(inches) = (names + width - right)/2 + (inches/2 + 0.02)*unit - width\n"
      "  aside(inches) = beyond(inches) > 0 ? -beyond(inches)/width : 0\n"
      "  low = format eq 'svg' ? 0.45 : 0\n");
  for (const auto& [when, label] :
       {std::pair("normalise eq 'share' || normalise eq 'sum'", chart.label),
        std::pair("normalise eq 'time'", std::string("Time (us)")),
        std::pair("normalise eq 'dense'", std::string("Time over that of dense weights"))}) {
    text += fmt::format("  if ({}) {{ set xlabel {} offset screen aside({:.5f}),character low }}\n",
                        when, chart.page.look.shown(label), text_width(label));
  }
  return text;
}

std::string stacked_body(const StackChart& chart) {
  const Page& page = chart.page;
  const std::size_t bars = chart.bars.size();
  std::vector<double> places;
  for (const BarOfStack& bar : chart.bars) places.push_back(bar.place);
  std::string body = "  unset grid\n  set border 1\n";
  // names that leave the bars no room on a narrow page are written smaller
  body += fmt::format(
      "  spare = (width - right - {0:.2f}*unit)/left\n"
      "  squeeze = spare < 1 ? greater(spare, 0.4) : 1\n"
      "  names = left*squeeze\n"
      "  set lmargin at screen names/width\n",
      kLeastBarsIn);
  body += normalisation(chart);
  body += fmt::format("  set yrange [{}:-1.4]\n  places = '{}'\n", places.back() + 0.6,
                      fmt::join(places, " "));
  body +=
      "  place(i) = word(places, int(i) + 1) + 0\n"
      "  of_names = sprintf('%s,%g', font, points*squeeze*(format eq 'svg' ? 2 : 1))\n"
      "  set ytics font of_names scale 0 (";
  for (std::size_t i = 0; i < bars; ++i) {
    body +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", page.look.shown(chart.bars[i].name), places[i]);
  }
  body += ")\n";
  for (std::size_t i = 0; i <= bars; ++i) {
    const bool head = i == bars;
    body += fmt::format("  set label {} {} at graph 1.015,first {} left textcolor '#444444'\n",
                        i + 1, page.look.shown(head ? chart.note_label : chart.bars[i].note),
                        head ? -1 : places[i]);
  }
  for (std::size_t i = 0; i < bars; ++i) {
    if (!chart.bars[i].is_gap) continue;
    body += fmt::format(
        "  set label {} '' at graph 0.01,first {} point pointtype 6 pointsize 0.6*size linecolor "
        "'#444444' front\n",
        bars + 2 + i, places[i]);
  }
  for (std::size_t part = 0; part < chart.parts.size(); ++part) {
    body += part == 0 ? "  plot " : ", \\\n       ";
    body += fmt::format(
        "{0} skip 1 using (from({1})):(place($0)):(from({1})):(to({1})):(place($0) - "
        "0.38):(place($0) + 0.38) with boxxyerror fillstyle solid 1.0 border rgb edge linewidth "
        "0.3 fillcolor '{2}' "
        "title {3}",
        quoted(page.name + ".csv"), kFirstPart + part, chart.parts[part].second,
        page.look.shown(chart.parts[part].first));
  }
  return body + "\n";
}

Figure page_of(const StackedFigure& figure) {
  StackChart chart;
  chart.label = figure.x_label;
  chart.note_label = figure.note_label;
  chart.page.look.normalise = figure.percent ? "share" : "sum";
  chart.has_times = figure.has_times;
  chart.parts = figure.parts;
  std::tie(chart.longest, chart.step) = round_axis(figure.bars);
  const std::vector<double> places = places_of(figure.bars);
  std::vector<std::string> labels;
  std::vector<std::string> notes{figure.note_label};
  for (const StackedBar& bar : figure.bars) {
    labels.push_back(bar.label);
    notes.push_back(bar.note);
    chart.bars.push_back({bar.label, bar.note, places[chart.bars.size()], bar.is_gap});
  }
  Page& page = chart.page;
  page.name = figure.name;
  page.title = figure.title;
  page.data_height = 0.12 * (places.back() + 1) + 0.1;
  page.left = widest(labels) + 0.12;
  page.right = std::max(widest(notes) + 0.12, kHalfTickIn);
  const double wanted = page.left + page.right + kWantedBarsIn;
  page.look.width = std::clamp(std::ceil(wanted * 100) / 100, kPageWidthIn, kMostWidthIn);
  chart.columns = {"bar", "note", "time_us", "dense_time_us"};
  for (const StackedPart& part : figure.parts) chart.columns.push_back(part.first);
  return draw(chart, stacked_rows(figure));
}

}  // namespace

std::string script_of(const StackChart& chart) {
  const std::string normalise =
      fmt::format("normalise = '{}'  # {}\n", chart.page.look.normalise,
                  chart.has_times ? "share, time or dense" : "sum or share");
  return figure_script(chart.page, stacked_body(chart), normalise);
}

void add_stacked(const StackedFigure& figure, Figures& figures) {
  for (std::size_t first = 0; first < figure.bars.size(); first += kMostBars) {
    StackedFigure page = figure;
    const std::size_t last = std::min(first + kMostBars, figure.bars.size());
    page.bars.assign(figure.bars.begin() + static_cast<std::ptrdiff_t>(first),
                     figure.bars.begin() + static_cast<std::ptrdiff_t>(last));
    if (first > 0) page.name = fmt::format("{}_{}", figure.name, first / kMostBars + 1);
    figures.push_back(page_of(page));
  }
}

}  // namespace lacuna
