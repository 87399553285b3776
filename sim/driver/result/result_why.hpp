// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/why.hpp"

namespace lacuna {

/// Why a run is not faster, in JSON and back.
nlohmann::ordered_json why_json(const Why& why);
Why parse_why(const nlohmann::ordered_json& json);

}  // namespace lacuna
