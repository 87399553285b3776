// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/gradient.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/first_gradient.hpp"

namespace lacuna::wse {
namespace {

GradientJob job(std::uint32_t m, std::uint32_t tokens, std::uint32_t n) {
  GradientJob job;
  job.m = m;
  job.tokens = tokens;
  job.n = n;
  return job;
}

StreamingSetup setup(unsigned columns, unsigned rows) {
  StreamingSetup setup;
  setup.wafer.columns = columns;
  setup.wafer.rows = rows;
  setup.io.gbit = 10000000;  // as many words as there are columns
  setup.ws.gradient = GradientSums::chained;
  return setup;
}

Cycle gradient_cycles(const GradientJob& job, const StreamingSetup& setup, Engine engine) {
  return simulate({}, test::plan_gradient(job, setup).program, {engine}).cycles;
}

TEST(WeightGradient, ADotProductTravelsDownItsColumnAndLeavesInTheSouth) {
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    // The index, sent in cycle 0, is in the queue in 3 and in effect in 7; four tokens are one
    // beat. The chain takes the result in 8, the ramp in 9, the router in 11, the edge in 12.
    EXPECT_EQ(gradient_cycles(job(1, 4, 1), setup(1, 1), engine), 13U);
    // Below, the word that left the first router in 11 is in the queue in 14; again four cycles to
    // the edge.
    EXPECT_EQ(gradient_cycles(job(1, 8, 1), setup(1, 2), engine), 19U);
  }
}

TEST(WeightGradient, KeptDotProductsTravelOnceTheStreamIsOver) {
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    // The command follows the index and is in effect four cycles after it, in 11, when the dot
    // product has been there for three: chain 11, ramp 12, router 14, edge 15.
    StreamingSetup one = setup(1, 1);
    one.ws.gradient = GradientSums::kept;
    EXPECT_EQ(gradient_cycles(job(1, 4, 1), one, engine), 16U);
    // Two more: the second and third index are in effect in 11 and 15, the command in 19; the last
    // word follows two cycles behind the first.
    EXPECT_EQ(gradient_cycles(job(1, 4, 3), one, engine), 16U + 8 + 2);
    // Below, six cycles for a row: chain, ramp 1, router 3, router 4, queue 6.
    StreamingSetup two = setup(1, 2);
    two.ws.gradient = GradientSums::kept;
    EXPECT_EQ(gradient_cycles(job(1, 8, 1), two, engine), 16U + 6);
  }
}

TEST(WeightGradient, KeptDotProductsGiveTheRingTimeToBegin) {
  // As below, but column 0 sends from the cycle in which its first index is in the queue, 3.
  StreamingSetup kept = setup(2, 1);
  kept.ws.gradient = GradientSums::kept;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome outcome =
        simulate({}, test::plan_gradient(job(1, 16, 2), kept).program, {engine});
    EXPECT_EQ(outcome.cores[1].kept, 8U);
    // dY is complete three cycles later, in 17; then 4 beats, and the command, which has waited.
    EXPECT_EQ(outcome.cores[1].end, 22U);
    EXPECT_EQ(outcome.cycles, 26U);
  }
}

TEST(WeightGradient, ComesInPartsIfItsDotProductsDoNotFit) {
  StreamingSetup small = setup(2, 2);
  small.ws.gradient = GradientSums::kept;
  small.mem.kib = 9;
  // Of 9216 B, 8192 hold code, 96 queues, 2 tokens x (32 + 32 + 8 vectors) x 2 B = 288: 640 B are
  // left, 320 dot products of 2 B. A row has 32 in a column, so 10 rows fit: 64 = 6 * 10 + 4.
  std::vector<std::size_t> rows;
  std::uint64_t positions = 0;
  plan_gradient_parts(job(64, 4, 64), small, [&](const GradientPlan& part) {
    rows.push_back(part.row_of_step.size());
    positions += part.positions;
    EXPECT_LE(part.bytes, part.limit);
  });
  EXPECT_EQ(rows, (std::vector<std::size_t>{10, 10, 10, 10, 10, 10, 4}));
  EXPECT_EQ(positions, 64U * 64);
}

// Two groups of one column make a row of dW each, as one column with one row would (above); with a
// third row both take two, of which the second group's is empty and has only a command.
TEST(WeightGradient, GroupsOfColumnsMakeRowsOfTheirOwn) {
  for (const Lie lie : {Lie::side_by_side, Lie::interleaved}) {
    StreamingSetup two = setup(2, 1);
    two.ws.groups = 2;
    two.ws.lie = lie;
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      EXPECT_EQ(gradient_cycles(job(2, 4, 1), two, engine), 13U);
    }
    const GradientPlan plan = test::plan_gradient(job(3, 4, 1), two);
    EXPECT_EQ(plan.row_of_step, (std::vector<std::uint32_t>{0, 1, 2, kNoRow}));
    EXPECT_EQ(plan.outputs, 3U);
    EXPECT_EQ(plan.positions, 3U);
    const WaferOutcome outcome = simulate({}, plan.program, {Engine::clocked});
    EXPECT_EQ(outcome.collected[0].size(), 2U);
    EXPECT_EQ(outcome.collected[1].size(), 1U);
  }
}

// 2 tokens x (4 input + 4 output + 8 vectors) x 2 B if products exchange their results, and half of
// the outputs if each is in its group: without groups features, too, are half as many in a column.
TEST(WeightGradient, GroupsOfColumnsHoldAllFeaturesAndWhatProductsLeaveThem) {
  const auto bytes = [](unsigned groups, Exchange exchange) {
    StreamingSetup made = setup(2, 1);
    made.ws.groups = groups;
    made.ws.exchange = exchange;
    return test::plan_gradient(job(4, 2, 4), made).bytes;
  };
  EXPECT_EQ(bytes(2, Exchange::product) - bytes(2, Exchange::next), 2U * 2 * 2);
  EXPECT_EQ(bytes(2, Exchange::next) - bytes(1, Exchange::product), 2U * 2 * 2);
}

StreamingSetup sharing_tokens(unsigned columns, unsigned rows, Copies copies, Lie lie) {
  StreamingSetup made = setup(columns, rows);
  made.ws.groups = 2;
  made.ws.share = Share::tokens;
  made.ws.copies = copies;
  made.ws.lie = lie;
  return made;
}

// Two groups of one column with four of eight tokens each do what one column with four does, in 13
// cycles (above). A row that copies is a hop further from the edge, and for the second group
// another: 15.
TEST(WeightGradient, GroupsThatShareTokensSendSumsOfTheirOwn) {
  for (const Lie lie : {Lie::side_by_side, Lie::interleaved}) {
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      EXPECT_EQ(gradient_cycles(job(1, 8, 1), sharing_tokens(2, 1, Copies::idealised, lie), engine),
                13U);
      EXPECT_EQ(gradient_cycles(job(1, 8, 1), sharing_tokens(2, 2, Copies::routed, lie), engine),
                15U);
    }
    const GradientPlan plan =
        test::plan_gradient(job(3, 5, 1), sharing_tokens(2, 4, Copies::routed, lie));
    EXPECT_EQ(plan.program.kernel.tokens, (std::vector<std::uint32_t>{0, 1, 1, 1}));
    EXPECT_EQ(plan.padding, 1U);
    EXPECT_EQ(plan.outputs, 3U);
    EXPECT_EQ(plan.positions, 3U);
    const WaferOutcome outcome = simulate({}, plan.program, {Engine::clocked});
    EXPECT_EQ(outcome.collected[0].size(), 3U);
    EXPECT_EQ(outcome.collected[1].size(), 3U);
  }
}

// 20 rows of one position, and a word in four cycles: 20 indices and 20 commands come in once,
// copied or idealised, and 20 sums of each group leave, which are paid for one by one.
TEST(WeightGradient, SumsOfEachGroupPayForThemselves) {
  for (const Copies copies : {Copies::routed, Copies::idealised}) {
    StreamingSetup narrow = sharing_tokens(2, 2, copies, Lie::side_by_side);
    narrow.io.gbit = 600;
    narrow.wafer.program_columns = 64;
    narrow.clock_ghz = 2.34375;  // 600 / 32 / 2.34375: 8 words a cycle for 64 columns, 2 of them
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      const Cycle both = gradient_cycles(job(20, 4, 1), narrow, engine);
      EXPECT_GE(both, 4U * (40 + 40));
      EXPECT_LT(both, 4U * (40 + 40) + 40);
    }
  }
}

TEST(WeightGradient, GroupsWithoutColorsOrARowForTokensAreRefused) {
  EXPECT_THAT(
      [&] {
        (void)test::plan_gradient(job(2, 4, 1),
                                  sharing_tokens(4, 1, Copies::routed, Lie::interleaved));
      },
      ::testing::ThrowsMessage<UnsupportedError>(
          ::testing::HasSubstr("wafer.rows = 1 leaves none for tokens")));
  // 24 less the stream's first, four of the ring, two of the chain
  EXPECT_THAT(
      [&] {
        (void)test::plan_gradient(job(2, 4, 1),
                                  sharing_tokens(36, 2, Copies::routed, Lie::side_by_side));
      },
      ::testing::ThrowsMessage<UnsupportedError>(
          ::testing::HasSubstr("each of 18 columns of a group needs a color of its own; beside 6 "
                               "of the reduction there are 17")));
  const auto fits = sharing_tokens(34, 2, Copies::routed, Lie::side_by_side);
  EXPECT_EQ(test::plan_gradient(job(2, 4, 1), fits).positions, 2U);
  StreamingSetup six = setup(12, 1);
  six.ws.groups = 6;
  six.ws.lie = Lie::interleaved;
  EXPECT_THAT([&] { (void)test::plan_gradient(job(2, 4, 1), six); },
              ::testing::ThrowsMessage<UnsupportedError>(
                  ::testing::HasSubstr("need 27 colors, of which there are 24")));
  six.ws.groups = 4;  // 16 + 3
  EXPECT_EQ(test::plan_gradient(job(2, 4, 1), six).positions, 2U);
}

TEST(WeightGradient, WaitsForTheGradientOfItsRow) {
  // Column 1 needs 16 tokens of dY, 8 words, which column 0 sends from cycle 0 on, a word in a
  // cycle: written in 7, on the ramp in 8, at its router in 10, at the other in 11, in the queue
  // in 13. So its dot product of 4 beats begins in 14 and not in 7; the chain has it in 18, the
  // edge in 22.
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome outcome =
        simulate({}, test::plan_gradient(job(1, 16, 2), setup(2, 1)).program, {engine});
    EXPECT_EQ(outcome.cycles, 23U);
    EXPECT_EQ(outcome.cores[0].summed, 8U);
    EXPECT_EQ(outcome.cores[1].kept, 8U);
    EXPECT_EQ(outcome.cores[1].end, 19U);
  }
}

TEST(WeightGradient, ResultsThatLeaveShareTheRateWithIndicesUnlessTheEdgeIsFullDuplex) {
  StreamingSetup narrow = setup(1, 1);
  narrow.io.gbit = 1200;
  narrow.wafer.program_columns = 64;
  narrow.clock_ghz = 2.34375;  // 1200 / 32 / 64 / 2.34375: a word in four cycles
  // 20 rows of one position: 20 indices, 20 commands, 20 results; without the results 40 words.
  EXPECT_GE(gradient_cycles(job(20, 4, 1), narrow, Engine::event), 4U * 60);
  narrow.io.duplex = IoDuplex::full;
  EXPECT_LT(gradient_cycles(job(20, 4, 1), narrow, Engine::event), 4U * 40 + 20);
}

TEST(WeightGradient, SaysWhatDoesNotFit) {
  try {
    test::plan_gradient(job(64, 4096, 64), setup(2, 2));
    FAIL() << "fits";
  } catch (const OutOfMemoryError& error) {
    // 2048 * (32 + 32 + 8) * 2 + 8 * 4 + 4 * (4 + 8 + 12) + 8192
    EXPECT_THAT(error.what(), ::testing::HasSubstr("303232 bytes of 49152: 2048 tokens x (32 "));
  }
}

}  // namespace
}  // namespace lacuna::wse
