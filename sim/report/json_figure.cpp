// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json_figure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "sim/base/contains.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_drawing.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

NLOHMANN_JSON_SERIALIZE_ENUM(Mark, {{Mark::line, "line"},
                                    {Mark::points, "points"},
                                    {Mark::joined, "joined"},
                                    {Mark::across, "across"},
                                    {Mark::upright, "upright"},
                                    {Mark::band, "band"},
                                    {Mark::bars, "bars"},
                                    {Mark::level, "level"},
                                    {Mark::wall, "wall"},
                                    {Mark::slope, "slope"}})
NLOHMANN_JSON_SERIALIZE_ENUM(CellChart::Shades,
                             {{CellChart::Shades::load, "load"}, {CellChart::Shades::gain, "gain"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SeriesStyle, colour, marker, dash)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Axis, label, log, from, to, marks, names, percent)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChartLayer, mark, where, x, y, style, label, low, high, size,
                                   weight, opacity, shift, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BarOfStack, name, note, place, is_gap)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FigureLook, width, height, font, points, formats, title, legend,
                                   normalise, colours, labels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Page, name, title, data_height, aspect, left, right, legend,
                                   longest_label, interrupted)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Chart, page, columns, x, y, layers, bar_width, gaps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SpanChart, page, columns, place, kind_of, from, to, busy, x, y,
                                   kinds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CellChart, page, columns, column, row, value, text, x, y, label,
                                   most, shades, many)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StackChart, page, columns, label, note_label, has_times, longest,
                                   step, bars, parts)

namespace {

using Json = nlohmann::json;

/// By the name that the look has for it, if there is one.
void name_colour(std::string& colour) {
  const std::string name = colour_variable(colour);
  if (name.front() != '\'') colour = name;
}

/// The names of kinds, whose colours are named.
std::vector<std::string> name_colours(std::vector<std::pair<std::string, std::string>>& kinds) {
  std::vector<std::string> legend;
  for (auto& [kind, colour] : kinds) {
    name_colour(colour);
    legend.push_back(kind);
  }
  return legend;
}

template <class AChart>
Json described(AChart chart, const char* kind, const std::vector<std::string>& legend) {
  Page& page = chart.page;
  page.legend = legend.size();
  page.longest_label = widest(legend);
  page.look.legend = !legend.empty();
  page.look.title = page.title;
  page.look.colours.insert(figure_colours().begin(), figure_colours().end());
  Json json = chart;
  json.update({{"lacuna_figure", 1}, {"kind", kind}, {"look", page.look}});
  return json;
}

template <class AChart>
std::string script(const Json& json) {
  auto chart = json.get<AChart>();
  chart.page.look = json.at("look").get<FigureLook>();
  return script_of(chart);
}

Json description_of(Chart chart) {
  std::vector<std::string> legend;
  for (ChartLayer& layer : chart.layers) {
    name_colour(layer.style.colour);
    for (auto& [column, says] : layer.where) says = key_cell(says);
    if (!layer.label.empty() && !contains(legend, layer.label)) legend.push_back(layer.label);
  }
  return described(std::move(chart), "chart", legend);
}

Json description_of(SpanChart chart) {
  const std::vector<std::string> legend = name_colours(chart.kinds);
  return described(std::move(chart), "spans", legend);
}

Json description_of(CellChart chart) { return described(std::move(chart), "cells", {}); }

Json description_of(StackChart chart) {
  const std::vector<std::string> legend = name_colours(chart.parts);
  return described(std::move(chart), "stack", legend);
}

/// The figure of a description, by its data as CSV.
Figure figure_of(Json description, const std::string& csv) {
  const std::string text = description.dump(1) + "\n";
  for (const char* const axis : {"x", "y"}) {
    if (!description.contains(axis)) continue;
    for (const char* const end : {"from", "to"}) {  // JSON has no word for what the data decide
      Json& value = description[axis][end];
      if (value.is_null()) value = NAN;
    }
  }
  const std::string kind = description.at("kind");
  const std::string gnuplot = kind == "chart"   ? script<Chart>(description)
                              : kind == "spans" ? script<SpanChart>(description)
                              : kind == "cells" ? script<CellChart>(description)
                                                : script<StackChart>(description);
  return {description.at("page").at("name"), csv, gnuplot, text};
}

template <class AChart>
Figure drawn(const AChart& chart, const std::string& rows) {
  return figure_of(description_of(chart), csv_line(chart.columns) + rows);
}

/// The figure with its description changed.
template <class Edit>
Figure edited(const Figure& figure, const Edit& edit) {
  Json description = Json::parse(figure.description);
  edit(description);
  return figure_of(std::move(description), figure.csv);
}

/// Whether the fourth column, times of dense runs, has any.
bool has_dense_times(const Figure& figure) {
  std::istringstream rows(figure.csv);
  std::string row;
  std::getline(rows, row);
  while (std::getline(rows, row)) {
    const std::vector<std::string> cells = split(row, ',');
    if (cells.size() > 3 && !cells[3].empty()) return true;
  }
  return false;
}

}  // namespace

Figure draw(const Chart& chart, const std::string& rows) { return drawn(chart, rows); }
Figure draw(const SpanChart& chart, const std::string& rows) { return drawn(chart, rows); }
Figure draw(const CellChart& chart, const std::string& rows) { return drawn(chart, rows); }
Figure draw(const StackChart& chart, const std::string& rows) { return drawn(chart, rows); }

bool is_description(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("lacuna_figure") && json.contains("page");
}

Figure with_look(const Figure& figure, const LookWords& look) {
  return edited(figure, [&](Json& about) {
    if (look.is_object()) about["look"].merge_patch(look);
  });
}

void mark_interrupted(Figures& figures) {
  for (Figure& figure : figures) {
    figure = edited(figure, [](Json& about) { about["page"]["interrupted"] = true; });
  }
}

bool shows(const Figure& figure, const std::string& words) {
  return with_look(figure, {{"labels", {{words, words + "."}}}}).script != figure.script;
}

void normalise(Figures& figures, const std::string& how) {
  const std::vector<std::string> words = {"share", "sum", "time", "dense"};
  if (!contains(words, how)) {
    throw refused("--normalise: found '{}'; allowed: {}", how, fmt::join(words, ", "));
  }
  bool any = false;
  for (Figure& figure : figures) {
    const Json about = Json::parse(figure.description);
    if (about.at("kind") != "stack") continue;
    const bool timed = about.at("has_times");
    if (how == "dense" && timed && !has_dense_times(figure)) continue;
    if ((how == "time" || how == "dense") && !timed) continue;
    if (how == "sum" && timed) continue;
    figure = with_look(figure, {{"normalise", how}});
    any = true;
  }
  if (any) return;
  throw refused(
      "--normalise {}: no figure drawn here can be{}", how,
      how == "dense" ? "; the runs have no dense partner (--with-dense, or a dense pattern)" : "");
}

}  // namespace lacuna
