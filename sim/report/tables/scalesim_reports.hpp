// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The operations of a run in the form of SCALE-Sim's reports, as (file name, text):
/// COMPUTE_REPORT, BANDWIDTH_REPORT and DETAILED_ACCESS_REPORT, and SPARSE_REPORT if an operation
/// has a pattern. An operation is a layer; those that did not run are left out and keep their
/// number.
///
/// IFMAP is X, FILTER is W, OFMAP is Y with its partial sums; SRAM is the memory of all simulated
/// tiles or cores, DRAM what lies beyond the chip. Counts are in words of one element. Cycle 0 is
/// the first in which something is computed; before it is the prefetch. Streams of SRAM span the
/// phases in which vertices work on the operand, where the machine tells its phases: W those that
/// multiply, X also those before them that copy it (at negative cycles), Y all that compute.
/// Otherwise they span the operation. Reads of tasks on a wafer, which do not tell their operands
/// apart, are of IFMAP.
std::vector<std::pair<std::string, std::string>> scalesim_reports(const RunRecord& run);

}  // namespace lacuna
