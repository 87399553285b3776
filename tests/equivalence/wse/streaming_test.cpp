// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "models/wse/engine/fold.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/simulate.hpp"
#include "tests/support/wse/cases.hpp"
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

/// Rows of the longest way from where words enter. Of four one can be left out.
std::uint32_t longest_way(const StreamingScenario& scenario, const Program& program) {
  return std::max(scenario.entry, program.rows - scenario.entry);
}

/// In a run of all rows, whether a row that would stand for others (the second of a way of four or
/// more) found the link to the row behind it closed.
bool second_row_is_held_up(const StreamingScenario& scenario, const Program& program,
                           const WaferOutcome& all) {
  const auto closed = [&](std::uint32_t row) {
    const auto begin = all.routers.begin() + std::ptrdiff_t{row} * program.columns;
    return std::any_of(begin, begin + program.columns,
                       [](const RouterCounters& router) { return router.closures != 0; });
  };
  const bool south = program.rows - scenario.entry > 3 && closed(scenario.entry + 1);
  const bool north = scenario.entry > 3 && closed(scenario.entry - 2);
  return south || north;
}

/// One result, whatever the engine, the order of stepping and the folding, with so many rows that
/// the run proves it.
TEST_P(RandomMesh, GivesOneResultByEitherEngineInAnyOrderFullOrFolded) {
  const std::uint64_t cases = kCases * test::long_factor();
  const bool one_class = GetParam().rows == Rows::one_class;
  std::uint64_t folded_cases = 0;
  for (std::uint64_t seed = GetParam().first_seed * 100; seed < GetParam().first_seed * 100 + cases;
       ++seed) {
    const StreamingScenario scenario = random_reduction(seed, GetParam().rows);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(scenario));
    Program program = make_program(scenario);
    if (seed % 3 == 0) share_stream(1 + static_cast<std::uint32_t>(seed % 5), program);
    const WaferOutcome definition = simulate(scenario.params, program, options(Engine::clocked));
    EXPECT_EQ(difference(definition, simulate(scenario.params, program, options(Engine::event))),
              "");
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      EXPECT_EQ(
          difference(definition, simulate(scenario.params, program, options(engine, seed + 1))),
          "");
      FoldPlan plan = plan_fold(program, scenario.params, options(engine));
      WaferOutcome small = simulate(scenario.params, fold(program, plan), options(engine));
      const bool folds_at_once = plan.folds() && proves_fold(small, plan);
      for (std::uint32_t tail = 2; !proves_fold(small, plan); tail *= 2) {
        plan = plan_fold(program, scenario.params, options(engine), tail);
        small = simulate(scenario.params, fold(program, plan), options(engine));
      }
      EXPECT_EQ(difference(definition, unfold(small, plan, program, scenario.params.router)), "");
      if (!one_class || scenario.held != 0 || longest_way(scenario, program) < 4) continue;
      // Rows that are alike hold each other up only if links are shut.
      const bool held_up = second_row_is_held_up(scenario, program, definition);
      EXPECT_TRUE(!held_up || LinkRule(scenario.params.router).acts());
      EXPECT_EQ(folds_at_once, !held_up);
      folded_cases += folds_at_once ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  if (one_class) {
    EXPECT_GE(folded_cases, 2 * cases * 2 / 3);
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

/// Runs the mesh in full, and folded although it must not be. A control has to show both: that the
/// comparison fails, and that whoever asks is told beforehand or sees closures.
struct Control {
  bool differs = false;
  bool refused = false;
  bool proven = false;
};

Control run_control(const StreamingScenario& scenario, const Program& program) {
  const WaferOutcome full = simulate(scenario.params, program, options(Engine::clocked));
  const FoldPlan plan = fold_rows(program);
  const WaferOutcome small =
      simulate(scenario.params, fold(program, plan), options(Engine::clocked));
  Control control;
  control.differs = !difference(full, unfold(small, plan, program, scenario.params.router)).empty();
  control.refused = !plan_fold(program, scenario.params, options(Engine::event)).refused.empty();
  control.proven = proves_fold(small, plan);
  return control;
}

constexpr std::uint64_t kControls = 40;

/// Rows below with more tokens hold up the rows above.
TEST(FoldedMesh, SlowerRowsBelowFasterOnesSpoilTheFoldAndAreNoticed) {
  std::uint64_t spoilt = 0;
  for (std::uint64_t seed = 5000; seed < 5000 + kControls; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::unequal);
    scenario.held = 0;
    std::reverse(scenario.tokens.begin(), scenario.tokens.end());
    const Control control = run_control(scenario, make_program(scenario));
    spoilt += control.differs ? 1 : 0;
    if (control.differs) {
      EXPECT_FALSE(control.proven) << "seed " << seed << ": " << describe(scenario);
    }
  }
  EXPECT_GE(spoilt, 5U);
}

/// In the first row words wait, in those below they arrive just in time: their ages differ.
TEST(FoldedMesh, RoutersThatChooseByAgeSpoilTheFoldAndAreRefused) {
  std::uint64_t spoilt = 0;
  for (std::uint64_t seed = 6000; seed < 6000 + 5 * kControls; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::one_class);
    scenario.held = 0;
    scenario.columns = std::max(2U, scenario.columns);
    scenario.counts.resize(scenario.columns * scenario.final_column.size(), 3);
    scenario.params.router.arbiter = Arbiter::oldest;
    scenario.params.router.multicast = Multicast::independent;
    const Control control = run_control(scenario, make_program(scenario));
    spoilt += control.differs ? 1 : 0;
    EXPECT_TRUE(control.refused);
  }
  EXPECT_GE(spoilt, 1U);
}

/// Lower rows get their first word later, so an absolute cycle is another local one for them.
TEST(FoldedMesh, CoresThatBeginAtACycleSpoilTheFoldAndAreRefused) {
  std::uint64_t spoilt = 0;
  for (std::uint64_t seed = 7000; seed < 7000 + kControls; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::one_class);
    scenario.held = 0;
    scenario.params.core.init_cycles = 10 + static_cast<unsigned>(seed % 51);
    const Control control = run_control(scenario, make_program(scenario));
    spoilt += control.differs ? 1 : 0;
    EXPECT_TRUE(control.refused);
  }
  EXPECT_GE(spoilt, 5U);
}

/// Words of another color share the links to the south: a copy for the ramp may leave before the
/// one for the row below. With handlers that are fast, the rows below lag.
TEST(FoldedMesh, AnotherColorOnTheLinksBetweenRowsSpoilsTheFoldAndIsRefused) {
  constexpr Color kOther{9};
  std::uint64_t spoilt = 0;
  for (std::uint64_t seed = 8000; seed < 8000 + 3 * kControls; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::one_class);
    scenario.held = 0;
    scenario.params.core.dispatch = 1;
    scenario.params.core.cmd_cycles = 1;
    scenario.params.router.multicast = Multicast::independent;
    std::fill(scenario.tokens.begin(), scenario.tokens.end(), 1 + seed % 4);
    scenario.rate = {};
    scenario.params.router.link_cycles = scenario.params.router.link_words;  // never shut
    Program program = make_program(scenario);
    for (RouterProgram& router : program.routers) {
      router.routes.push_back({kOther, kNorth, bit(kSouth)});
    }
    for (std::uint32_t c = 0; c < program.columns; ++c) {
      program.background.push_back({c, kOther, 40});
      program.outlets.push_back({program.rows - 1, c, kSouth, kOther});
    }
    program.collects = true;
    const Control control = run_control(scenario, program);
    spoilt += control.differs ? 1 : 0;
    EXPECT_TRUE(control.refused);
  }
  EXPECT_GE(spoilt, 5U);
}

/// By both engines alike, all the same.
TEST(FoldedMesh, WhatMustNotBeFoldedIsStillTheSameByBothEngines) {
  for (std::uint64_t seed = 9000; seed < 9000 + kControls; ++seed) {
    StreamingScenario scenario = random_scenario(seed, Rows::random_blocks);
    if (seed % 2 == 0) scenario.params.router.arbiter = Arbiter::oldest;
    if (seed % 3 == 0) scenario.params.core.init_cycles = 5 + static_cast<unsigned>(seed % 31);
    const Program program = make_program(scenario);
    EXPECT_EQ(difference(simulate(scenario.params, program, options(Engine::clocked)),
                         simulate(scenario.params, program, options(Engine::event, seed))),
              "")
        << "seed " << seed << ": " << describe(scenario);
  }
}

}  // namespace
}  // namespace lacuna::wse
