// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna::test {

/// One of `choices`, each equally likely.
template <class T>
T pick(Random& random, const std::vector<T>& choices) {
  return choices[random.bounded(choices.size())];
}

/// A number in [1, most].
std::uint32_t upto(Random& random, std::uint32_t most);

/// Keeps each element of a row with a chance of its own; a row may be empty.
Mask ragged_mask(Random& random, std::uint32_t rows, std::uint32_t cols);

/// Of two executions: the same cycles, cycle stack, counters and events.
void expect_equal(const OpResult& a, const OpResult& b);

/// An operation by `event`, and by `clocked` with values, its units stepped in an order of
/// `seed`'s.
struct BothEngines {
  OpResult event;
  OpResult clocked;
};
/// Expects that they are equal.
BothEngines run_both(const std::function<OpResult(const Execution&)>& run, std::uint64_t seed);

}  // namespace lacuna::test
