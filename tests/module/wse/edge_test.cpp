// SPDX-License-Identifier: Apache-2.0
#include "models/wse/edge/edge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"
#include "tests/support/stubs.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

using ::testing::HasSubstr;

constexpr Color kWeights{0};

/// Two columns and two rows; a module outside feeds column 1, and another takes what reaches the
/// south of column 0.
struct Edge {
  StreamingScenario scenario;
  Program program;

  Edge() {
    scenario.tokens = {8, 8};
    scenario.final_column = {0, 1};
    scenario.counts = {2, 1, 1, 0};
    program = make_program(scenario);
    program.inlets = {1};
    program.outlets = {{1, 0, kSouth, kWeights}};
    // The router in the south of column 0 passes the weights on.
    program.routers.push_back(program.router(1, 0));
    program.router_of[2] = static_cast<std::uint32_t>(program.routers.size() - 1);
    for (Route& route : program.routers.back().routes) {
      if (route.color == kWeights) route.to = bit(kSouth) | bit(kRamp);
    }
  }
};

struct Seen {
  Cycle cycles = 0;
  test::EventLog<Wavelet> words;
  std::vector<Event> events;
};

Seen run_edge(Engine engine, double stalls, std::vector<Wavelet> words) {
  const Edge edge;
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), engine);
  Wafer wafer("wafer", edge.scenario.params, edge.program, clock, {engine, 0, 0, 1, true});
  Channel<Wavelet> in(clock, 2);
  Channel<Wavelet> out(clock, 2);
  test::Feeder<Wavelet> source("source", std::move(words), {stalls, 3});
  test::Collector<Wavelet> sink("sink", {stalls, 4});
  source.out.bind(in);
  wafer.inlet(0).in.bind(in);
  wafer.outlet(0).out.bind(out);
  sink.in.bind(out);
  clock.add(source);
  clock.add(sink);
  Seen seen;
  seen.cycles = clock.run_until_done();
  wafer.settle(seen.cycles);
  clock.run(20);  // for what is still between wafer and sink
  seen.words = sink.log();
  seen.events = wafer.log().sorted();
  sort_events(seen.events);
  return seen;
}

std::vector<Wavelet> column_1() {
  return {{0, kWeights, false}, {0, kWeights, true}, {0, kWeights, true}};
}

TEST(WaferEdge, TakesWaveletsFromAModuleOutsideAndGivesThemToOne) {
  const Seen seen = run_edge(Engine::clocked, 0, column_1());
  // Column 0 gets two weights, a command, a weight and a command from its injector, sent from
  // cycle 0 on. Each is at the second router in 2, at the outlet in 3 and at the sink in 4.
  ASSERT_EQ(seen.words.size(), 5U);
  EXPECT_EQ(seen.words.front().first, 4U);
  EXPECT_FALSE(seen.words.front().second.control);
  EXPECT_TRUE(seen.words.back().second.control);
  // Column 1 starts the first sum of each row of cores a cycle later than in the worked trace,
  // which ends at 36: its weight is pushed in 0 and at the inlet in 1, sent on at once.
  EXPECT_EQ(seen.cycles, 37U);
}

TEST(WaferEdge, EnginesAgreeWhateverTheModulesOutsideDo) {
  for (const double stalls : {0.0, 0.3, 0.8}) {
    const Seen clocked = run_edge(Engine::clocked, stalls, column_1());
    const Seen event = run_edge(Engine::event, stalls, column_1());
    EXPECT_EQ(clocked.cycles, event.cycles);
    EXPECT_EQ(clocked.words, event.words);
    EXPECT_EQ(clocked.events, event.events);
  }
}

std::vector<Wavelet> without_cycles(const test::EventLog<Wavelet>& log) {
  std::vector<Wavelet> words;
  for (const auto& [cycle, word] : log) words.push_back(word);
  return words;
}

TEST(WaferEdge, AModuleThatStallsLosesNoWordAndChangesNoOrder) {
  const std::vector<Wavelet> words = without_cycles(run_edge(Engine::event, 0, column_1()).words);
  for (const double stalls : {0.2, 0.5, 0.9}) {
    EXPECT_EQ(without_cycles(run_edge(Engine::event, stalls, column_1()).words), words);
  }
}

std::string deadlock(Engine engine, std::vector<Wavelet> words) {
  try {
    run_edge(engine, 0, std::move(words));
  } catch (const DeadlockError& error) {
    return error.what();
  }
  return "";
}

TEST(WaferEdge, ACommandThatNeverComesIsReportedWithTheCoresThatWaitForIt) {
  const std::string clocked = deadlock(Engine::clocked, {{0, kWeights, false}});
  EXPECT_EQ(clocked, deadlock(Engine::event, {{0, kWeights, false}}));
  EXPECT_THAT(clocked, HasSubstr("core (1, 0): waits for weights on color 0, row 0 of 2"));
  EXPECT_THAT(clocked, HasSubstr("core (0, 1): reduction waits for a partial sum"));
}

/// The color on which the second column sends its sums to the first.
Color sums_of(const Program& program) { return program.kernel.reduce.role(2, 0, 1).out; }

/// The color of sums goes round the four routers of a square and to their cores, two of which never
/// read.
Program circle() {
  StreamingScenario scenario;
  scenario.tokens = {64, 64};
  scenario.final_column = {0};
  scenario.counts = {0, 0};
  Program program = make_program(scenario);
  const Color kRing = sums_of(program);
  const auto routes = [&](std::size_t core) -> std::vector<Route>& {
    program.routers.push_back(program.routers[program.router_of[core]]);
    program.router_of[core] = static_cast<std::uint32_t>(program.routers.size() - 1);
    auto& list = program.routers.back().routes;
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const Route& route) { return route.color != kWeights; }),
               list.end());
    return list;
  };
  const auto and_core = [](Port port) { return static_cast<PortSet>(bit(port) | bit(kRamp)); };
  const std::vector<std::vector<Route>> more = {
      {{kRing, kRamp, bit(kEast)}, {kRing, kSouth, and_core(kEast)}},
      {{kRing, kRamp, bit(kSouth)}, {kRing, kWest, and_core(kSouth)}},
      {{kRing, kRamp, bit(kNorth)}, {kRing, kEast, and_core(kNorth)}},
      {{kRing, kRamp, bit(kWest)}, {kRing, kNorth, and_core(kWest)}}};
  for (std::size_t core = 0; core < 4; ++core) {
    auto& list = routes(core);
    list.insert(list.end(), more[core].begin(), more[core].end());
  }
  return program;
}

TEST(WaferEdge, WordsThatWaitForEachOtherInACircleAreReportedWithTheirColor) {
  std::vector<std::string> reports;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    try {
      simulate({}, circle(), {engine});
      FAIL() << "no deadlock";
    } catch (const DeadlockError& error) {
      reports.emplace_back(error.what());
    }
  }
  EXPECT_EQ(reports.at(0), reports.at(1));
  const std::string color = std::to_string(static_cast<unsigned>(sums_of(circle())));
  // Three routers of the square wait for the next one; the fourth for a core that never reads.
  EXPECT_THAT(reports[0],
              HasSubstr("router (0, 0): color " + color + " from south waits for east"));
  EXPECT_THAT(reports[0],
              HasSubstr("router (1, 0): color " + color + " from west waits for south"));
  EXPECT_THAT(reports[0],
              HasSubstr("router (0, 1): color " + color + " from east waits for north"));
  EXPECT_THAT(reports[0],
              HasSubstr("router (1, 1): color " + color + " from north waits for ramp"));
  EXPECT_THAT(reports[0], HasSubstr("core (1, 0): reduction waits for room in its output queue"));
}

}  // namespace
}  // namespace lacuna::wse
