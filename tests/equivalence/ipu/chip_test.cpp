// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/ipu/chip_bench.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kGroup = 20;  // scenarios of one test

class ChipEquivalence : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Check>
  static void for_each_scenario(const Check& check) {
    for (std::uint64_t seed = GetParam() * kGroup; seed < (GetParam() + 1) * kGroup; ++seed) {
      SCOPED_TRACE(seed);
      check(random_scenario(seed));
      if (::testing::Test::HasFailure()) return;
    }
  }
};

::testing::AssertionResult same_events(const std::vector<Event>& expected,
                                       const std::vector<Event>& actual) {
  const auto pair = [](const std::vector<Event>& events) {
    lacuna::test::EventLog<Event> log;
    for (const Event& event : events) log.emplace_back(event.cycle, event);
    return log;
  };
  return lacuna::test::same_log(pair(expected), pair(actual));
}

TEST_P(ChipEquivalence, NeitherEngineNorOrderChangesTheOutcome) {
  for_each_scenario([](const Scenario& scenario) {
    const Outcome definition = simulate(scenario);
    for (const Engine domain : {Engine::clocked, Engine::event}) {
      for (const Engine tiles : {Engine::clocked, Engine::event}) {
        for (const std::uint64_t order : {0U, 7U}) {
          const Execution execution{domain, tiles, order, true};
          SCOPED_TRACE(::testing::PrintToString(execution));
          const Outcome outcome = simulate(scenario, execution);
          ASSERT_TRUE(same_events(definition.events, outcome.events));
          ASSERT_EQ(outcome.cycles, definition.cycles);
          ASSERT_EQ(outcome.counters, definition.counters);
          ASSERT_EQ(outcome.issues, definition.issues);
          ASSERT_EQ(outcome.accounts, definition.accounts);
          ASSERT_EQ(outcome.memories, definition.memories);
          ASSERT_EQ(outcome.ports, definition.ports);
        }
      }
    }
  });
}

TEST_P(ChipEquivalence, BooksEveryCycleOfEveryTileOnce) {
  for_each_scenario([](const Scenario& scenario) {
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      const Outcome outcome = simulate(scenario, {engine, engine, 0, false});
      for (const auto& account : outcome.accounts) {
        ASSERT_EQ(std::accumulate(account.begin(), account.end(), std::uint64_t{0}),
                  outcome.cycles);
      }
      ASSERT_EQ(outcome.counters.at("busy_cycles") + outcome.counters.at("idle_cycles"),
                outcome.cycles * outcome.accounts.size());
    }
  });
}

TEST_P(ChipEquivalence, BothEnginesCountTheSameInEveryIntervalAndAllInTheLast) {
  for_each_scenario([](const Scenario& scenario) {
    for (const Cycle interval : {7U, 1000U}) {
      SCOPED_TRACE(interval);
      const Outcome definition =
          simulate(scenario, {Engine::clocked, Engine::clocked, 0, false, interval});
      const Outcome event = simulate(scenario, {Engine::event, Engine::event, 3, false, interval});
      ASSERT_EQ(event.borders, definition.borders);
      ASSERT_EQ(event.borders.size(), (event.cycles + interval - 1) / interval);
      if (event.cycles == 0) continue;
      ASSERT_EQ(event.borders.back().first, event.cycles);
      ASSERT_EQ(event.borders.back().second, event.counters);
      for (const Border& border : event.borders) {
        ASSERT_EQ(border.second.at("busy_cycles") + border.second.at("idle_cycles"),
                  border.first * scenario.params.ipu.tiles);
      }
    }
  });
}

TEST_P(ChipEquivalence, NeitherLogNorValuesChangeACycleOrACounter) {
  for_each_scenario([](Scenario scenario) {
    const Outcome with = simulate(scenario, {Engine::event, Engine::event, 0, true});
    scenario.program.values = !scenario.program.values;
    const Outcome without = simulate(scenario, {Engine::event, Engine::event, 0, false});
    ASSERT_EQ(with.cycles, without.cycles);
    ASSERT_EQ(with.counters, without.counters);
  });
}

INSTANTIATE_TEST_SUITE_P(Random, ChipEquivalence,
                         ::testing::Range(std::uint64_t{0}, std::uint64_t{12}));

}  // namespace
}  // namespace lacuna::ipu
