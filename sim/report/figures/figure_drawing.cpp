// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/replaced.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// What a script says of the columns of its data.
class Columns {
 public:
  Columns(std::string name, const std::vector<std::string>& columns)
      : file_(quoted(std::move(name) + ".csv")), columns_(columns) {}

  const std::string& file() const { return file_; }

  std::size_t operator[](const std::string& column) const {
    const auto found = place_in(columns_, column);
    if (!found) throw InternalError("a figure has no column " + column);
    return *found + 1;
  }

 private:
  std::string file_;
  const std::vector<std::string>& columns_;
};

std::string tics_of(const char* axis, const Axis& about, const FigureLook& look) {
  if (about.marks.empty()) return about.percent ? fmt::format("  set {}tics 25\n", axis) : "";
  std::string text = fmt::format("  set {}tics {}(", axis, about.names ? "scale 0 " : "");
  for (const auto& [place, shown] : about.marks) {
    text += fmt::format("{}{} {:.6g}", &about.marks.front().first == &place ? "" : ", ",
                        replaced(look.shown(shown), "%", "%%"), place);
  }
  return text + ")\n";
}

std::string axis_of(const char* axis, const Axis& about, const FigureLook& look) {
  const auto end = [](double value) {
    return std::isnan(value) ? "*" : fmt::format("{:.6g}", value);
  };
  std::string text = about.log ? fmt::format("  set logscale {}\n", axis) : "";
  if (!std::isnan(about.from) || !std::isnan(about.to)) {
    text += fmt::format("  set {}range [{}:{}]\n", axis, end(about.from), end(about.to));
  }
  if (!about.names)
    text += fmt::format("  set format {} '%g{}'\n", axis, about.percent ? " %%" : "");
  if (!about.label.empty())
    text += fmt::format("  set {}label {}\n", axis, look.shown(about.label));
  return text + tics_of(axis, about, look);
}

std::string selected(const Columns& columns, const ChartLayer& layer) {
  std::string text;
  for (const auto& [column, says] : layer.where) {
    text += fmt::format("{}strcol({}) eq {}", text.empty() ? "" : " && ", columns[column],
                        quoted(key_cell(says)));
  }
  std::string x = fmt::format("${}", columns[layer.x]);
  if (layer.shift != 1) x += fmt::format("*{:.4f}", layer.shift);
  if (text.empty() && layer.shift == 1) return x.substr(1);
  return fmt::format("({} ? {} : NaN)", text.empty() ? "1" : text, x);
}

std::string look_of_line(const ChartLayer& layer) {
  return fmt::format("linewidth {:.3g} dashtype {} linecolor '{}'", layer.weight, layer.style.dash,
                     layer.style.colour);
}

std::string look_of_point(const ChartLayer& layer) {
  return fmt::format("linecolor '{}' linewidth 1.2 pointtype {} pointsize {:.3g}*size",
                     layer.style.colour, layer.style.marker, layer.size);
}

/// What stands after the data and the first column of a layer.
std::string drawn_as(const Columns& columns, const ChartLayer& layer) {
  const auto ends = [&] { return fmt::format("{}:{}", columns[layer.low], columns[layer.high]); };
  switch (layer.mark) {
    case Mark::points:
      return fmt::format(":{} with points {}", columns[layer.y], look_of_point(layer));
    case Mark::joined:
      return fmt::format(":{} with linespoints {} dashtype {}", columns[layer.y],
                         look_of_point(layer), layer.style.dash);
    case Mark::across:
    case Mark::upright:
      return fmt::format(":{}:{} with {}errorbars linewidth 0.7 linecolor '{}' pointtype 0",
                         columns[layer.y], ends(), layer.mark == Mark::across ? "x" : "y",
                         layer.style.colour);
    case Mark::band:
      return fmt::format(":{} with filledcurves fillstyle {}solid {:.3g} noborder fillcolor '{}'",
                         ends(), layer.opacity < 1 ? "transparent " : "", layer.opacity,
                         layer.style.colour);
    case Mark::bars:
      return fmt::format(":{} with boxes fillstyle solid 1.0 noborder linecolor '{}'",
                         columns[layer.y], layer.style.colour);
    default:
      return fmt::format(":{} with lines {}", columns[layer.y], look_of_line(layer));
  }
}

std::string plot_of(const Chart& chart) {
  const Columns columns(chart.page.name, chart.columns);
  std::string text;
  for (const ChartLayer& layer : chart.layers) {
    if (layer.mark == Mark::wall) continue;
    text += text.empty() ? "  plot " : ", \\\n       ";
    const std::string title =
        layer.label.empty() ? "notitle" : "title " + chart.page.look.shown(layer.label);
    if (layer.mark == Mark::level || layer.mark == Mark::slope) {
      text += fmt::format("{:.6g}{} with lines {} {}", layer.value,
                          layer.mark == Mark::slope ? "*x" : "", look_of_line(layer), title);
      continue;
    }
    text += fmt::format("{} skip 1 using {}{} {}", columns.file(), selected(columns, layer),
                        drawn_as(columns, layer), title);
  }
  return text + "\n";
}

std::string walls_and_gaps(const Chart& chart) {
  std::string body;
  for (const ChartLayer& layer : chart.layers) {
    if (layer.mark != Mark::wall) continue;
    body += fmt::format("  set arrow from {0:.6g},graph 0 to {0:.6g},graph 1 nohead {1}\n",
                        layer.value, look_of_line(layer));
  }
  std::size_t number = 0;
  for (const auto& [row, why] : chart.gaps) {
    body += fmt::format(
        "  set label {} {} at {:.6g},{} left offset 0.6,0 textcolor '#444444' point pointtype 6 "
        "pointsize 0.6*size linecolor '#444444' front\n",
        ++number, chart.page.look.shown(why), chart.x.from, row);
  }
  return body;
}

/// The colour of a span, in gnuplot's words: its kind's, moved towards white: all of it where every
/// unit worked, a third where none did.
std::string colour_of_spans(const std::vector<std::pair<std::string, std::string>>& kinds) {
  std::string text =
      "  share(busy) = (1 + 2*(busy < 0 ? 0 : busy > 1 ? 1 : busy))/3.0\n"
      "  paler(part, busy) = int(255.5 - (255 - int('0x'.part))*share(busy))\n"
      "  shaded(c, busy) = 65536*paler(c[2:3], busy) + 256*paler(c[4:5], busy) + paler(c[6:7], "
      "busy)\n  of(kind) = ";
  for (const auto& [kind, colour] : kinds) {
    text += fmt::format("kind eq {} ? {} : ", quoted(kind), colour_variable(colour));
  }
  return text + "ink\n";
}

/// The palette, what stands in a cell, and whether a cell is too dark for black letters.
std::string shades_of(const CellChart& chart) {
  if (chart.shades == CellChart::Shades::load) {
    return fmt::format(
        "  eval \"set palette defined (0 '\".mist.\"', 0.5 '\".skyblue.\"', 0.8 '\".blue.\"', 1 "
        "'\".night.\"')\"\n"
        "  shade(v) = v\n  dark(v) = v > {0:.6g}\n  set cbrange [0:{1:.6g}]\n",
        0.55 * chart.most, chart.most);
  }
  // Blue where sparse wins, orange where dense does, white at 1; a factor of eight is full colour.
  // In grey the lighter is the slower.
  return "  grey = vermilion eq '#787878'\n"
         "  eval grey ? \"set palette defined (-3 '#FFFFFF', 3 '#333333')\" : \"set palette "
         "defined (-3 '\".vermilion.\"', 0 '#FFFFFF', 3 '\".blue.\"')\"\n"
         "  shade(v) = v > 8 ? 3 : v < 0.125 ? -3 : log(v)/log(2)\n"
         "  dark(v) = grey ? shade(v) > 0.5 : abs(shade(v)) > 1.6\n"
         "  set cbrange [-3:3]\n"
         "  set cbtics ('1/8' -3, '1/4' -2, '1/2' -1, '1' 0, '2' 1, '4' 2, '8' 3)\n";
}

/// A round number of about half of `most`.
double half_of(double most) {
  const double ten = std::pow(10.0, std::floor(std::log10(most / 2)));
  const double digit = most / 2 / ten;
  return ten * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/// Beside a low map there is no room for the name of its shades, nor for many numbers.
bool is_low(const CellChart& chart) { return chart.page.aspect > 0 && chart.page.aspect < 0.6; }

std::string plot_of(const CellChart& chart) {
  const Columns columns(chart.page.name, chart.columns);
  const std::string at = fmt::format("{} skip 1 using {}:{}", columns.file(), columns[chart.column],
                                     columns[chart.row]);
  const std::string value = fmt::format("${}", columns[chart.value]);
  const std::string plot = fmt::format("plot {}:(shade({}))", at, value);
  if (!chart.text.empty()) {
    const std::string text = fmt::format("strcol({})", columns[chart.text]);
    return fmt::format(
        "  {0} with image pixels notitle, \\\n"
        "       {1}:(dark({2}) ? {3} : '') with labels textcolor '#FFFFFF' notitle, \\\n"
        "       {1}:(dark({2}) ? '' : {3}) with labels notitle\n",
        plot, at, value, text);
  }
  // drawn cells are sharp on paper, but show their seams in a bitmap, and very many are too many
  return fmt::format(
      "  if ({1}) {{\n    {0} with image pixels notitle\n  }} else {{\n    {0} with image "
      "notitle\n  }}\n",
      plot, chart.many ? "0" : "format ne 'png'");
}

}  // namespace

std::string script_of(const Chart& chart) {
  const FigureLook& look = chart.page.look;
  std::string body = axis_of("x", chart.x, look) + axis_of("y", chart.y, look);
  if (chart.bar_width > 0) body += fmt::format("  set boxwidth {:.4g}\n", chart.bar_width);
  return figure_script(chart.page, body + walls_and_gaps(chart) + plot_of(chart));
}

std::string script_of(const SpanChart& chart) {
  const FigureLook& look = chart.page.look;
  const Columns columns(chart.page.name, chart.columns);
  std::string body = "  unset grid\n  set border 1\n" + axis_of("x", chart.x, look) +
                     axis_of("y", chart.y, look) + colour_of_spans(chart.kinds);
  const std::size_t place = columns[chart.place];
  body += fmt::format(
      "  plot {0} skip 1 using {1}:{3}:{1}:{2}:(${3}-0.4):(${3}+0.4):(shaded(of(strcol({4})), "
      "{5})) with boxxyerror fillstyle solid 1.0 noborder linecolor rgb variable notitle",
      columns.file(), columns[chart.from], columns[chart.to], place, columns[chart.kind_of],
      chart.busy.empty() ? "1" : fmt::format("${}", columns[chart.busy]));
  for (const auto& [kind, colour] : chart.kinds) {
    body += fmt::format(
        ", \\\n       NaN with boxes fillstyle solid 1.0 noborder linecolor '{}' title {}", colour,
        look.shown(kind));
  }
  return figure_script(chart.page, body + "\n");
}

std::string script_of(const CellChart& chart) {
  const FigureLook& look = chart.page.look;
  std::string body = "  unset grid\n  set border 0\n";
  Axis x = chart.x;
  if (is_low(chart)) {
    x.label += "; shades: " + chart.label;
    body += fmt::format("  set cbtics {:.6g}\n", half_of(chart.most));
  } else {
    body += fmt::format("  set cblabel {} offset 0.8,0\n", look.shown(chart.label));
  }
  body += axis_of("x", x, look) + axis_of("y", chart.y, look) + shades_of(chart);
  body +=
      "  set colorbox user origin screen (1 - 0.55*unit/width),graph 0 size screen 0.02,graph 1\n";
  return figure_script(chart.page, body + plot_of(chart));
}

}  // namespace lacuna
