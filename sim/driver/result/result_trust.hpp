// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// How sure an operation is, and the silicon of a run, in JSON and back.
nlohmann::ordered_json trust_json(const TrustErrors& trust);
TrustErrors parse_trust(const nlohmann::ordered_json& json);
nlohmann::ordered_json silicon_json(const UnitSilicon& silicon);
UnitSilicon parse_silicon(const nlohmann::ordered_json& json);

}  // namespace lacuna
