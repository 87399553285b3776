// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/validation_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// How far from equality the thin lines are.
constexpr double kBand = 1.25;

struct Series {
  std::string label;
  std::vector<const ValidationOutcome*> points;
};

bool drawable(const ValidationOutcome& outcome) {
  return outcome.published && outcome.simulated && *outcome.published > 0 && *outcome.simulated > 0;
}

std::string cell_of(const ValidationOutcome& outcome, const std::string& column) {
  for (const auto& [name, value] : outcome.cells) {
    if (name == column) return value;
  }
  return "";
}

/// Points with blocks are told apart by them, others by their family.
std::string label_of(const ValidationOutcome& outcome) {
  const std::string block = cell_of(outcome, "block");
  const std::string density = cell_of(outcome, "density");
  if (block.empty() || density.empty()) return outcome.family;
  return fmt::format("{}, block {}, density {}{}", cell_of(outcome, "mode"), block, density,
                     cell_of(outcome, "n") == "best" ? ", best n" : "");
}

/// The points of one unit as series, in the order of their first point.
std::vector<Series> series_of(const std::vector<const ValidationOutcome*>& points) {
  std::vector<Series> all;
  for (const ValidationOutcome* const point : points) {
    const std::string label = label_of(*point);
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Series& series) { return series.label == label; });
    if (found == all.end()) found = all.insert(all.end(), {label, {}});
    found->points.push_back(point);
  }
  return all;
}

std::string axis(const char* name, const std::vector<double>& marks) {
  std::string text = fmt::format("  set {0}range [{1:.6g}:{2:.6g}]\n  set {0}tics (", name,
                                 marks.front(), marks.back());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    text += fmt::format("{}'{:.5g}' {:.6g}", i == 0 ? "" : ", ", marks[i], marks[i]);
  }
  return text + ")\n";
}

/// A name of files made from a unit: "TFLOP/s" is "tflop_s".
std::string file_word(const std::string& unit) {
  std::string word;
  for (const char c : unit) {
    const auto byte = static_cast<unsigned char>(c);
    word += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return word.empty() ? "plain" : word;
}

/// The series as they are drawn.
std::vector<PythonSeries> looks_of(const std::vector<Series>& all) {
  std::vector<PythonSeries> looks;
  looks.reserve(all.size());
  unsigned other = 0;
  for (const Series& series : all) {
    looks.push_back({series.label, series_style(0, series.label, other++), false});
  }
  return looks;
}

std::string plot(const std::string& name, const std::vector<PythonSeries>& all) {
  std::string text = "  plot x with lines linewidth 0.7 linecolor '#444444' title 'equal'";
  for (const char* const line : {"x*{0}", "x/{0}"}) {
    text += ", \\\n       " + fmt::format(fmt::runtime(line), kBand) +
            " with lines linewidth 0.7 dashtype 2 linecolor '#888888' " +
            (line[1] == '*' ? "title '25 % more or less'" : "notitle");
  }
  for (const PythonSeries& series : all) {
    text += fmt::format(
        ", \\\n       {} skip 1 using (strcol(1) eq {} ? $3 : NaN):4 with points pointtype {} "
        "pointsize 0.45*size linecolor '{}' title {}",
        quoted(name + ".csv"), quoted(key_cell(series.label)), series.style.marker,
        series.style.colour, quoted(series.label));
  }
  return text + "\n";
}

Figure draw(const std::string& unit, const std::vector<const ValidationOutcome*>& points) {
  const std::vector<Series> all = series_of(points);
  Figure figure;
  figure.name = "validation_" + file_word(unit);
  figure.csv = csv_line({"series", "id", "published", "simulated"});
  Page page;
  page.name = figure.name;
  page.data_height = 2.6;
  page.left = 0.5;  // marks such as 1e+06
  page.right = 0.2;
  page.legend = {"equal", "25 % more or less"};
  double low = HUGE_VAL;
  double high = 0;
  for (const Series& series : all) {
    page.legend.push_back(series.label);
    for (const ValidationOutcome* const point : series.points) {
      low = std::min({low, *point->published, *point->simulated});
      high = std::max({high, *point->published, *point->simulated});
      figure.csv +=
          csv_line({key_cell(series.label), point->id, fmt::format("{}", *point->published),
                    fmt::format("{}", *point->simulated)});
    }
  }
  const std::vector<double> marks = log_marks(low, high);
  const std::string body =
      "  set logscale xy\n" + axis("x", marks) + axis("y", marks) +
      fmt::format("  set xlabel {}\n  set ylabel {}\n", quoted("published (" + unit + ")"),
                  quoted("simulated (" + unit + ")"));
  const std::vector<PythonSeries> looks = looks_of(all);
  figure.script = figure_script(page, body + plot(figure.name, looks));
  figure.python = python_of_agreement(page, unit, marks, kBand, looks);
  return figure;
}

}  // namespace

std::vector<Figure> validation_figures(const std::vector<ValidationOutcome>& outcomes) {
  std::map<std::string, std::vector<const ValidationOutcome*>> by_unit;
  for (const ValidationOutcome& outcome : outcomes) {
    if (drawable(outcome)) by_unit[outcome.unit].push_back(&outcome);
  }
  std::vector<Figure> figures;
  figures.reserve(by_unit.size());
  for (const auto& [unit, points] : by_unit) figures.push_back(draw(unit, points));
  return figures;
}

}  // namespace lacuna
