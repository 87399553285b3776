// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_trust.hpp"

#include "sim/driver/result/result_cells.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

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
  take(json, "machine", trust.machine);
  take(json, "family", trust.family);
  take(json, "regime", trust.regime);
  take(json, "quantity", trust.quantity);
  take(json, "points", trust.points);
  take(json, "p5", trust.p5);
  take(json, "median", trust.median);
  take(json, "p95", trust.p95);
  take(json, "commit", trust.commit);
  take(json, "measured_before_this_model", trust.moved);
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
  take(json, "sram_mb", silicon.sram_mb);
  take(json, "low_mm2", silicon.mm2.low);
  take(json, "nominal_mm2", silicon.mm2.nominal);
  take(json, "high_mm2", silicon.mm2.high);
  return silicon;
}

}  // namespace lacuna
