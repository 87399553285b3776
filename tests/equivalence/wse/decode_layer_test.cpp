// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_layer.hpp"

#include <gtest/gtest.h>

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
