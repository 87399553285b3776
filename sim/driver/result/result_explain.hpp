// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/explanation.hpp"

namespace lacuna {

/// An explanation as results keep it: sections with facts, an array of pairs, and tables; then
/// maps, whose missing units are null.
nlohmann::ordered_json explanation_json(const Explanation& explanation);

/// The same back; throws what nlohmann::json throws if it is not one.
Explanation parse_explanation(const nlohmann::ordered_json& json);

}  // namespace lacuna
