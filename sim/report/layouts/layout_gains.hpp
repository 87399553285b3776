// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/validation_report.hpp"

namespace lacuna {

/// By family: how many times as fast as planned products are at their chosen layouts (quantiles).
/// Also the median error as planned, with the product alone laid out so, and with all laid out so.
/// Empty if no layout was chosen.
std::string layout_gains_table(const Outcomes& outcomes);

/// A row for each point with a layout; empty if there is none.
std::string layout_gains_csv(const Outcomes& outcomes);

}  // namespace lacuna
