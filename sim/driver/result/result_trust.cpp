// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_trust.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
void take_cell(const Json& json, const char* key, T& value) {
  value = json.at(key).get<T>();
}

}  // namespace

Json trust_json(const TrustErrors& trust) {
  return {{"machine", trust.machine}, {"family", trust.family},
          {"regime", trust.regime},   {"quantity", trust.quantity},
          {"points", trust.points},   {"p5", trust.p5},
          {"median", trust.median},   {"p95", trust.p95},
          {"commit", trust.commit},   {"measured_before_this_model", trust.moved}};
}

TrustErrors parse_trust(const Json& json) {
  TrustErrors trust;
  take_cell(json, "machine", trust.machine);
  take_cell(json, "family", trust.family);
  take_cell(json, "regime", trust.regime);
  take_cell(json, "quantity", trust.quantity);
  take_cell(json, "points", trust.points);
  take_cell(json, "p5", trust.p5);
  take_cell(json, "median", trust.median);
  take_cell(json, "p95", trust.p95);
  take_cell(json, "commit", trust.commit);
  take_cell(json, "measured_before_this_model", trust.moved);
  return trust;
}

Json silicon_json(const UnitSilicon& silicon) {
  return {{"sram_mb", silicon.sram_mb},
          {"low_mm2", silicon.mm2.low},
          {"nominal_mm2", silicon.mm2.nominal},
          {"high_mm2", silicon.mm2.high}};
}

UnitSilicon parse_silicon(const Json& json) {
  UnitSilicon silicon;
  take_cell(json, "sram_mb", silicon.sram_mb);
  take_cell(json, "low_mm2", silicon.mm2.low);
  take_cell(json, "nominal_mm2", silicon.mm2.nominal);
  take_cell(json, "high_mm2", silicon.mm2.high);
  return silicon;
}

}  // namespace lacuna
