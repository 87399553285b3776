// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The text of phases.csv: what each phase of each operation moved, in all its executions. Beside
/// it stands the share of what memories, fabric and edge could have moved meanwhile. Nothing if no
/// operation knows its phases.
std::string phases_csv(const Runs& records);

/// The same of one operation, for a terminal; empty if it does not know its phases.
std::string phases_table(const OpRecord& op);

/// Achieved bandwidth of each phase as a share of its peak, of all operations of a run together.
/// Named bandwidth_phases, or bandwidth_phases_RUN if there are several runs. None of more than
/// eight runs.
Figures phase_figures(const Runs& records);

}  // namespace lacuna
