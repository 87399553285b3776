// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_model.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace lacuna {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamedQuantity, name, value, unit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelTable, name, title, columns, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelReport, machine, kind, model, what, title, remark, facts,
                                   numbers, tables)

namespace {

using Json = nlohmann::ordered_json;

/// A count is a whole number; what any number is enough for is null.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json json_of(const std::vector<NamedQuantity>& numbers) {
  Json json = Json::object();
  for (const NamedQuantity& each : numbers) json[each.name] = number(each.value);
  return json;
}

Json json_of(const ModelTable& table) {
  Json json = Json::object();
  for (const auto& [name, values] : table.rows) {
    Json& row = json[name];
    if (values.size() == 1) row = number(values[0]);
    for (std::size_t i = 0; values.size() != 1 && i < values.size(); ++i) {
      row[table.columns[i].first] = number(values[i]);
    }
  }
  return json;
}

Json json_of(const ModelReport& report) {
  Json json = {{"model", report.model}, {"machine", report.machine}};
  for (const auto& [name, text] : report.facts) json[name] = Json::parse(text);
  json.update(json_of(report.numbers));
  for (const ModelTable& table : report.tables) json[table.name] = json_of(table);
  return json;
}

}  // namespace

std::string json_text(const std::string& text) { return Json(text).dump(); }

std::string model_json(const ModelReport& report) { return json_of(report).dump(2); }

std::string models_json(const std::vector<ModelReport>& reports) {
  std::string text = "[";
  for (const ModelReport& report : reports) {
    text += (&report == reports.data() ? "\n" : ",\n") + model_json(report);
  }
  return text + "\n]";
}

std::string metrics_json(const std::vector<NamedQuantity>& metrics,
                         const std::optional<std::string>& why) {
  Json json = json_of(metrics);
  if (why) json["why"] = Json::parse(*why);
  return json.dump(2) + '\n';
}

std::string encode_outcome(const ModelOutcome& outcome) {
  const nlohmann::json report = outcome.report ? nlohmann::json(*outcome.report) : nlohmann::json();
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(
      nlohmann::json{outcome.reason, outcome.requests_csv, outcome.said, outcome.pages, report});
  return {bytes.begin(), bytes.end()};
}

ModelOutcome decode_outcome(const std::string& bytes) {
  const nlohmann::json json = nlohmann::json::from_cbor(bytes);
  ModelOutcome outcome;
  outcome.reason = json.at(0);
  outcome.requests_csv = json.at(1);
  outcome.said = json.at(2);
  outcome.pages = json.at(3).get<std::vector<std::string>>();
  if (!json.at(4).is_null()) outcome.report = json.at(4).get<ModelReport>();
  return outcome;
}

}  // namespace lacuna
