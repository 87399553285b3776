// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What is known of a streamed product once it is laid out and before it is counted word by word.
struct StreamLoads {
  std::vector<std::uint64_t> sent;  // elements, by place in a group, of all groups together
  std::uint32_t farthest = 0;       // rows of cores between the one where words enter and the last
  std::uint32_t entry = 0;          // where they enter, of StreamingKernel::tokens
  bool ring = true;                 // of partial sums; false: another reduction
  /// Of another one: by place, how many sums all rows of its columns take in beside the one that
  /// is sent on or kept; empty: none.
  std::vector<std::uint64_t> gathers = {};
  bool exchanges = false;  // groups, side by side, tell each other their rows
  unsigned between = 1;    // links from a place of a group to the next
  unsigned hop = 1;        // latencies of a link and a ramp, in cycles
  unsigned ramp = 1;
};

/// By place, the sums that its columns take in beside the one they send on or keep, if `keepers`
/// keep the rows.
std::vector<std::uint64_t> gathers_of(const ReducePlan& plan, const ColumnGroups& groups,
                                      const std::vector<std::uint32_t>& keepers);

/// Cycles that no run of a streamed product can be below once its words are there, from counts
/// alone: issue slots and dispatches of each column, what its last row of sums has before it on the
/// ring, words on the busiest link of groups. Of `kernel` the forms, costs, tokens, steps and, if
/// it is known, who keeps which row.
Cycle least_cycles_of_cores(const StreamingKernel& kernel, const CoreParams& core,
                            const StreamLoads& loads);

/// The same of cores that hold elements one by one, of which each has its own number. `words`: by
/// column and feature, as in StreamingKernel::held, how often it comes.
Cycle least_cycles_of_held(const StreamingKernel& kernel, const CoreParams& core,
                           const StreamLoads& loads,
                           const std::vector<std::vector<std::uint32_t>>& words);

/// Cycles that no run of a weight gradient can be below, from counts alone: the issue slots and
/// dispatches of a core, the way of its sums down the column, words on a link and through the edge.
/// `hop` and `ramp`: latencies of a link and of a ramp.
Cycle least_cycles_of_gradient(const Program& program, const CoreParams& core, unsigned hop,
                               unsigned ramp);

}  // namespace lacuna::wse
