// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A row for each step of each run that was asked why it is not faster, and for each cause by
/// itself; empty if none was.
std::string why_csv(const std::vector<RunRecord>& records);

}  // namespace lacuna
