// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

struct LanesBatch {
  Rows rows;
  std::uint64_t first_seed;
  bool wide;                 // numbers that need 16 bits
  bool upside_down = false;  // slower rows behind faster ones
  bool routes = false;       // any reduction, and words that enter in any row
};

constexpr std::uint64_t kLanesCases = 40;

class RandomStreamingLanes : public ::testing::TestWithParam<LanesBatch> {
 protected:
  /// More columns than a block of lanes has, and more groups and rounds.
  static void widen(StreamingScenario& scenario, std::uint64_t seed) {
    Random random(seed);
    scenario.columns = 10 + static_cast<std::uint32_t>(random.bounded(31));
    scenario.tokens.resize(std::max<std::size_t>(scenario.entry + 2, 4), scenario.tokens.back());
    const std::size_t steps = scenario.final_column.size();
    for (auto& column : scenario.final_column) {
      column = static_cast<std::uint32_t>(random.bounded(scenario.columns));
    }
    scenario.counts.clear();
    for (std::size_t i = 0; i < steps * scenario.columns; ++i) {
      scenario.counts.push_back(static_cast<std::uint32_t>(random.bounded(5)));
    }
  }
  /// Beats of several cycles, as of a memory with a narrow port.
  static void slow_down(StreamingScenario& scenario, std::uint64_t seed) {
    Random random(stream_seed(seed, "slow"));
    for (std::uint32_t* cycles : {&scenario.first_beats.least, &scenario.beats_that_add.least,
                                  &scenario.reduce_cycles, &scenario.gather_cycles}) {
      *cycles = 1 + static_cast<std::uint32_t>(random.bounded(3));
    }
    scenario.simd = 2 + static_cast<std::uint32_t>(random.bounded(7));  // need not divide 16
    if (random.bounded(2) == 0) return;
    for (BeatTime* time : {&scenario.first_beats, &scenario.beats_that_add}) {
      time->ports.model = MemoryModel::rule;
      time->ports.read_bits = time->ports.write_bits = 64;
      time->ports.write_share = 500 * static_cast<std::uint32_t>(random.bounded(7));  // sixths
      time->read = 16 + 16 * static_cast<std::uint32_t>(random.bounded(2));
      time->written = 16 * static_cast<std::uint32_t>(random.bounded(3));
    }
  }
  static StreamingScenario scenario(std::uint64_t seed) {
    StreamingScenario scenario = GetParam().routes ? random_reduction(seed, GetParam().rows)
                                                   : random_scenario(seed, GetParam().rows);
    if (GetParam().routes && seed % 4 == 0) widen(scenario, seed);
    scenario.params.router.multicast = Multicast::independent;
    scenario.params.router.entries = std::max(2U, scenario.params.router.entries.value());
    scenario.columns = std::max(2U, scenario.columns);
    scenario.held = 0;
    scenario.beats_that_add = scenario.first_beats = {};
    scenario.reduce_cycles = 1;
    if (seed % 2 == 0) slow_down(scenario, seed);
    if (scenario.columns * scenario.final_column.size() != scenario.counts.size()) {
      scenario.counts.resize(scenario.columns * scenario.final_column.size(), 3);
    }
    if (GetParam().upside_down) std::reverse(scenario.tokens.begin(), scenario.tokens.end());
    if (GetParam().wide) scenario.params.core.dispatch = 130;
    return scenario;
  }
};

TEST_P(RandomStreamingLanes, CountsWhatTheCycleByCycleWaferCounts) {
  const std::uint64_t cases = kLanesCases * test::long_factor();
  std::uint64_t split = 0;
  for (std::uint64_t seed = GetParam().first_seed * 10; seed < GetParam().first_seed * 10 + cases;
       ++seed) {
    const StreamingScenario scenario = RandomStreamingLanes::scenario(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << describe(scenario));
    Program program = make_program(scenario);
    if (seed % 3 == 0) share_stream(1 + static_cast<std::uint32_t>(seed % 5), program);
    std::string refused;
    const auto lanes = stream_in_lanes(scenario.params, program, {}, &refused);
    ASSERT_EQ(refused, "");
    const LanesOutcome& outcome = *lanes;
    const WaferOutcome definition = simulate(scenario.params, program, {Engine::clocked});
    EXPECT_EQ(
        difference(definition, unfold(outcome.kept, outcome.fold, program, scenario.params.router)),
        "");
    RunOptions each_row;
    each_row.fold = false;
    const LanesOutcome each = *stream_in_lanes(scenario.params, program, each_row);
    EXPECT_EQ(each.groups, program.rows);
    EXPECT_EQ(difference(definition, each.kept), "");
    const bool metered = LinkRule(scenario.params.router).acts();
    split += outcome.groups > outcome.fold.classes && !metered ? 1 : 0;
    if (HasFailure()) return;
  }
  // Rows that are alike never hold each other up, unless links are shut; slower ones below faster
  // ones do.
  if (GetParam().rows == Rows::one_class) {
    EXPECT_EQ(split, 0U);
  }
  if (GetParam().upside_down) {
    EXPECT_GE(split, 5U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, RandomStreamingLanes,
    ::testing::Values(
        LanesBatch{Rows::one_class, 10000, false}, LanesBatch{Rows::one_class, 11000, false},
        LanesBatch{Rows::one_class, 12000, true}, LanesBatch{Rows::remainder, 20000, false},
        LanesBatch{Rows::remainder, 21000, true}, LanesBatch{Rows::unequal, 30000, false},
        LanesBatch{Rows::unequal, 31000, false, true}, LanesBatch{Rows::unequal, 32000, true, true},
        LanesBatch{Rows::random_blocks, 40000, false},
        LanesBatch{Rows::one_class, 50000, false, false, true},
        LanesBatch{Rows::one_class, 51000, true, false, true},
        LanesBatch{Rows::remainder, 52000, false, false, true},
        LanesBatch{Rows::remainder, 53000, true, false, true},
        LanesBatch{Rows::unequal, 54000, false, false, true},
        LanesBatch{Rows::unequal, 55000, true, true, true},
        LanesBatch{Rows::random_blocks, 56000, false, false, true},
        LanesBatch{Rows::random_blocks, 57000, false, false, true}));

std::string deadlock(const HardwareParams& params, const Program& program, Engine engine) {
  RunOptions options;
  options.engine = engine;
  try {
    // as the machine: lanes if they can, else the units
    if (engine == Engine::event && stream_in_lanes(params, program, options)) return "";
    simulate(params, program, options);
  } catch (const DeadlockError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

// A word may enter in a million cycles: none has after 100,000 and more, whoever simulates it.
TEST(StandingStill, IsADeadlockInLanesAsInUnits) {
  const char* const expected = "deadlock: work is pending, and nothing has moved since cycle 0";
  for (const std::uint32_t held : {0U, 3U}) {
    StreamingScenario scenario;
    scenario.columns = 4;
    scenario.tokens = {3, 3, 3};
    scenario.counts = {1, 1, 1, 1};
    scenario.final_column = {0};
    scenario.rate = {1, 1'000'000};
    scenario.held = held;
    if (held != 0) scenario.form = StreamForm::indexed;
    const Program program = make_program(scenario);
    EXPECT_EQ(reason_against_stream_lanes(scenario.params, program), "");
    EXPECT_EQ(deadlock(scenario.params, program, Engine::event), expected) << held;
    EXPECT_EQ(deadlock(scenario.params, program, Engine::clocked), expected) << held;
  }
}

// Each of these is a thing that lanes do not know, by its own sentence; nothing is refused without.
TEST(StreamsInLanes, SayWhyTheyAreNotTaken) {
  StreamingScenario scenario;
  scenario.columns = 2;
  scenario.tokens = {3, 3};
  scenario.counts = {1, 1};
  scenario.final_column = {0};
  const Program program = make_program(scenario);
  const auto refused = [&](const HardwareParams& params, const RunOptions& options) {
    std::string why = "not asked";
    const bool runs = stream_in_lanes(params, program, options, &why).has_value();
    EXPECT_EQ(runs, why.empty());
    return why;
  };
  EXPECT_EQ(refused(scenario.params, {}), "");
  HardwareParams oldest = scenario.params;
  oldest.router.arbiter = Arbiter::oldest;
  EXPECT_EQ(refused(oldest, {}), "routers choose by the age of words");
  HardwareParams shallow = scenario.params;
  shallow.router.entries = 1;
  EXPECT_EQ(refused(shallow, {}), "words stop in every router (router.entries = 1)");
  RunOptions logged;
  logged.event_log = true;
  EXPECT_EQ(refused(scenario.params, logged), "the event log names every unit");
  RunOptions modules;
  modules.modules = true;
  EXPECT_EQ(refused(oldest, modules), "each core is a module");
}

// Of 8 and of 7 tokens a core has two beats of four and four words of two sums, of 6 three words,
// of 4 one beat. What is equal is simulated once, and counted for each.
TEST(StreamsInLanes, SimulateRowsOnceThatTakeEqualTimes) {
  StreamingScenario scenario;
  scenario.columns = 3;
  scenario.counts = {2, 1, 3, 1, 2, 2};
  scenario.final_column = {0, 2};
  for (const std::uint32_t entry : {0U, 2U}) {
    for (const auto& [fewer, groups] : {std::pair(7U, 1U), std::pair(6U, 2U), std::pair(4U, 2U)}) {
      scenario.entry = entry;
      scenario.tokens = {8, 8, 8, fewer, fewer};
      const Program program = make_program(scenario);
      const auto lanes = stream_in_lanes(scenario.params, program, {});
      ASSERT_TRUE(lanes);
      const bool ways = entry != 0 && groups != 1;  // the entry and the rows above are no class
      EXPECT_EQ(lanes->groups, groups + (ways ? 1 : 0)) << fewer;
      EXPECT_EQ(difference(simulate(scenario.params, program, {Engine::clocked}),
                           unfold(lanes->kept, lanes->fold, program, scenario.params.router)),
                "")
          << fewer;
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
