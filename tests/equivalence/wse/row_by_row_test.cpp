// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/resident/row_by_row.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/wse/simulate.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

StreamingScenario scenario(std::uint64_t seed) {
  StreamingScenario scenario =
      random_reduction(seed, seed % 2 == 0 ? Rows::one_class : Rows::unequal);
  scenario.entry = 0;  // the first row tells the others
  scenario.params.router.entries = std::max(2U, scenario.params.router.entries.value());
  scenario.params.router.multicast = seed % 2 == 0 ? Multicast::lockstep : Multicast::independent;
  scenario.tokens.resize(std::max<std::size_t>(2, scenario.tokens.size()), 3);
  if (seed % 3 != 0) scenario.rate = {1, 1 + seed % 20};  // slow enough that rows keep up
  if (scenario.form == StreamForm::indexed) {
    scenario.held = seed % 4 == 0 ? 0 : 1 + static_cast<std::uint32_t>(seed % 6);
  }
  return scenario;
}

TEST(RowByRow, GivesTheRunOfTheWholeWaferOrNone) {
  const std::uint64_t cases = 120 * test::long_factor();
  std::uint64_t given = 0;
  std::uint64_t held = 0;
  std::uint64_t in_lockstep = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const StreamingScenario what = scenario(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(what));
    Program program = make_program(what);
    if (seed % 5 == 0) share_stream(1 + static_cast<std::uint32_t>(seed % 7), program);
    const auto outcome = simulate_row_by_row(what.params, program, {});
    const WaferOutcome definition = simulate(what.params, program, {Engine::clocked});
    if (!outcome) {
      // some copy met a closed link
      EXPECT_TRUE(std::any_of(definition.routers.begin(), definition.routers.end(),
                              [](const RouterCounters& router) { return router.closures != 0; }));
      continue;
    }
    ++given;
    held += what.held != 0 ? 1 : 0;
    in_lockstep += what.params.router.multicast == Multicast::lockstep ? 1 : 0;
    EXPECT_EQ(difference(definition, *outcome), "");
    if (HasFailure()) return;
  }
  EXPECT_GT(given, cases / 2);
  EXPECT_GT(held, cases / 20);
  EXPECT_GT(in_lockstep, cases / 10);
}

TEST(RowByRow, IsNotForTheDefinitionOrForARunThatIsWatched) {
  const StreamingScenario what = scenario(2);
  const Program program = make_program(what);
  EXPECT_FALSE(simulate_row_by_row(what.params, program, {Engine::clocked}));
  RunOptions options;
  options.event_log = true;
  EXPECT_FALSE(simulate_row_by_row(what.params, program, options));
  options = RunOptions();
  options.jitter = 2;
  EXPECT_FALSE(simulate_row_by_row(what.params, program, options));
}

}  // namespace
}  // namespace lacuna::wse
