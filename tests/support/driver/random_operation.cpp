// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/random_operation.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace lacuna::test {

std::uint32_t upto(Random& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(1 + random.bounded(most));
}

Mask ragged_mask(Random& random, std::uint32_t rows, std::uint32_t cols) {
  Mask mask{rows, cols, 1, 1, {0}, {}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint64_t percent = random.bounded(101);
    for (std::uint32_t column = 0; column < cols; ++column) {
      if (random.bounded(100) < percent) mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

void expect_equal(const OpResult& a, const OpResult& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.stack, b.stack);
  EXPECT_TRUE(a.events == b.events);
  ASSERT_EQ(a.statistics.size(), b.statistics.size());
  for (std::size_t i = 0; i < a.statistics.size(); ++i) {
    EXPECT_EQ(a.statistics[i].value, b.statistics[i].value) << a.statistics[i].name;
  }
}

BothEngines run_both(const std::function<OpResult(const Execution&)>& run, std::uint64_t seed) {
  Execution execution;
  execution.event_log = true;
  OpResult event = run(execution);
  execution.engine = Engine::clocked;
  execution.values = true;
  execution.shuffle = seed + 1;
  OpResult clocked = run(execution);
  expect_equal(event, clocked);
  return {std::move(event), std::move(clocked)};
}

}  // namespace lacuna::test
