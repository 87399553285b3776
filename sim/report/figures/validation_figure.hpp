// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Simulated against published values, one figure for each unit, with the line of equality and
/// those of 25 % more and less. A series is a block and density, or a family without blocks.
/// Nothing for outcomes without two numbers above zero.
Figures validation_figures(const Outcomes& outcomes);

}  // namespace lacuna
