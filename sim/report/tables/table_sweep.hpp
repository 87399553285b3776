// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A row for each point of an experiment: its place on each of `axes`, then what came of it.
/// `axis_text` has the former by RunRecord::run; a text is empty where an axis does not apply.
std::string sweep_table(const std::vector<RunRecord>& records, const std::vector<std::string>& axes,
                        const std::vector<std::vector<std::string>>& axis_text);

}  // namespace lacuna
