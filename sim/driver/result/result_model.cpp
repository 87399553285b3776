// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_model.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ModelReport& report) {
  Json numbers = Json::array();
  for (const NamedQuantity& each : report.numbers) {
    numbers.push_back({each.name, each.value, each.unit});
  }
  Json tables = Json::array();
  for (const ModelTable& each : report.tables) {
    tables.push_back({each.name, each.title, each.columns, each.rows});
  }
  return {report.machine, report.kind,  report.model,     report.what,        report.title,
          report.remark,  report.facts, report.more_json, std::move(numbers), std::move(tables)};
}

ModelReport report_of(const Json& json) {
  ModelReport report;
  std::size_t at = 0;
  for (std::string* const text : {&report.machine, &report.kind, &report.model, &report.what,
                                  &report.title, &report.remark}) {
    *text = json.at(at++);
  }
  report.facts = json.at(at++).get<decltype(report.facts)>();
  report.more_json = json.at(at++);
  for (const Json& each : json.at(at++)) report.number(each.at(0), each.at(1), each.at(2));
  for (const Json& each : json.at(at)) {
    report.tables.push_back({each.at(0), each.at(1),
                             each.at(2).get<decltype(ModelTable::columns)>(),
                             each.at(3).get<decltype(ModelTable::rows)>()});
  }
  return report;
}

}  // namespace

std::string encode_outcome(const ModelOutcome& outcome) {
  const Json report = outcome.report ? json_of(*outcome.report) : Json();
  const std::vector<std::uint8_t> bytes = Json::to_cbor(
      Json{outcome.reason, outcome.requests_csv, outcome.said, outcome.pages, report});
  return {bytes.begin(), bytes.end()};
}

ModelOutcome decode_outcome(const std::string& bytes) {
  const Json json = Json::from_cbor(bytes);
  ModelOutcome outcome;
  outcome.reason = json.at(0);
  outcome.requests_csv = json.at(1);
  outcome.said = json.at(2);
  outcome.pages = json.at(3).get<std::vector<std::string>>();
  if (!json.at(4).is_null()) outcome.report = report_of(json.at(4));
  return outcome;
}

}  // namespace lacuna
