// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/dense/planner.hpp"

namespace lacuna::ipu {
namespace {

constexpr Types kHalf{DType::fp16, DType::fp16};
constexpr Types kSingle{DType::fp32, DType::fp32};

// A row of a published regression table of the formulas, recomputed independently of this code.
struct Row {
  Types types;
  std::uint64_t side;  // m = k
  std::uint64_t n;
  std::uint64_t field, out, in;
  Cycle compute, inputs, weights, partials, reduce, total;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.side << " squared, n = " << row.n;
}

class DensePlannerTable : public ::testing::TestWithParam<Row> {};

TEST_P(DensePlannerTable, PlanAndEveryPhaseAreThoseOfTheTable) {
  const Row& row = GetParam();
  Target target;
  target.staged_estimate = false;
  const DensePlan plan = plan_dense(target, row.types, row.side, row.side, row.n);
  EXPECT_EQ(plan.field_split, row.field);
  EXPECT_EQ(plan.out_split, row.out);
  EXPECT_EQ(plan.in_split, row.in);
  EXPECT_EQ(plan.estimate.compute, row.compute);
  EXPECT_EQ(plan.estimate.inputs, row.inputs);
  EXPECT_EQ(plan.estimate.weights, row.weights);
  EXPECT_EQ(plan.estimate.partials, row.partials);
  EXPECT_EQ(plan.estimate.reduce, row.reduce);
  EXPECT_EQ(plan.estimate.total(), row.total);
  EXPECT_EQ(plan.steps(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Regression, DensePlannerTable,
    ::testing::Values(Row{kHalf, 1024, 4, 1, 64, 22, 911, 48, 0, 32, 522, 1513},
                      Row{kHalf, 1024, 16, 1, 64, 22, 1001, 189, 0, 128, 522, 1840},
                      Row{kHalf, 1024, 64, 1, 64, 22, 1577, 756, 0, 512, 966, 3811},
                      Row{kHalf, 1024, 256, 2, 64, 11, 4661, 3024, 384, 1024, 1374, 10467},
                      Row{kHalf, 1024, 1024, 4, 32, 11, 15089, 5952, 1152, 4096, 4080, 30369},
                      Row{kHalf, 1024, 2048, 9, 32, 5, 29854, 11486, 2959, 3648, 4458, 52405},
                      Row{kHalf, 1024, 4096, 23, 16, 4, 59659, 10740, 7836, 5728, 7392, 91355},
                      Row{kHalf, 1024, 8192, 23, 16, 4, 105739, 21420, 7836, 11424, 14472, 160891},
                      Row{kHalf, 1024, 16384, 46, 8, 4, 210867, 19992, 16028, 22848, 28752, 298487},
                      Row{kHalf, 4096, 4, 1, 64, 22, 12215, 189, 0, 128, 522, 13054},
                      Row{kHalf, 4096, 16, 1, 86, 16, 13793, 1013, 0, 384, 528, 15718},
                      Row{kHalf, 4096, 64, 1, 86, 16, 23009, 4049, 0, 1536, 1536, 30130},
                      Row{kHalf, 4096, 256, 1, 64, 22, 59735, 12096, 0, 8192, 7182, 87205},
                      Row{kHalf, 4096, 1024, 3, 32, 15, 228869, 23855, 12288, 21888, 19836, 306736},
                      Row{kSingle, 4096, 4, 1, 64, 23, 34776, 363, 0, 256, 648, 36043},
                      Row{kSingle, 4096, 16, 1, 64, 23, 35840, 1449, 0, 1024, 1104, 39417},
                      Row{kSingle, 4096, 64, 1, 64, 23, 71472, 5796, 0, 4096, 3738, 85102},
                      Row{kSingle, 4096, 256, 1, 64, 23, 218928, 23184, 0, 16384, 13770, 272266}));

// 22 partials of 64 columns x 16 rows are summed five by five by five: 512 clocks for the partials
// and, for ceil(1024 / 5) = 205 sums of 2 B, 103. ReduceAdd of 205 outputs, depth 5: 25 vectors and
// 2 pieces left over, 4 for each of six workers: 6 (32 + 2 x 5 + 11 + 4 (3 x 5 + 8)) = 870. Of
// ceil(205 / 5) = 41: 5 vectors and a piece: 6 (32 + 3 x 5 + 8) = 330.
TEST(DensePlanner, EstimateWithStagesHasThePartialsAndSumsOfEach) {
  const DensePlan plan = plan_dense(Target{}, kHalf, 1024, 1024, 64);
  ASSERT_EQ(plan.in_split, 22U);
  EXPECT_EQ(plan.staged.partials, 512U + 103U);
  EXPECT_EQ(plan.staged.reduce, 870U + 330U);
  EXPECT_EQ(plan.staged.compute, plan.estimate.compute);
}

// 17 are five by four. 1024 partials and their sums of five take 512 + 103 clocks and 870 as above;
// ceil(205 / 4) = 52 outputs are 6 vectors and a piece left over, one for each of six workers: 6
// (32 + 2 x 4 + 11 + 3 x 4 + 8) = 426.
TEST(DensePlanner, StagesOfUnequalDepthsTakeEachTheirOwn) {
  Target target;
  target.staged_estimate = false;
  target.tiles = 17;
  const DensePlan plan = plan_dense(target, kHalf, 16, 16 * 17 * 8, 64);
  ASSERT_EQ(plan.in_split, 17U);
  EXPECT_EQ(plan.staged.partials, 512U + 103U);
  EXPECT_EQ(plan.staged.reduce, 870U + 426U);
}

// 8 partials of 94 columns x 32 rows: 376 sums on a tile, 47 vectors, 8 for a worker; 5,264 B are
// received, so they are one contiguous input: 33 + 6 (20 + 8 (2 * 7 + 9)) = 1,257, and with reads
// of 128 bits 33 + 6 (20 + 8 (7 + 9)) = 921; by pointers 6 (32 + 8 (3 * 8 + 8)) = 1,728.
TEST(DensePlanner, EstimateOfOneContiguousInput) {
  Target target;
  const DensePlan plan = plan_dense(target, kHalf, 512, 512, 1024);
  EXPECT_EQ(plan.in_split, 8U);
  EXPECT_EQ(plan.estimate.reduce, 1728U);
  EXPECT_EQ(plan.staged.reduce, 1257U);
  target.fast_reduce = true;
  EXPECT_EQ(plan_dense(target, kHalf, 512, 512, 1024).staged.reduce, 921U);
}

// 22 parts of the contraction are cheaper than 11 with half of the columns each, if their partials
// are summed at once (28,977 clocks); five by five they are dearer (31,930 and 29,803).
TEST(DensePlanner, PlansAreChosenByStages) {
  Target target;
  const DensePlan staged = plan_dense(target, kHalf, 2048, 2048, 256);
  EXPECT_EQ(staged.in_split, 11U);
  target.staged_estimate = false;
  const DensePlan flat = plan_dense(target, kHalf, 2048, 2048, 256);
  EXPECT_EQ(flat.in_split, 22U);
  EXPECT_LT(staged.staged.total(), flat.staged.total());
}

// Field 342 is 57 elements for each worker. First input group: 6 (37 + 4 * 54 - 7) = 1476, but at
// least 1476 + 14; others 6 (38 + 216 - 7) + 14 = 1496. Weights 64 clocks.
// 50 + 6 (7 + 3 * 17) + 13 + 17 (15 + 8 (19 + 70 + 1496)) + 11 + 8 (18 + 71 + 1490) = 228,869.
TEST(ConvCost, VertexOfTheWorkedExampleTakes228869Clocks) {
  EXPECT_EQ(conv_vertex_clocks(Target{}, kHalf, {342, 18, 8}), 228869U);
}

// 3 elements: workers 0, 1, 2 have one, the others none. First pass: 6 (31 + 1 - 7) = 150 against
// 6 (20 + 1 - 7) + 14 = 98. 50 + 42 + 13 + 11 + (18 + 7 + 64 + 150) = 355.
TEST(ConvCost, FewerElementsThanWorkersLeaveWorkersIdle) {
  EXPECT_EQ(conv_vertex_clocks(Target{}, kHalf, {3, 1, 1}), 355U);
}

// FP32 partials halve the AMP width: two passes with 32 clocks of weights each.
// 50 + 42 + 13 + 11 + (18 + 2 (7 + 32 + 6 (31 + 1 - 7) + 14)) = 540.
TEST(ConvCost, SinglePrecisionPartialsNeedTwoPassesOfHalfTheWeights) {
  EXPECT_EQ(conv_vertex_clocks(Target{}, {DType::fp16, DType::fp32}, {6, 1, 1}), 540U);
}

// Three elements for each worker in FP32, first pass: 46 bundles as planned and 37 + 8 * 2 + 4 = 57
// at run time, and 2 + 8 * 3 to zero the partials. 63 + 11 + 18 + 7 + 64 + 6 * 72 + 14 = 609, and
// 66 more.
TEST(ConvCost, PassesInSinglePrecisionAreLongerThanPlanned) {
  Target target;
  EXPECT_EQ(conv_vertex_clocks(target, kSingle, {18, 1, 1}), 609U);
  EXPECT_EQ(conv_vertex_clocks(target, kSingle, {18, 1, 1}, Form::run_time), 675U);
  // A lone element has its own path: 47 bundles and 10 for zeros, in either form.
  EXPECT_EQ(conv_vertex_clocks(target, kSingle, {6, 1, 1}, Form::run_time), 519U);
  target.long_single_passes = false;
  EXPECT_EQ(conv_vertex_clocks(target, kSingle, {18, 1, 1}, Form::run_time), 609U);
}

// One step of 2048 columns needs about 600 KB of a tile, more than the 383 KB a plan should use,
// but is cheaper than two steps that keep to it.
TEST(DensePlanner, MemoryTargetIsExceededRatherThanWorkSplitIfTheTileHasRoom) {
  const DensePlan plan = plan_dense(Target{}, kHalf, 4096, 4096, 2048);
  EXPECT_EQ(plan.steps(), 1U);
  EXPECT_GT(plan.tile_bytes, 383385U);
  EXPECT_LE(dense_tile_bytes(kHalf, plan), 638976U);
}

TEST(DensePlanner, ProductThatFitsNoTileIsCutIntoSerialSteps) {
  Target target;
  target.staged_estimate = false;
  const DensePlan plan = plan_dense(target, kHalf, 4096, 4096, 8192);
  // Four steps would leave less than the 32 KiB that operands in elements of their own may lose.
  EXPECT_EQ(plan.steps(), 5U);
  EXPECT_LE(dense_tile_bytes(kHalf, plan), 638976U - 32768U);
  // With sums as they are made six steps within a plan's share of memory are cheaper than five
  // beyond it.
  const DensePlan staged = plan_dense(Target{}, kHalf, 4096, 4096, 8192);
  EXPECT_EQ(staged.steps(), 6U);
  EXPECT_LE(staged.tile_bytes, 383385U);
  EXPECT_LT(6 * staged.staged.total(), 5 * plan.staged.total());
}

TEST(DensePlanner, ImpossibleProductNamesTheBytes) {
  Target target;
  target.tile_bytes = 1000;
  target.planning_bytes = 600;
  try {
    plan_dense(target, kHalf, 4096, 4096, 4096);
    FAIL() << "planned within 600 bytes";
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("600"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lacuna::ipu
