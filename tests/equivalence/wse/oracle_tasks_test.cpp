// SPDX-License-Identifier: Apache-2.0
// Random programs of tasks on random hardware: what the documents say against both engines.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "tests/support/wse/task_comparison.hpp"

namespace lacuna::wse {
namespace {

/// 600 cases in every run, 6,000 in the long one, in parts that run beside each other.
constexpr int kParts = 6;

class TaskOracle : public testing::TestWithParam<int> {};

TEST_P(TaskOracle, AgreesWithEveryEngineOnRandomProgramsAndHardware) {
  const bool more = std::getenv("LACUNA_LONG") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t cases = more ? 1000 : 100;
  std::uint64_t waiting = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::uint64_t seed = 1 + static_cast<std::uint64_t>(GetParam()) + i * kParts;
    const std::string result = compare_tasks(random_tasks(seed), seed);
    if (result == "waits") {
      ++waiting;
    } else if (!result.empty()) {
      FAIL() << reduce_tasks(seed);
    }
  }
  EXPECT_LT(waiting, cases / 3);  // or too little is compared
}

INSTANTIATE_TEST_SUITE_P(Parts, TaskOracle, testing::Range(0, kParts));

}  // namespace
}  // namespace lacuna::wse
