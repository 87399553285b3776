// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/streaming_bench.hpp"

namespace lacuna::wse {
namespace {

/// Two columns, two rows, eight tokens; two rows of weights, which columns 0 and 1 keep.
StreamingScenario small() {
  StreamingScenario scenario;
  scenario.tokens = {8, 8};
  scenario.final_column = {0, 1};
  scenario.counts = {2, 1, 1, 0};
  return scenario;
}

TEST(WeightStreaming, FollowsTheWorkedTraceCycleByCycle) {
  const StreamingScenario scenario = small();
  const WaferOutcome outcome =
      simulate(scenario.params, make_program(scenario), {Engine::clocked, 0, 0, 1, true});

  // The first wavelet, sent in cycle 0, is at the router in 1 and in the queue in 3; four cycles
  // later its instruction is active. The first word of the ring leaves column 1 in 12 and is at
  // column 0 after 1 + 2 + 1 + 2 cycles.
  EXPECT_EQ(trace_of(outcome, 1),
            "V@7 V@11 C@15 r@18 V@19 r@19 r@20 r@21 C@24 r@25 r@26 r@27 r@28");
  EXPECT_EQ(trace_of(outcome, 3), "V@7 C@11 r@12 r@13 r@14 C@15 r@15 r@31 r@32 r@33 r@34");
  EXPECT_EQ(trace_of(outcome, 5),
            "V@8 V@12 C@16 r@19 V@20 r@20 r@21 r@22 C@25 r@26 r@27 r@28 r@29");
  EXPECT_EQ(trace_of(outcome, 7), "V@8 C@12 r@13 r@14 r@15 C@16 r@16 r@32 r@33 r@34 r@35");
  EXPECT_EQ(outcome.cores[0].end, 29U);
  EXPECT_EQ(outcome.cores[1].end, 35U);
  EXPECT_EQ(outcome.cycles, 36U);
}

TEST(WeightStreaming, AReductionWithASlotOfItsOwnKeepsNoWeightWaiting) {
  StreamingScenario scenario = small();
  scenario.params.core.slots = 2;
  // As above up to 18. The weight of 19 has its two beats in 19 and 20, beside those of the
  // reduction; the command taken in 19 is due in 23, and the row it closes is reduced from 24 on,
  // all a cycle sooner. Column 1 gets the first of these words after 1 + 2 + 1 + 2 cycles.
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome outcome =
        simulate(scenario.params, make_program(scenario), {engine, 0, 0, 1, true});
    EXPECT_EQ(trace_of(outcome, 1),
              "V@7 V@11 C@15 r@18 V@19 r@19 r@20 r@21 C@23 r@24 r@25 r@26 r@27");
    EXPECT_EQ(trace_of(outcome, 3), "V@7 C@11 r@12 r@13 r@14 C@15 r@15 r@30 r@31 r@32 r@33");
    EXPECT_EQ(outcome.cycles, 35U);
    EXPECT_EQ(outcome.cores[0].cycles[kFma], 6U);
    EXPECT_EQ(outcome.cores[0].cycles[kReduce], 6U);  // of 8
    EXPECT_EQ(outcome.cores[0].beside, 2U);
  }
}

TEST(WeightStreaming, ARunEndsWhenWordsBesideTheStreamsHaveLeftToo) {
  constexpr Color kOther{23};
  StreamingScenario scenario = small();
  scenario.rate = {1, 4};
  Program program = make_program(scenario);
  for (RouterProgram& router : program.routers) {
    router.routes.push_back({kOther, kNorth, bit(kSouth)});
  }
  for (std::uint32_t c = 0; c < 2; ++c) {
    program.background.push_back({c, kOther, 30});
    program.outlets.push_back({1, c, kSouth, kOther});
  }
  program.collects = true;
  // Four weights and four commands, 60 words beside them, and the same 60 on their way out: each
  // costs four cycles, so that the last leaves in cycle 4 * 128 - 1 at the earliest.
  const WaferOutcome clocked = simulate(scenario.params, program, {Engine::clocked, 5});
  EXPECT_GE(clocked.cycles, 512U);
  ASSERT_EQ(clocked.collected.size(), 2U);
  for (const auto& words : clocked.collected) EXPECT_EQ(words.size(), 30U);
  RunOptions modules;
  modules.modules = true;
  for (const RunOptions& options : {RunOptions(), modules}) {
    const WaferOutcome other = simulate(scenario.params, program, options);
    EXPECT_EQ(other.cycles, clocked.cycles);
    EXPECT_EQ(other.collected, clocked.collected);
  }
}

/// Four tokens, a row of weights with one for each column.
StreamingScenario one_row(Reduce reduce, std::uint32_t columns, std::uint32_t keeper) {
  StreamingScenario scenario;
  scenario.reduce = reduce;
  scenario.columns = columns;
  scenario.tokens = {4};
  scenario.final_column = {keeper};
  scenario.counts.assign(columns, 1);
  return scenario;
}

// As in the worked trace the command is in effect in 11, so both ends of the chain send their two
// words in 12 and 13, which are at the router in the middle in 16 and 17. The two colors take turns
// on the ramp, so those of the west are there in 18 and 20, those of the east in 19 and 21. The
// column adds the former to its sums, then the latter to them.
TEST(WeightStreaming, AColumnBetweenTwoEndsOfAChainTakesOneInstructionForEach) {
  const StreamingScenario scenario = one_row(Reduce::chain, 3, 1);
  const WaferOutcome outcome =
      simulate(scenario.params, make_program(scenario), {Engine::clocked, 0, 0, 1, true});
  EXPECT_EQ(trace_of(outcome, 1), "V@7 C@11 r@12 r@13");
  EXPECT_EQ(trace_of(outcome, 3), "V@7 C@11 r@18 r@20 r@21 r@22");
  EXPECT_EQ(trace_of(outcome, 5), "V@7 C@11 r@12 r@13");
  EXPECT_EQ(outcome.cores[1].gathered, 1U);
  EXPECT_EQ(outcome.cores[1].added, 2U);
  EXPECT_EQ(outcome.cycles, 23U);
}

// Column 3 has column 2's words in 18. Column 1 adds to those of column 0 in 18 and 19 and sends
// two hops far, which takes 7 cycles.
TEST(WeightStreaming, ATreeTakesItsNearestBlockFirst) {
  const StreamingScenario scenario = one_row(Reduce::tree, 4, 3);
  const WaferOutcome outcome =
      simulate(scenario.params, make_program(scenario), {Engine::clocked, 0, 0, 1, true});
  EXPECT_EQ(trace_of(outcome, 3), "V@7 C@11 r@18 r@19");
  EXPECT_EQ(trace_of(outcome, 7), "V@7 C@11 r@18 r@19 r@25 r@26");
  EXPECT_EQ(outcome.cycles, 27U);
}

// Of four rows words enter the third. It does in 7, 11, 12 and 13 what a first row does; its
// neighbours follow a cycle later, the first row two.
TEST(WeightStreaming, FromTheMiddleRowWordsRunToBothEnds) {
  StreamingScenario scenario = one_row(Reduce::ring, 1, 0);
  scenario.tokens.assign(4, 4);
  scenario.entry = 2;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome outcome =
        simulate(scenario.params, make_program(scenario), {engine, 0, 0, 1, true});
    EXPECT_EQ(trace_of(outcome, 1), "V@9 C@13 r@14 r@15");
    EXPECT_EQ(trace_of(outcome, 3), "V@8 C@12 r@13 r@14");
    EXPECT_EQ(trace_of(outcome, 5), "V@7 C@11 r@12 r@13");
    EXPECT_EQ(trace_of(outcome, 7), "V@8 C@12 r@13 r@14");
    EXPECT_EQ(outcome.cycles, 16U);
    EXPECT_EQ(outcome.routers[2].sent[kNorth], 2U);  // a weight and a command
    EXPECT_EQ(outcome.routers[2].sent[kSouth], 2U);
    EXPECT_EQ(outcome.routers[3].sent[kSouth], 0U);
  }
}

/// The cycles in which words enter a column.
std::vector<Cycle> entries(const WaferOutcome& outcome, std::uint32_t unit) {
  std::vector<Cycle> cycles;
  for (const Event& event : outcome.events) {
    if (event.unit == unit && event.kind == kWordIn) cycles.push_back(event.cycle);
  }
  return cycles;
}

// The stream is, row by row: two weights and a command for column 0, a weight and a command for
// column 1; a weight and a command, a command. A FIFO of one word takes one in every other cycle,
// and what is put into it is sent a cycle later. So column 0 gets its three words in 1, 3 and 5;
// only then, in cycle 4, the stream comes to column 1, which gets its word in 5. From there on
// both take turns: put in 6, sent in 7, and put in 8, sent in 9.
TEST(WeightStreaming, AFullFifoHoldsUpARowOrderedStream) {
  const StreamingScenario scenario = small();
  Program program = make_program(scenario);
  program.column_fifo = 1;
  const WaferOutcome outcome = simulate(scenario.params, program, {Engine::clocked, 0, 0, 1, true});
  EXPECT_EQ(entries(outcome, 8), (std::vector<Cycle>{1, 3, 5, 7, 9}));
  EXPECT_EQ(entries(outcome, 9), (std::vector<Cycle>{5, 7, 9}));
}

struct Regression {
  Sched sched;
  std::uint32_t lookahead;
  Cycle cycles;  // of one row of cores
};

/// Eight columns, 24 rows of weights, 32 tokens; (3 c + 5 i) mod 7 weights of row i for column c.
StreamingScenario regression(const Regression& point, std::size_t rows) {
  StreamingScenario scenario;
  scenario.columns = 8;
  scenario.tokens.assign(rows, 32);
  scenario.lookahead = point.lookahead;
  scenario.params.core.sched = point.sched;
  for (std::uint32_t i = 0; i < 24; ++i) {
    scenario.final_column.push_back(i % 8);
    for (std::uint32_t c = 0; c < 8; ++c) scenario.counts.push_back((3 * c + 5 * i) % 7);
  }
  return scenario;
}

// Round robin moves its turn after every beat (seen the same by the oracle of tests/support/wse).
class WeightStreamingTable : public ::testing::TestWithParam<Regression> {};

TEST_P(WeightStreamingTable, TakesTheCyclesOfAnIndependentModel) {
  for (const std::size_t rows : {1U, 3U, 5U}) {
    const StreamingScenario scenario = regression(GetParam(), rows);
    const Program program = make_program(scenario);
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      const WaferOutcome outcome = simulate(scenario.params, program, {engine, 0, 0, 1, false});
      EXPECT_EQ(outcome.cycles, GetParam().cycles + rows - 1) << rows << " rows";
      CoreCounters sum;
      for (const CoreCounters& core : outcome.cores) sum.add(core, 1);
      // 575 weights of 8 beats; 24 rows of 16 words in each of 8 columns.
      EXPECT_EQ(sum.cycles[kFma], 4600 * rows);
      EXPECT_EQ(sum.cycles[kReduce], 3072 * rows);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, WeightStreamingTable,
    ::testing::Values(
        Regression{Sched::main_first, 1, 2050}, Regression{Sched::main_first, 2, 1996},
        Regression{Sched::main_first, 4, 1973}, Regression{Sched::main_first, 8, 1878},
        Regression{Sched::ut_first, 1, 2050}, Regression{Sched::ut_first, 2, 1417},
        Regression{Sched::ut_first, 4, 1140}, Regression{Sched::ut_first, 8, 1150},
        Regression{Sched::round_robin, 1, 2050}, Regression{Sched::round_robin, 2, 1581},
        Regression{Sched::round_robin, 4, 1469}, Regression{Sched::round_robin, 8, 1404}));

TEST(WeightStreaming, BoundByTheIoRateItEndsOnePipelineFillAfterTheLastWord) {
  StreamingScenario scenario;
  scenario.columns = 1;
  scenario.tokens = {8};
  scenario.final_column.assign(50, 0);
  scenario.counts.assign(50, 3);
  scenario.rate = {2, 17};
  // The bucket begins empty, so word 50 * (3 + 1) = 200 goes in cycle 200 * 17 / 2 - 1 = 1699: a
  // command, in its queue in 1702 and in effect in 1706. Its four words are reduced in 1707 to
  // 1710.
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    EXPECT_EQ(simulate(scenario.params, make_program(scenario), {engine}).cycles, 1711U);
  }
}

TEST(WeightStreaming, AnInPlaceMultiplyAddWaitsAfterElementsFiveTenAndFifteenOfSixteen) {
  struct Case {
    std::uint32_t tokens;
    std::uint64_t stalls;
  };
  // Elements count from the start of the instruction; the next group of 16 begins anew. Of the
  // two instructions of the row the first writes new sums and reads none; the second adds in place.
  for (const Case& c : {Case{4, 0}, Case{5, 1}, Case{9, 1}, Case{10, 2}, Case{15, 3}, Case{16, 3},
                        Case{20, 3}, Case{21, 4}, Case{48, 9}}) {
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      StreamingScenario scenario;
      scenario.columns = 1;
      scenario.tokens = {c.tokens};
      scenario.final_column = {0};
      scenario.counts = {2};
      scenario.simd = 1;
      const Cycle without = simulate(scenario.params, make_program(scenario), {engine}).cycles;
      scenario.stalls = 3;
      const WaferOutcome with = simulate(scenario.params, make_program(scenario), {engine});
      EXPECT_EQ(with.cycles - without, c.stalls) << c.tokens << " tokens";
      EXPECT_EQ(with.cores[0].cycles[kFma], 2U * c.tokens);
    }
  }
}

/// Cycles of 96 rows of weights on 8 columns with 32 features each, of which `density` per cent
/// are kept, without limits of I/O; 64 tokens.
Cycle sparse_cycles(std::uint32_t density, std::uint32_t lookahead) {
  StreamingScenario scenario;
  scenario.columns = 8;
  scenario.tokens = {64};
  scenario.lookahead = lookahead;
  Random random(7);
  for (std::uint32_t i = 0; i < 96; ++i) {
    scenario.final_column.push_back(i % 8);
    for (std::uint32_t c = 0; c < 8; ++c) {
      std::uint32_t kept = 0;
      for (std::uint32_t j = 0; j < 32; ++j) kept += random.bounded(100) < density ? 1 : 0;
      scenario.counts.push_back(kept);
    }
  }
  RunOptions options;
  options.lanes = true;
  return simulate(scenario.params, make_program(scenario), options).cycles;
}

TEST(WeightStreaming, SparsityGainsAtMostItsShareAndMoreWithMoreLookahead) {
  double before = 0;
  for (const std::uint32_t lookahead : {1U, 2U, 4U, 16U}) {
    const auto dense = static_cast<double>(sparse_cycles(100, lookahead));
    const double gain = dense / static_cast<double>(sparse_cycles(10, lookahead));
    EXPECT_LT(gain, 10.0);
    EXPECT_GT(gain, before) << lookahead;
    before = gain;
  }
  // Dense, a row takes 32 * 16 beats of products and 32 of the reduction; sparse about 51 and 32,
  // so the reduction alone keeps the gain below 544 / 83 = 6.6.
  EXPECT_GT(before, 5.5);
  EXPECT_LT(before, 6.6);
}

TEST(WeightStreaming, EveryCycleOfACoreIsBookedOnce) {
  const StreamingScenario scenario = regression({Sched::ut_first, 4, 0}, 3);
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome outcome = simulate(scenario.params, make_program(scenario), {engine});
    for (const CoreCounters& core : outcome.cores) {
      Cycle booked = 0;
      for (const std::uint64_t cycles : core.cycles) booked += cycles;
      EXPECT_EQ(booked, outcome.cycles);
    }
  }
}

TEST(WeightStreaming, EveryWordSentArrives) {
  const StreamingScenario scenario = regression({Sched::ut_first, 4, 0}, 3);
  const WaferOutcome outcome = simulate(scenario.params, make_program(scenario), {Engine::event});
  CoreCounters cores;
  RouterCounters routers;
  for (const CoreCounters& core : outcome.cores) cores.add(core, 1);
  for (const RouterCounters& router : outcome.routers) routers.add(router, 1);
  // 575 weights and 24 * 8 commands for three rows of cores; 24 * 7 * 16 words on each ring.
  EXPECT_EQ(routers.sent[kRamp], 3 * (575 + 192 + 2688));
  EXPECT_EQ(cores.received, routers.sent[kRamp]);
  EXPECT_EQ(cores.sent, 3 * 2688U);
  EXPECT_EQ(routers.sent[kSouth], 2 * (575 + 192U));
}

}  // namespace
}  // namespace lacuna::wse
