// SPDX-License-Identifier: Apache-2.0
// Random programs of tasks on random hardware: what the documents say against both engines.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "models/wse/lanes/lane_wafer.hpp"
#include "tests/support/wse/random_forms.hpp"
#include "tests/support/wse/task_comparison.hpp"

namespace lacuna::wse {
namespace {

/// 600 general cases in every run, 6,000 in the long one, in parts that run beside each other.
constexpr int kTaskParts = 6;

std::uint64_t task_cases() {
  return std::getenv("LACUNA_LONG") != nullptr ? 1000 : 100;  // NOLINT(concurrency-mt-unsafe)
}

class TaskOracle : public testing::TestWithParam<int> {
 protected:
  static std::uint64_t seed(std::uint64_t i) {
    return 1 + static_cast<std::uint64_t>(GetParam()) + i * kTaskParts;
  }
};

TEST_P(TaskOracle, AgreesWithEveryEngineOnRandomProgramsAndHardware) {
  const std::uint64_t cases = task_cases();
  std::uint64_t waiting = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::string result = compare_tasks(random_tasks(seed(i)), seed(i));
    if (result == "waits") {
      ++waiting;
    } else if (differs(result)) {
      FAIL() << reduce_random_tasks(seed(i));
    }
  }
  EXPECT_LT(waiting, cases / 3);  // or too little is compared
}

TEST_P(TaskOracle, AgreesOnLinesThatHandWordsOn) {
  std::uint64_t in_lanes = 0;
  for (std::uint64_t i = 0; i < task_cases() / 3; ++i) {
    const TaskCase made = random_relays(seed(i));
    if (lanes::simulate_lanes(made.params, made.program).refused.empty()) ++in_lanes;
    if (differs(compare_tasks(made, seed(i)))) FAIL() << reduce_tasks(made, seed(i));
  }
  EXPECT_GT(in_lanes, task_cases() / 12);
}

TEST_P(TaskOracle, AgreesOnCirclesThatShiftWords) {
  std::uint64_t in_lanes = 0;
  for (std::uint64_t i = 0; i < task_cases() / 3; ++i) {
    const TaskCase made = random_shifts(seed(i));
    if (lanes::simulate_lanes(made.params, made.program).refused.empty()) ++in_lanes;
    if (differs(compare_tasks(made, seed(i)))) FAIL() << reduce_tasks(made, seed(i));
  }
  EXPECT_GT(in_lanes, task_cases() / 15);
}

INSTANTIATE_TEST_SUITE_P(Parts, TaskOracle, testing::Range(0, kTaskParts));

}  // namespace
}  // namespace lacuna::wse
