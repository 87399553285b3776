// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The explanations of all operations of a run for a terminal. An operation whose machine explained
/// nothing shows its notes, one without values its reason.
std::string explain_text(const RunRecord& record);

/// The maps of the longest operation of each run as figures, named MAP, or MAP_RUN if there are
/// several runs. Also what the phases of each run moved. None of more than eight runs.
Figures explain_figures(const Runs& records);

}  // namespace lacuna
