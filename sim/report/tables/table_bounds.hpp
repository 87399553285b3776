// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A machine without one of its costs: "what if the exchange took no time".
struct WhatIf {
  std::string name;
  std::vector<std::string> without;  // parts of the cycle stack, "layer" or "layer.kind"

  /// Statistics, "path.name" in cycles, none of which the machine could do without even then.
  std::vector<std::string> limits = {};

  bool of_edge = false;  // operations that move nothing through the edge keep all their cycles

  std::string cause = {};  // that its machine declares of the same cost; empty: none
};

/// A run without that cost: no fewer cycles are possible.
struct Bound {
  std::string name;
  double cycles = 0;
  double speedup = 1;                   // over the run as it was: no more is possible
  std::optional<double> measured = {};  // of a run without it, if the run was asked why
};

/// Of an operation that counted the limits, the largest of them. Of others, what the mean unit has
/// left in its cycle stack: where phases follow each other, as on a bulk-synchronous machine, that
/// is what a run without these phases takes.
std::vector<Bound> bounds_of(const RunRecord& run, const std::vector<WhatIf>& what_ifs);

/// The rows of a run in bounds.csv, and their heading.
std::string bounds_csv_head();
std::string bounds_csv_rows(const RunRecord& run, const std::vector<WhatIf>& what_ifs);

}  // namespace lacuna
