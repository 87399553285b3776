// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// How hard simulate_repeated() tries.
struct RepeatLimits {
  std::uint32_t lines = 16;  // that are simulated at first, of those that repeat
  std::uint32_t share = 8;   // at most 1 / share of the cores is simulated, in each try
};

/// Runs a program in which rows or columns repeat, singly or in blocks of a few, on a smaller
/// rectangle with fewer of them. It is proven that the whole one does the same: a block of lines
/// that sees on the links before it, word for word and cycle for cycle, what the block behind it
/// sees there, can be put in again any number of times, and nobody sees a difference. (What passes
/// a link is compared by digests of 64 bits, of the words that come and of those that leave.)
/// Where that does not hold more lines are tried. Refused if nothing repeats, values are carried,
/// or nothing is proven within the limits.
Attempt simulate_repeated(const TaskParams& params, const TaskProgram& program,
                          const RunOptions& options, const RepeatLimits& limits = {});

}  // namespace lacuna::wse
