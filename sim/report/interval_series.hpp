// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/report/result.hpp"

namespace lacuna {

/// What an operation has counted since its begin.
struct CountsSoFar {
  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;
  std::uint64_t sram_bytes = 0;
  std::uint64_t fabric_bytes = 0;
  std::uint64_t io_bytes = 0;
};

/// Adds `what`, `times` over, to `sum`, which has the same statistics in the same order or is
/// empty.
void add(CountsSoFar& sum, const CountsSoFar& what, std::uint64_t times);

/// Makes intervals of what was counted up to their borders: each is the difference of two borders,
/// so that they add up to the last.
class IntervalSeries {
 public:
  /// At cycle `at`, later than the border before, `so_far` had been counted. Borders have the same
  /// statistics in the same order. InternalError if a count goes back.
  void border(Cycle at, const CountsSoFar& so_far);

  Intervals take() { return std::move(result_); }

 private:
  Intervals result_;
  Interval before_;  // the counts up to the border before, as of one interval
};

/// What a whole result has counted.
CountsSoFar counts_of(const OpResult& result);

/// The intervals between `borders`, those before the end of `result`, and its end.
Intervals intervals_of(const std::vector<std::pair<Cycle, CountsSoFar>>& borders,
                       const OpResult& result);

/// InternalError unless the intervals of `result`, as often as they are repeated, add up to it.
void check_intervals(const OpResult& result);

}  // namespace lacuna
