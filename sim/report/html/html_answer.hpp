// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What is run and on what, as a title: "512x512x512 on bow and wse2".
std::string report_title(const std::vector<RunRecord>& records);

/// The part of a run's cycle stack, other than arithmetic, that took most, and its share: "stall:
/// bank conflicts, 23 %"; empty without a stack.
std::string what_limits(const RunRecord& run);

/// The answer in front of all else: what was fastest and what zeros gave, then for each run its
/// time, speed-up, where its cycles went, energy and what limits it.
std::string answer_html(const std::vector<RunRecord>& records);

}  // namespace lacuna
