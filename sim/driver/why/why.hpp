// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/machines/declared_cause.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/why.hpp"

namespace lacuna {

/// A run that is asked for, to be compared with one that is there.
struct WhyAsk {
  std::vector<std::string> settings;  // PATH=VALUE in place of what the run has
  bool search_layout = false;         // lay it out as a short search finds best
  bool dense = false;                 // with all weights
};

/// Runs all that is asked for, as many at a time as it can; nothing for what cannot be run.
using WhyRunner = std::function<std::vector<std::optional<RunRecord>>(const std::vector<WhyAsk>&)>;

/// What is known of a run before it is asked why.
struct WhyQuestion {
  const RunRecord& run;
  const std::vector<DeclaredCause>& causes;  // of its machine
  std::vector<std::string> held;             // settings that keep its layout as it is
  bool has_dense = false;                    // weights are left out, so that a dense run says more
};

/// Finds why a run is not faster by the fewest runs that show it: dense, other layouts, then costs
/// at the best of these. Costs that add up are ranked by the cycle stack and confirmed; of costs
/// that hide behind each other each is taken away alone, and they are ordered by what remains with
/// that cost only.
Why find_why(const WhyQuestion& question, const WhyRunner& run);

}  // namespace lacuna
