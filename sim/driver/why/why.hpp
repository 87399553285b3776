// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/machines/declared_cause.hpp"
#include "sim/report/why.hpp"

namespace lacuna {

/// A run that is asked for, to be compared with one that is there.
struct WhyAsk {
  std::vector<std::string> settings;  // PATH=VALUE in place of what the run has
  bool by_rule = false;               // laid out by its machine's rule, whatever is given
  bool dense = false;                 // with all weights
};

/// What a run came to, as far as it is asked why.
struct WhyTime {
  double time = 0;                           // in the unit of the question
  std::map<std::string, double> parts = {};  // "layer.kind": share of the time of units in use
  std::vector<std::string> layout = {};      // settings that lay it out so again
};

/// Runs all that is asked for, as many at a time as it can; nothing for what cannot be run.
/// SimulationError if Ctrl-C ended it: of a part of the runs nothing is said.
using WhyRunner = std::function<std::vector<std::optional<WhyTime>>(const std::vector<WhyAsk>&)>;

/// What is known of a run before it is asked why.
struct WhyQuestion {
  WhyTime run;
  const std::vector<DeclaredCause>& causes;  // of its machine
  std::string unit = "cycles";               // or "us"
  std::vector<std::string> held = {};        // settings that keep its layout as it is
  bool has_dense = false;                    // weights are left out, so that a dense run says more
  std::optional<double> dense = {};          // its time, if it was run
  double without_zeros = 0;                  // of its time: operations without zeros
  std::optional<double> density = {};        // of the weights, where it is one
  std::map<std::string, double> least = {};  // by cause: no run without it takes less, so laid out

  /// The value of a parameter as it is; empty if it is not known.
  std::function<std::string(const std::string&)> value = [](const auto&) { return std::string(); };
};

inline constexpr const char* kInterruptedWhy = "interrupted while it was run again for --why";

/// Settings with `more`, which take the place of those of the same parameters.
std::vector<std::string> settings_with(std::vector<std::string> settings,
                                       const std::vector<std::string>& more);

/// Finds why a run is not faster by the fewest runs that show it, none of them twice: dense, other
/// layouts, then costs at the best of these. Costs that add up are ranked by the cycle stack and
/// confirmed. Costs that hide behind each other are taken away alone; where none gains so, they are
/// ordered by what remains with that cost only. A cost that cannot gain more than the best one is
/// not taken away alone.
Why find_why(const WhyQuestion& question, const WhyRunner& run);

}  // namespace lacuna
