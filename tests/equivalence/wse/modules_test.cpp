// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/wse/engine/module_wafer.hpp"
#include "models/wse/simulate.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

using ::testing::Contains;

class ModulesOfCores : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ModulesOfCores, GiveTheSameOutcomeAsRowsByEitherEngine) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 8; ++seed) {
    const StreamingScenario scenario = random_reduction(seed, Rows::random_blocks);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(scenario));
    const Program program = make_program(scenario);
    for (const Cycle jitter : {0U, 3U}) {
      const RunOptions rows{Engine::clocked, 0, jitter, 7, true};
      const WaferOutcome definition = simulate(scenario.params, program, rows);
      for (const Engine engine : {Engine::clocked, Engine::event}) {
        RunOptions modules{engine, seed, jitter, 7, true};
        modules.modules = true;
        EXPECT_EQ(difference(definition, simulate(scenario.params, program, modules)), "");
      }
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModulesOfCores, ::testing::Values(60000U, 61000U, 62000U));

TEST(ModulesOfCores, HaveHierarchicalNames) {
  StreamingScenario scenario;
  scenario.columns = 3;
  scenario.tokens = {4, 4};
  scenario.final_column = {0, 1};
  scenario.counts = {1, 1, 1, 1, 1, 1};
  const std::vector<std::string> names = module_names(scenario.params, make_program(scenario));
  EXPECT_EQ(names.size(), 2U + 2U + 2U * 3U * 3U);  // wafer, injectors, rows, places with two each
  EXPECT_THAT(names, Contains("wafer.r1.c2.router"));
  EXPECT_THAT(names, Contains("wafer.r0.c0.core"));
  EXPECT_THAT(names, Contains("wafer.injectors"));
}

}  // namespace
}  // namespace lacuna::wse
