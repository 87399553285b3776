// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "sim/base/cycle.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

/// Simulations of one product on one machine, of one mask and seed, with nothing asked for beside
/// their results: none of them is made twice. The moves of its operands are no part of them, so a
/// machine that takes these from elsewhere shares them.
struct ProductRuns {
  struct Kept {
    OpResult result;
    Cycle sampled = 0;  // of a sample of rows: as RowSample has it
    Cycle fullest = 0;
  };

  /// By whether weights are resident and how many rows were asked for; 0: all.
  std::map<std::pair<bool, std::uint32_t>, Kept> kept;
  std::uint64_t found = 0;  // that were not made again

  /// What is known to take more cycles is given up, where a machine can tell: CycleLimitPassed.
  Cycle limit = kNever;
};

}  // namespace lacuna
