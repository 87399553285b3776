// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_model.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace lacuna {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamedQuantity, name, value, unit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelTable, name, title, columns, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelReport, machine, kind, model, what, title, remark, facts,
                                   more_json, numbers, tables)

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
