// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What stands for a whole run: its only operation, if the run is no more than that, or the total,
/// which of a system has the time and the joules of all its chips.
const SummaryRow& whole_row(const RunRecord& record);

/// What a run prints: a line that says what was simulated, a row for each operation and TOTAL.
std::string run_table(const RunRecord& record);

/// What a comparison prints: a row for each run (its TOTAL, or its only operation).
std::string compare_table(const std::vector<RunRecord>& records);

/// The cycle stack of a whole run, one line for each kind; the last line is the sum.
std::string stack_table(const RunRecord& record);

/// The layers of the cycle stacks of several runs, in per cent.
std::string compare_stacks(const std::vector<RunRecord>& records);

}  // namespace lacuna
