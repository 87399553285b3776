// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "models/wse/fold.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

RunOptions options(Engine engine, std::uint64_t shuffle = 0) {
  return {engine, shuffle, 0, 1, true};
}

struct Batch {
  Rows rows;
  std::uint64_t first_seed;
};

constexpr std::uint64_t kCases = 15;

class RandomMesh : public ::testing::TestWithParam<Batch> {};

/// One result, whatever the engine, the order of stepping and the folding; if the fold says that
/// it is proven.
TEST_P(RandomMesh, GivesOneResultByEitherEngineInAnyOrderFullOrFolded) {
  std::uint64_t folded_cases = 0;
  for (std::uint64_t seed = GetParam().first_seed; seed < GetParam().first_seed + kCases; ++seed) {
    const StreamingScenario scenario = random_scenario(seed, GetParam().rows);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(scenario));
    const Program program = make_program(scenario);
    const WaferOutcome definition = simulate(scenario.params, program, options(Engine::clocked));
    EXPECT_EQ(difference(definition, simulate(scenario.params, program, options(Engine::event))),
              "");
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      EXPECT_EQ(
          difference(definition, simulate(scenario.params, program, options(engine, seed + 1))),
          "");
      const FoldPlan plan = plan_fold(program, options(engine));
      const WaferOutcome small = simulate(scenario.params, fold(program, plan), options(engine));
      if (!proves_fold(small)) continue;
      folded_cases += plan.folds() ? 1 : 0;
      EXPECT_EQ(difference(definition, unfold(small, plan, program, scenario.params.router)), "");
    }
    if (HasFailure()) return;
  }
  if (GetParam().rows == Rows::one_class) {
    EXPECT_GE(folded_cases, 2 * kCases / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, RandomMesh,
    ::testing::Values(Batch{Rows::one_class, 100}, Batch{Rows::one_class, 200},
                      Batch{Rows::one_class, 300}, Batch{Rows::one_class, 400},
                      Batch{Rows::one_class, 500}, Batch{Rows::one_class, 600},
                      Batch{Rows::remainder, 1000}, Batch{Rows::remainder, 1100},
                      Batch{Rows::remainder, 1200}, Batch{Rows::remainder, 1300},
                      Batch{Rows::unequal, 2000}, Batch{Rows::unequal, 2100},
                      Batch{Rows::random_blocks, 3000}, Batch{Rows::random_blocks, 3100}));

/// The negative control: rows below with more tokens hold up the rows above, and the comparison
/// of folded with full must be able to fail.
TEST(FoldedMesh, SlowerRowsBelowFasterOnesSpoilTheFoldAndAreNoticed) {
  std::uint64_t spoilt = 0;
  for (std::uint64_t seed = 5000; seed < 5040; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::unequal);
    std::reverse(scenario.tokens.begin(), scenario.tokens.end());
    const Program program = make_program(scenario);
    const FoldPlan plan = plan_fold(program, options(Engine::clocked));
    const WaferOutcome full = simulate(scenario.params, program, options(Engine::clocked));
    const WaferOutcome small =
        simulate(scenario.params, fold(program, plan), options(Engine::clocked));
    const bool differs =
        !difference(full, unfold(small, plan, program, scenario.params.router)).empty();
    spoilt += differs ? 1 : 0;
    if (differs) {
      EXPECT_FALSE(proves_fold(small)) << "seed " << seed << ": " << describe(scenario);
    }
  }
  EXPECT_GE(spoilt, 5U);
}

}  // namespace
}  // namespace lacuna::wse
