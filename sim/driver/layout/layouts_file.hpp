// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The layouts that were searched in some runs, as a file for --layout; empty if there are none.
/// Operations of equal names that a file cannot tell apart, such as those of several seeds, are
/// there once, with the first. `runs`: lists of runs, such as the dense ones beside others.
std::string layouts_file(const std::vector<const Runs*>& runs);

}  // namespace lacuna
