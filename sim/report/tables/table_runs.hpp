// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The cycle stack of a whole run, one line for each kind; the last line is the sum.
std::string stack_table(const RunRecord& record);

}  // namespace lacuna
