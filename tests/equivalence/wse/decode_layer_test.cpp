// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/wse/decode_bench.hpp"

namespace lacuna::wse {
namespace {

TEST(DecodeLayer, AttentionIsThatOfAPlainComputation) {
  // 12 positions on 8 rows: two in the first four, one in the others; the last is the new one
  DecodeBlock block = small_block(8, 8, 12);
  block.ffn = false;
  EXPECT_LT(DecodeBench().error(DecodeShape(small_model(), block)), kHalves);
  // fewer positions than rows
  block.context = 5;
  EXPECT_LT(DecodeBench().error(DecodeShape(small_model(), block)), kHalves);
}

TEST(DecodeLayer, TheFeedForwardPartIsThatOfAPlainComputation) {
  // the polynomial of the sigmoid is 1/200 off at most within its range
  DecodeBlock block = small_block(8, 8, 12);
  block.attention = false;
  EXPECT_LT(DecodeBench().error(DecodeShape(small_model(), block)), 2 * kHalves);
}

TEST(DecodeLayer, AWholeLayerOnABlockThatIsNoSquare) {
  DecodeBlock block = small_block(16, 4, 9);
  block.receives = true;
  DecoderModel model = small_model();
  EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves);
  model.qk_norm = false;
  EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves);
}

TEST(DecodeLayer, SeveralSequencesAtOnce) {
  DecodeBlock block = small_block(16, 4, 9);
  block.receives = true;
  const DecodeShape one(small_model(), block);
  block.batch = 3;
  const DecodeShape three(small_model(), block);
  EXPECT_LT(DecodeBench().error(three), 2 * kHalves);
  // each has its own keys and values, 3 slots of 2 features in halves: 12 bytes, and 36, either
  // rounded to eight; weights are there once
  EXPECT_EQ(DecodeSpace(one).cache_bytes, 16U + 16);
  EXPECT_EQ(DecodeSpace(three).cache_bytes, 40U + 40);
  EXPECT_EQ(DecodeSpace(three).weight_bytes, DecodeSpace(one).weight_bytes);
  // the ways of sums are there once too
  const Cycle alone = run_tasks(DecodeBench().program(one)).cycles;
  const Cycle together = run_tasks(DecodeBench().program(three)).cycles;
  EXPECT_GT(together, alone);
  EXPECT_LT(together, 3 * alone);
}

TEST(DecodeLayer, OneHeadOverTheWholeRowInHalves) {
  DecoderModel model = small_model();
  model.heads = model.kv_heads = 1;
  model.qk_norm = false;
  model.wide_sums = false;
  DecodeBlock block = small_block(8, 8, 12);
  block.ffn = false;
  DecodeBench bench;
  EXPECT_LT(bench.error(DecodeShape(model, block)), 4 * kHalves);
}

/// What a core with stamps takes from the end of the phase before this one to its end.
Cycle phase_cycles(const DecodeBlock& block, DecodePhase phase) {
  const DecodeBench bench;
  const DecodeLayer layer(DecodeShape(small_model(), block), bench.costs, bench.params);
  const std::vector<DecodePhase> phases = layer.phases();
  const auto at = std::find(phases.begin(), phases.end(), phase) - phases.begin();
  const std::vector<Cycle> stamps = run_tasks(layer.plan()).stamps.at(0);
  return stamps.at(static_cast<std::size_t>(at) + 1) - stamps.at(static_cast<std::size_t>(at));
}

TEST(DecodeLayer, ExponentialsOfEmptyPlacesChangeNoValue) {
  DecodeBlock block = small_block(8, 8, 12);
  block.ffn = false;
  block.exponentials = 6;
  EXPECT_LT(DecodeBench().error(DecodeShape(small_model(), block)), kHalves);
  block.exponentials = 0;
  block.capacity = 40;
  block.batch = 2;
  EXPECT_LT(DecodeBench().error(DecodeShape(small_model(), block)), kHalves);
}

// Two heads, so twice as many elements as places, in one instruction for both heads. An element
// takes 1 cycle of the maximum, 4 of products (two by a number, two of the polynomial), 8 of four
// squares, whose two sources are in the same bank, and three sums take one for two elements.
TEST(DecodeLayer, ExponentialsAreOfThePlacesThatACoreHasNotOfItsPositions) {
  DecodeBlock block = small_block(8, 8, 8);
  block.ffn = false;
  const auto exponentials = [&](std::uint32_t context) {
    block.context = context;
    return phase_cycles(block, DecodePhase::softmax_exp);
  };
  const Cycle one = exponentials(8);
  const Cycle three = exponentials(24);
  EXPECT_EQ(three - one, 4U * (1 + 4 + 8) + 3 * 2);
  // at least three places: one position takes what three take
  block.exponentials = 3;
  EXPECT_EQ(exponentials(8), three);
  EXPECT_EQ(exponentials(24), three);
  EXPECT_GT(exponentials(32), three);
  // a length that is said stands for itself
  block.capacity = 16;
  EXPECT_EQ(exponentials(8), exponentials(16));
  EXPECT_LT(exponentials(8), three);
}

TEST(DecodeLayer, EnginesAgree) {
  const DecodeBench bench;
  for (const bool receives : {false, true}) {
    DecodeBlock block = small_block(8, 6, 11);
    block.receives = receives;
    block.repeats = 2;
    block.batch = receives ? 2 : 1;
    const TaskProgram program = bench.program(DecodeShape(small_model(), block));
    const TaskOutcome event = run_tasks(program);
    const TaskOutcome clocked = run_tasks(program, Engine::clocked);
    EXPECT_EQ(difference(event, clocked), "");
    EXPECT_EQ(event.stamps, clocked.stamps);
    EXPECT_EQ(event.stamps[0].size(), 1 + decode_phases(block).size());
    EXPECT_EQ(difference(event, run_tasks(program, Engine::event, 3)), "");
  }
}

TEST(DecodeLayer, TimeIsTheSameWithoutValues) {
  const DecodeBench bench;
  const DecodeShape shape(small_model(), small_block(8, 8, 12));
  const TaskProgram program = DecodeLayer(shape, bench.costs, bench.params).plan();
  EXPECT_EQ(run_tasks(program).stamps, run_tasks(bench.program(shape)).stamps);
}

}  // namespace
}  // namespace lacuna::wse
