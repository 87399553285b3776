// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The runs of a result, with the name it is spoken of by.
struct NamedRuns {
  std::string name;
  Runs runs;
};

/// What differs between two results: parameters and layouts; totals, operations and parts of the
/// cycle stack, each by how much, the largest change first. Runs are paired by their order if both
/// results have as many, else by machine, workload, pattern and what varies; what has no partner is
/// listed.
///
/// Parts of the cycle stack are in cycles: unit-cycles over units, so that they add up to the
/// cycles of the run, and their changes to its change.
std::string difference_text(const NamedRuns& before, const NamedRuns& after);

}  // namespace lacuna
