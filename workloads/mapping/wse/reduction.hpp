// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// Another way of partial sums than the ring: what each column does for each column that may keep
/// the sum, and the routes of a row of routers. The column that keeps changes from row to row of
/// the weights, and the routes do not: a column only chooses on which of its colors it sends.
struct Reduction {
  ReducePlan plan;
  std::vector<RouterProgram> routers;  // by column
  unsigned colors = 0;                 // that it uses, from 1 on
  unsigned inputs = 0;                 // colors that arrive at a core, at most
  unsigned outputs = 0;                // and that it sends on
  std::uint32_t block = 0;             // columns of each of several trees; 0: there is one
};

/// Input queues of a core, that of the weights included.
inline constexpr unsigned kInputQueues = 8;

/// From both ends of the row towards the column that keeps, which takes in two streams:
/// - chain: every column adds to its neighbour's sum;
/// - tree: columns in aligned blocks of 1, 2, 4, ... add up pairwise towards the block's end that
///   is nearer (in round q over 2^q hops), and the ends of the largest blocks that do not reach
///   beyond the column that keeps hand on to their neighbour, the first column of the next block.
///   Each round needs an input queue of its own; if there are not so many, blocks end at as many
///   rounds as there are queues for, and a chain of blocks adds them up, through the routers in
///   between;
/// - two_phase: chains within groups of about sqrt(columns), then a chain of the groups' last
///   columns through the routers in between, then a chain in the group of the column that keeps;
/// - idealised: nothing travels, which takes no color.
/// `kind` is not ring, and there are two columns at least.
Reduction plan_reduction(Reduce kind, std::uint32_t columns, unsigned queues = kInputQueues);

}  // namespace lacuna::wse
