// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// Of each run a bar of the phases or rows of a layer, and a bar of memory for each block or stage
/// (`phases`, `memory`). Of several runs their joules per token over tokens per second, if they
/// have both (`tokens`).
Figures model_figures(const std::vector<ModelReport>& reports);

}  // namespace lacuna
