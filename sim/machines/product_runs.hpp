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

  /// Only what the product takes at its fastest matters. Ways of doing it that turn out slower than
  /// another are given up, and a result lacks what it would say of them. Such results are not kept.
  bool fastest_only = false;
  bool in_part = false;  // of the result that was made last something is missing
};

}  // namespace lacuna
