// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "models/wse/streaming_sweep.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

struct Batch {
  Rows rows;
  std::uint64_t first_seed;
  bool wide;                 // numbers that need 16 bits
  bool upside_down = false;  // slower rows below faster ones
};

constexpr std::uint64_t kCases = 40;

class RandomSweep : public ::testing::TestWithParam<Batch> {
 protected:
  static StreamingScenario scenario(std::uint64_t seed) {
    StreamingScenario scenario = random_scenario(seed, GetParam().rows);
    scenario.params.router.multicast = Multicast::independent;
    scenario.params.router.entries = std::max(2U, scenario.params.router.entries.value());
    scenario.columns = std::max(2U, scenario.columns);
    scenario.beat_cycles = 1;
    scenario.stalls = scenario.held = 0;
    if (scenario.form == StreamForm::wide) scenario.form = StreamForm::packed;
    if (scenario.columns * scenario.final_column.size() != scenario.counts.size()) {
      scenario.counts.resize(scenario.columns * scenario.final_column.size(), 3);
    }
    if (GetParam().upside_down) std::reverse(scenario.tokens.begin(), scenario.tokens.end());
    if (GetParam().wide) scenario.params.core.dispatch = 130;
    return scenario;
  }
};

TEST_P(RandomSweep, CountsWhatTheCycleByCycleWaferCounts) {
  const std::uint64_t cases = kCases * test::long_factor();
  std::uint64_t split = 0;
  for (std::uint64_t seed = GetParam().first_seed * 10; seed < GetParam().first_seed * 10 + cases;
       ++seed) {
    const StreamingScenario scenario = RandomSweep::scenario(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(scenario));
    Program program = make_program(scenario);
    if (seed % 3 == 0) program.column_fifo = 1 + static_cast<std::uint32_t>(seed % 5);
    const auto sweep = make_streaming_sweep(scenario.params, program);
    ASSERT_NE(sweep, nullptr);
    const std::optional<SweepOutcome> outcome = sweep->run();
    ASSERT_TRUE(outcome);
    const WaferOutcome definition = simulate(scenario.params, program, {Engine::clocked});
    EXPECT_EQ(difference(definition,
                         unfold(outcome->kept, outcome->fold, program, scenario.params.router)),
              "");
    split += outcome->groups > outcome->fold.classes ? 1 : 0;
    if (HasFailure()) return;
  }
  // Rows that are alike never hold each other up; slower ones below faster ones do.
  if (GetParam().rows == Rows::one_class) {
    EXPECT_EQ(split, 0U);
  }
  if (GetParam().upside_down) {
    EXPECT_GE(split, 5U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, RandomSweep,
    ::testing::Values(Batch{Rows::one_class, 10000, false}, Batch{Rows::one_class, 11000, false},
                      Batch{Rows::one_class, 12000, true}, Batch{Rows::remainder, 20000, false},
                      Batch{Rows::remainder, 21000, true}, Batch{Rows::unequal, 30000, false},
                      Batch{Rows::unequal, 31000, false, true},
                      Batch{Rows::unequal, 32000, true, true},
                      Batch{Rows::random_blocks, 40000, false}));

}  // namespace
}  // namespace lacuna::wse
