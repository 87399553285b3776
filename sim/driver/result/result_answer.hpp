// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/answer/answer.hpp"

namespace lacuna {

/// The answer of a result.json: sentences, points with means and ranges, winners as places in the
/// points, ranks and notes.
nlohmann::ordered_json answer_json(const Answer& answer);

}  // namespace lacuna
