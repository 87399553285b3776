// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json_figure.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/figures/figure_check.hpp"

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

namespace {

using Json = nlohmann::json;

/// The name of a colour that the look has; or the colour.
std::string name_of(const std::string& colour) {
  const std::string name = colour_variable(colour);
  return name.front() == '\'' ? colour : name;
}

Json coloured(const std::vector<std::pair<std::string, std::string>>& kinds) {
  Json all = Json::array();
  for (const auto& [kind, colour] : kinds) all.push_back({kind, name_of(colour)});
  return all;
}

/// What all figures have: their look first.
Json begun(const Page& page, const char* kind) {
  Json look = {{"width", page.width},
               {"height", 0},
               {"font", "Arial"},
               {"points", 7},
               {"formats", "svg pdf png"},
               {"title", page.title},
               {"legend", !page.legend.empty()},
               {"labels", Json::object()}};
  for (const auto& [name, colour] : figure_colours()) look["colours"][name] = colour;
  return {{"lacuna_figure", 1},
          {"kind", kind},
          {"data", page.name + ".csv"},
          {"look", std::move(look)},
          {"data_height", page.data_height},
          {"aspect", page.aspect},
          {"legend", page.legend.size()},
          {"longest_label", widest(page.legend)}};
}

std::string with(Json json, const Json& more) {
  json.update(more);
  return json.dump(1) + "\n";
}

/// The text of an edited description; one that is none of ours stays as it is.
template <class Edit>
std::string edited(const std::string& description, Edit edit) {
  Json json = Json::parse(description, nullptr, false);
  if (!json.is_object() || json.count("look") == 0) return description;
  edit(json);
  return json.dump(1) + "\n";
}

}  // namespace

std::string description_of(const Chart& chart) {
  std::vector<ChartLayer> layers = chart.layers;
  for (ChartLayer& layer : layers) {
    layer.style.colour = name_of(layer.style.colour);
    for (auto& [column, says] : layer.where) says = key_cell(says);
  }
  return with(begun(chart.page, "chart"), {{"x", chart.x},
                                           {"y", chart.y},
                                           {"bar_width", chart.bar_width},
                                           {"gaps", chart.gaps},
                                           {"layers", layers}});
}

std::string description_of(const SpanChart& chart) {
  return with(begun(chart.page, "spans"), {{"x", chart.x},
                                           {"y", named_rows(chart.tracks)},
                                           {"place", chart.place},
                                           {"kind_of", chart.kind},
                                           {"from", chart.from},
                                           {"to", chart.to},
                                           {"busy", chart.busy},
                                           {"kinds", coloured(chart.kinds)}});
}

std::string description_of(const CellChart& chart) {
  return with(begun(chart.page, "cells"), {{"x", chart.x},
                                           {"y", chart.y},
                                           {"column", chart.column},
                                           {"row", chart.row},
                                           {"value", chart.value},
                                           {"text", chart.text},
                                           {"label", chart.label},
                                           {"most", chart.most},
                                           {"shades", chart.shades}});
}

std::string description_of(const StackChart& chart) {
  Json json = begun(chart.page, "stack");
  json["look"]["normalise"] = chart.percent ? "share" : "sum";
  return with(
      std::move(json),
      {{"label", chart.label}, {"note_label", chart.note_label}, {"parts", coloured(chart.parts)}});
}

std::string described_with(const std::string& description, const FigureLook& look) {
  return edited(description, [&](Json& json) {
    Json& now = json["look"];
    const auto set = [&](const char* name, const auto& value) {
      if (value) now[name] = *value;
    };
    set("width", look.width);
    set("height", look.height);
    set("font", look.font);
    set("points", look.points);
    set("legend", look.legend);
    if (!look.formats.empty()) now["formats"] = fmt::format("{}", fmt::join(look.formats, " "));
    if (look.title) now["title"] = look.title->empty() ? Json::array() : Json::array({*look.title});
    now["colours"].update(Json(look.colours));
    now["labels"].update(Json(look.labels));
  });
}

std::string described_as(const std::string& description, const std::string& normalise) {
  return edited(description, [&](Json& json) { json["look"]["normalise"] = normalise; });
}

std::string described_as_interrupted(const std::string& description) {
  return edited(description, [](Json& json) { json["interrupted"] = true; });
}

}  // namespace lacuna
