// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_explain.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

Json table_json(const ExplainTable& table) {
  Json columns = Json::array();
  for (const ExplainColumn& column : table.columns) {
    columns.push_back({{"name", column.name}, {"unit", column.unit}});
  }
  return {{"title", table.title}, {"columns", columns}, {"rows", table.rows}};
}

ExplainTable parse_table(const Json& json) {
  ExplainTable table;
  table.title = json.at("title").get<std::string>();
  for (const Json& column : json.at("columns")) {
    table.columns.push_back(
        {column.at("name").get<std::string>(), column.at("unit").get<std::string>()});
  }
  table.rows = json.at("rows").get<std::vector<std::vector<std::string>>>();
  return table;
}

Json map_json(const UnitMap& map) {
  Json values = Json::array();
  for (const double value : map.values) {
    values.push_back(std::isnan(value) ? Json(nullptr) : Json(value));
  }
  return {{"name", map.name},
          {"title", map.title},
          {"quantity", map.quantity},
          {"columns", map.columns},
          {"values", values}};
}

UnitMap parse_map(const Json& json) {
  UnitMap map;
  map.name = json.at("name").get<std::string>();
  map.title = json.at("title").get<std::string>();
  map.quantity = json.at("quantity").get<std::string>();
  map.columns = json.at("columns").get<std::size_t>();
  for (const Json& value : json.at("values")) {
    map.values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                         : value.get<double>());
  }
  return map;
}

}  // namespace

Json explanation_json(const Explanation& explanation) {
  Json sections = Json::array();
  for (const ExplainSection& section : explanation.sections) {
    Json facts = Json::array();
    for (const auto& [name, text] : section.facts) facts.push_back({name, text});
    Json tables = Json::array();
    for (const ExplainTable& table : section.tables) tables.push_back(table_json(table));
    sections.push_back({{"title", section.title}, {"facts", facts}, {"tables", tables}});
  }
  Json maps = Json::array();
  for (const UnitMap& map : explanation.maps) maps.push_back(map_json(map));
  return {{"sections", sections}, {"maps", maps}};
}

Explanation parse_explanation(const Json& json) {
  Explanation explanation;
  for (const Json& item : json.at("sections")) {
    ExplainSection& section = explanation.section(item.at("title").get<std::string>());
    for (const Json& fact : item.at("facts")) {
      section.fact(fact.at(0).get<std::string>(), fact.at(1).get<std::string>());
    }
    for (const Json& table : item.at("tables")) section.tables.push_back(parse_table(table));
  }
  for (const Json& map : json.at("maps")) explanation.maps.push_back(parse_map(map));
  return explanation;
}

}  // namespace lacuna
