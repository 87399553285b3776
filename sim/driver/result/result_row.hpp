// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A row of summary.csv in JSON and back, with what varies between the runs under its paths.
nlohmann::ordered_json row_json(const SummaryRow& row, const std::vector<std::string>& varying);
SummaryRow parse_row(const nlohmann::ordered_json& json, const std::vector<std::string>& varying);

}  // namespace lacuna
