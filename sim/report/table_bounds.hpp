// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/summary.hpp"

namespace lacuna {

/// A machine without one of its costs: "what if the exchange took no time".
struct WhatIf {
  std::string name;
  std::vector<std::string> without;  // parts of the cycle stack, "layer" or "layer.kind"
};

/// A run without that cost, by its own cycle stack: the cycles of its units that remain, on
/// average.
struct Bound {
  std::string name;
  double cycles = 0;
  double speedup = 1;  // over the run as it was
};

/// Where phases follow each other, as on a bulk-synchronous machine, removing what all units spend
/// in them is exact; where they overlap it is what the mean unit would need, and no promise.
std::vector<Bound> bounds_of(const RunRecord& run, const std::vector<WhatIf>& what_ifs);

std::string bounds_table(const RunRecord& run, const std::vector<WhatIf>& what_ifs);

/// The rows of a run in bounds.csv, and their heading.
std::string bounds_csv_head();
std::string bounds_csv_rows(const RunRecord& run, const std::vector<WhatIf>& what_ifs);

}  // namespace lacuna
