// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WeightStreamingPlanner, TheRingGoesOutOverEvenColumnsAndBackOverOddOnes) {
  EXPECT_THAT(ring_order(1), ElementsAre(0));
  EXPECT_THAT(ring_order(2), ElementsAre(0, 1));
  EXPECT_THAT(ring_order(5), ElementsAre(0, 2, 4, 3, 1));
  EXPECT_THAT(ring_order(8), ElementsAre(0, 2, 4, 6, 7, 5, 3, 1));
}

TEST(WeightStreamingPlanner, BlocksAreRoundedUpAndLastColumnsMayBeEmpty) {
  EXPECT_THAT(assign_features(KPartition::block, 7, 4, {}), ElementsAre(0, 0, 1, 1, 2, 2, 3));
  EXPECT_THAT(assign_features(KPartition::block, 5, 4, {}), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(assign_features(KPartition::cyclic, 7, 3, {}), ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

TEST(WeightStreamingPlanner, BalancedGivesTheHeaviestFeatureToTheLightestColumn) {
  // 9 to column 0, 7 to 1, 6 to 1 (7 < 9), 5 to 0 (9 < 13): 14 and 13; then 2 to column 1.
  EXPECT_THAT(assign_features(KPartition::balanced, 5, 2, {5, 9, 2, 6, 7}),
              ElementsAre(0, 0, 1, 1, 1));
}

TEST(WeightStreamingPlanner, RowsFollowTheRingOfTheirOwners) {
  const std::vector<std::uint32_t> owner{0, 0, 1, 1, 2, 3};  // of rows 0 to 5; ring 0 2 3 1
  EXPECT_THAT(order_rows(RowOrder::ring, owner, 4), ElementsAre(0, 4, 5, 2, 1, 3));
  EXPECT_THAT(order_rows(RowOrder::rotate, owner, 4), ElementsAre(0, 2, 4, 5, 1, 3));
  EXPECT_THAT(order_rows(RowOrder::natural, owner, 4), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(WeightStreamingPlanner, TheIoRateIsAnExactFraction) {
  IoParams io;
  WaferParams wafer;
  // 1.2 Tb/s over words of 32 bits at 0.85 GHz: 1200 / (32 * 0.85) = 750 / 17 per cycle.
  EXPECT_EQ(io_rate(io, wafer, 0.85).words, 750U);
  EXPECT_EQ(io_rate(io, wafer, 0.85).per, 17U);
  // A rectangle of 64 of the 750 columns gets 64 / 17.
  wafer.columns = 64;
  EXPECT_EQ(io_rate(io, wafer, 0.85).words, 64U);
  EXPECT_EQ(io_rate(io, wafer, 0.85).per, 17U);
  io.share = 1;
  EXPECT_EQ(io_rate(io, wafer, 0.85).words, 750U);
}

StreamingJob problem(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  StreamingJob job;
  job.gemm.m = m;
  job.gemm.k = k;
  job.gemm.n = n;
  return job;
}

StreamingSetup setup(unsigned columns, unsigned rows) {
  StreamingSetup setup;
  setup.wafer.columns = columns;
  setup.wafer.rows = rows;
  return setup;
}

TEST(WeightStreamingPlanner, FirstRowsTakeTheRemainderOfTheTokens) {
  EXPECT_THAT(plan_streaming(problem(8, 8, 14), setup(4, 4)).program.kernel.tokens,
              ElementsAre(4, 4, 3, 3));
  const StreamingPlan few = plan_streaming(problem(8, 8, 3), setup(4, 5));
  EXPECT_THAT(few.program.kernel.tokens, ElementsAre(1, 1, 1));
  EXPECT_EQ(few.rows_off, 2U);
}

TEST(WeightStreamingPlanner, CountsTheBytesOfACoreAndRefusesWhatDoesNotFit) {
  // 12,288 features on 750 columns: 17 in and 17 out. 68 tokens of 2 bytes each; 8 vectors of
  // sums; queues of 4 + 4 + 6 words; 8 KiB of code.
  const StreamingPlan plan = plan_streaming(problem(12288, 12288, 994 * 68), setup(750, 994));
  EXPECT_EQ(plan.bytes, 68 * 34 * 2 + 8 * 68 * 2 + 56 + 8192);
  try {
    plan_streaming(problem(4096, 4096, 64 * 512), setup(64, 64));
    FAIL() << "fits";
  } catch (const OutOfMemoryError& error) {
    // 512 * 128 * 2 + 8 * 512 * 2 + 56 + 8192
    EXPECT_THAT(error.what(), HasSubstr("147512 bytes of 49152"));
    EXPECT_THAT(error.what(), HasSubstr("512 tokens x (64 input + 64 output features)"));
  }
}

TEST(WeightStreamingPlanner, RefusesAbsurdProductsBeforeItTakesMemoryForThem) {
  // 8 tokens of 33,554,432 outputs and 8 inputs a column; a list of all outputs would be 8 GB
  try {
    plan_streaming(problem(2147483647, 64, 64), setup(64, 8));
    FAIL() << "fits";
  } catch (const OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("8 tokens x (1 input + 33554432 output features)"));
  }
  EXPECT_THROW(plan_streaming(problem(64, 2147483647, 64), setup(64, 8)), UnsupportedError);
}

TEST(WeightStreamingPlanner, AMaskSendsItsWeightsToTheColumnsThatOwnTheirFeatures) {
  Mask mask;
  mask.rows = 2;
  mask.cols = 4;
  mask.offsets = {0, 3, 4};
  mask.columns = {0, 1, 3, 2};
  StreamingJob job = problem(2, 4, 4);
  job.gemm.mask = &mask;
  const StreamingPlan plan = plan_streaming(job, setup(2, 2));
  EXPECT_THAT(plan.program.kernel.counts, ElementsAre(2, 1, 0, 1));
  EXPECT_THAT(plan.program.kernel.final_column, ElementsAre(0, 1));
  EXPECT_EQ(plan.weights, 4U);
}

/// Cycles of a whole beat of the first weight of a row and of another one.
struct WholeBeat {
  std::uint32_t first;
  std::uint32_t beat;
};
WholeBeat beat_of(const StreamingJob& job, const StreamingSetup& setup) {
  const StreamingKernel kernel = plan_streaming(job, setup).program.kernel;
  return {kernel.first_beats.cycles(0, kernel.simd), kernel.beats_that_add.cycles(0, kernel.simd)};
}

TEST(WeightStreamingPlanner, SumsLieInTheCacheIfAVectorFits) {
  StreamingSetup wide = setup(4, 4);
  wide.simd.fma16 = 8;
  wide.core.psum_cache = true;
  wide.core.cache_bytes = 512;
  // 256 tokens are 512 bytes of sums: a beat reads 8 elements of X alone, 128 bits.
  EXPECT_EQ(beat_of(problem(8, 8, 4 * 256), wide).beat, 1U);
  // One token more, and 8 sums are read too, 256 bits: four elements in a cycle.
  EXPECT_EQ(beat_of(problem(8, 8, 4 * 257), wide).beat, 2U);
}

TEST(WeightStreamingPlanner, BeatsTakeAsLongAsTheirBytesNeedTheMemoryPorts) {
  StreamingSetup narrow = setup(4, 4);
  // Four FP16 elements: 64 bits of X and 64 of sums are read, 64 written.
  EXPECT_EQ(beat_of(problem(8, 8, 16), narrow).beat, 1U);
  narrow.mem.read_bits = 64;
  EXPECT_EQ(beat_of(problem(8, 8, 16), narrow).beat, 2U);
  EXPECT_EQ(beat_of(problem(8, 8, 16), narrow).first, 1U);
  narrow.mem.read_bits = 128;
  narrow.map.align = Alignment::bad;  // sums and X in the same banks
  EXPECT_EQ(beat_of(problem(8, 8, 16), narrow).beat, 2U);
  narrow.mem.model = MemoryModel::none;
  EXPECT_EQ(beat_of(problem(8, 8, 16), narrow).beat, 1U);
}

TEST(WeightStreamingPlanner, ABeatOfFewerElementsTakesWhatTheseNeed) {
  StreamingSetup wide = setup(4, 4);
  wide.simd.fma16 = 16;
  // 20 tokens are a beat of 16 and one of four. Of an element 32 bits are read, through a port of
  // 128, and 16 written, through one of 64: four cycles and one.
  const StreamingKernel kernel = plan_streaming(problem(8, 8, 4 * 20), wide).program.kernel;
  EXPECT_EQ(kernel.beats_that_add.cycles(0, 16), 4U);
  EXPECT_EQ(kernel.beats_that_add.cycles(16, 4), 1U);
  EXPECT_EQ(kernel.beats_that_add.cycles_of(20, 16), 5U);
  EXPECT_EQ(kernel.first_beats.cycles_of(20, 16), 5U);  // its writes alone
}

TEST(WeightStreamingPlanner, PartsOfACycleAddUpOverTheBeatsOfAnInstruction) {
  StreamingSetup chip = setup(4, 4);
  chip.simd.fma16 = 8;
  chip.mem.write_bits = 128;
  chip.mem.write_share = 2.0 / 3;
  // An element reads 32 bits, and two thirds of the 16 that it writes take the port of 128 again:
  // a third of a cycle. So three elements take a cycle, and a beat of eight 8 / 3 of them: 3, 3, 2.
  const StreamingKernel kernel = plan_streaming(problem(8, 8, 4 * 28), chip).program.kernel;
  EXPECT_EQ(kernel.beats_that_add.cycles(0, 8), 3U);
  EXPECT_EQ(kernel.beats_that_add.cycles(8, 8), 3U);
  EXPECT_EQ(kernel.beats_that_add.cycles(16, 8), 2U);
  EXPECT_EQ(kernel.beats_that_add.cycles(24, 4), 2U);  // 28 / 3 is 9.33
  EXPECT_EQ(kernel.beats_that_add.cycles_of(28, 8), 10U);
}

}  // namespace
}  // namespace lacuna::wse
