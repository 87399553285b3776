// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/dense/planner.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {
namespace {

// A row of a published regression table of the formulas, recomputed independently of this code.
struct DenseRow {
  Types types;
  std::uint64_t side;  // m = k
  std::uint64_t n;
  std::uint64_t field, out, in;
  Cycle compute, inputs, weights, partials, reduce, total;
};

std::ostream& operator<<(std::ostream& out, const DenseRow& row) {
  return out << row.side << " squared, n = " << row.n;
}

class DensePlannerTable : public ::testing::TestWithParam<DenseRow> {};

TEST_P(DensePlannerTable, PlanAndEveryPhaseAreThoseOfTheTable) {
  const DenseRow& row = GetParam();
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
    ::testing::Values(
        DenseRow{kHalf, 1024, 4, 1, 64, 22, 911, 48, 0, 32, 522, 1513},
        DenseRow{kHalf, 1024, 16, 1, 64, 22, 1001, 189, 0, 128, 522, 1840},
        DenseRow{kHalf, 1024, 64, 1, 64, 22, 1577, 756, 0, 512, 966, 3811},
        DenseRow{kHalf, 1024, 256, 2, 64, 11, 4661, 3024, 384, 1024, 1374, 10467},
        DenseRow{kHalf, 1024, 1024, 4, 32, 11, 15089, 5952, 1152, 4096, 4080, 30369},
        DenseRow{kHalf, 1024, 2048, 9, 32, 5, 29854, 11486, 2959, 3648, 4458, 52405},
        DenseRow{kHalf, 1024, 4096, 23, 16, 4, 59659, 10740, 7836, 5728, 7392, 91355},
        DenseRow{kHalf, 1024, 8192, 23, 16, 4, 105739, 21420, 7836, 11424, 14472, 160891},
        DenseRow{kHalf, 1024, 16384, 46, 8, 4, 210867, 19992, 16028, 22848, 28752, 298487},
        DenseRow{kHalf, 4096, 4, 1, 64, 22, 12215, 189, 0, 128, 522, 13054},
        DenseRow{kHalf, 4096, 16, 1, 86, 16, 13793, 1013, 0, 384, 528, 15718},
        DenseRow{kHalf, 4096, 64, 1, 86, 16, 23009, 4049, 0, 1536, 1536, 30130},
        DenseRow{kHalf, 4096, 256, 1, 64, 22, 59735, 12096, 0, 8192, 7182, 87205},
        DenseRow{kHalf, 4096, 1024, 3, 32, 15, 228869, 23855, 12288, 21888, 19836, 306736},
        DenseRow{kSingle, 4096, 4, 1, 64, 23, 34776, 363, 0, 256, 648, 36043},
        DenseRow{kSingle, 4096, 16, 1, 64, 23, 35840, 1449, 0, 1024, 1104, 39417},
        DenseRow{kSingle, 4096, 64, 1, 64, 23, 71472, 5796, 0, 4096, 3738, 85102},
        DenseRow{kSingle, 4096, 256, 1, 64, 23, 218928, 23184, 0, 16384, 13770, 272266}));

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

// No partition of all 4096 rows keeps to 383,385 B. In two steps of 2048 it is 7 x 16 x 13 parts of
// 293 columns, 128 rows and 320 of the contraction. 49 elements for each worker: 63 + 6 (7 + 19 x
// 3)
// + 8 (18 + 7 + 64 + 1284) + 19 (15 + 8 (19 + 6 + 64 + 1290)) + 11 = 221,335. Weights (40,960 -
// 5,851) / 2 = 17,555, partials 293 x 128 / 2 = 18,752; of 2,885 sums of 13, 360 vectors and two
// pieces: 6 (32 + 2 x 13 + 11 + 60 (3 x 13 + 8)) = 17,334. These twice, and once the inputs, which
// stay: (93,760 - 5,860) / 4 = 21,975.
TEST(DensePlanner, EqualStepsOverRowsKeepToTheTargetOfMemory) {
  const DensePlan plan = plan_dense(Target{}, kHalf, 4096, 4096, 2048);
  EXPECT_EQ(plan.serial_m, 2U);
  EXPECT_EQ(plan.serial_n, 1U);
  EXPECT_EQ(plan.step_m, 2048U);
  EXPECT_LE(plan.tile_bytes, 383385U);
  const DenseEstimate all = plan.of_steps(plan.staged);
  EXPECT_EQ(all.compute, 2 * 221335U);
  EXPECT_EQ(all.weights, 2 * 17555U);
  EXPECT_EQ(all.inputs, 21975U);
  EXPECT_EQ(all.total(), 571927U);
}

// Weights of 80 x 1024 are 40,960 B for each of four tiles, more than the 40,000 of the target.
// Rows are 5 groups of 16, which only 5 steps divide.
TEST(DensePlanner, StepsOverRowsAreOfWholeGroups) {
  Target target;
  target.tiles = 4;
  target.tile_bytes = 1U << 18U;
  target.planning_bytes = 40000;
  const DensePlan plan = plan_dense(target, kHalf, 80, 1024, 16);
  EXPECT_EQ(plan.serial_m, 5U);
  EXPECT_EQ(plan.step_m, 16U);
  EXPECT_LE(plan.tile_bytes, 40000U);
}

// 16 rows are one group, which no step divides: 100 columns for each of 1472 tiles would have 820
// KB. Where all inputs are, 410 KB of a tile, they exceed the 383 KB of the target and fit the
// tile.
TEST(DensePlanner, MemoryTargetIsExceededIfRowsCannotBeCut) {
  const DensePlan plan = plan_dense(Target{}, kHalf, 16, 4096, 73728);
  EXPECT_EQ(plan.steps(), 1U);
  EXPECT_GT(plan.tile_bytes, 383385U);
  EXPECT_LE(dense_tile_bytes(kHalf, plan), 638976U);
}

// A tile's share of inputs, partials and result is 36,864 B each, more than the 96 KiB that are
// left of 128 by the alignment of operands. Rows are one group, so columns are cut: what stays are
// the homes of inputs and results, and four steps have 18,432 B in use.
TEST(DensePlanner, ProductThatFitsNoTileIsCutIntoStepsOverItsColumns) {
  Target target;
  target.tiles = 4;
  target.tile_bytes = 1U << 17U;
  target.planning_bytes = 78643;
  const DensePlan plan = plan_dense(target, kHalf, 16, 16, 4608);
  EXPECT_EQ(plan.serial_m, 1U);
  EXPECT_EQ(plan.serial_n, 4U);
  EXPECT_TRUE(plan.weights_stay());
  EXPECT_LE(dense_tile_bytes(kHalf, plan), (1U << 17U) - 32768U);
}

// The exchanges of a product of 128 rows, 16 of the contraction and 16 columns on 2 x 2 x 1 tiles.
std::vector<std::string> exchanges(unsigned row_steps, unsigned column_steps,
                                   std::uint64_t* inputs = nullptr) {
  ChipParams chip;
  chip.ipu.tiles = 4;
  chip.ipu.rows = 2;
  Target target = make_target(chip, {});
  target.dense = {2, 2, 1};
  target.dense_row_steps = row_steps;
  target.dense_column_steps = column_steps;
  GemmProblem problem;
  problem.m = 128;
  problem.k = problem.n = 16;
  problem.dtype = DType::fp16;
  const DensePlan plan = plan_dense(target, kHalf, problem.m, problem.k, problem.n);
  std::vector<std::string> names;
  for (const ExchangePhase& phase :
       lower_dense(chip, target, kHalf, problem, plan).program.exchanges) {
    names.push_back(phase.name);
    for (const Transfer& transfer : phase.transfers.transfers) {
      if (inputs != nullptr && phase.name == "inputs") *inputs += transfer.words * transfer.count;
    }
  }
  return names;
}

// Eight columns of 16 halves are 64 words, 32 at home at each of the two tiles of other rows.
TEST(DenseLowering, OperandsThatStayForSeveralStepsAreExchangedOnceBeforeThem) {
  using Names = std::vector<std::string>;
  std::uint64_t inputs = 0;
  EXPECT_EQ(exchanges(1, 1), (Names{"operands"}));
  EXPECT_EQ(exchanges(2, 1, &inputs), (Names{"inputs", "weights", "weights"}));
  EXPECT_EQ(inputs, 4U * 32U);
  EXPECT_EQ(exchanges(1, 2), (Names{"weights", "inputs", "inputs"}));
  EXPECT_EQ(exchanges(2, 2), (Names{"weights", "inputs", "inputs", "weights", "inputs", "inputs"}));
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

// 4 x 2 x 8 of 64 columns, 256 rows (16 groups) and 256 of the contraction (16 groups of 16).
TEST(DensePlanner, APlanIsHeldToParts) {
  Target target;
  target.dense = {4, 2, 8};
  const DensePlan plan = plan_dense(target, kHalf, 256, 256, 64);
  EXPECT_EQ(plan.field_split, 4U);
  EXPECT_EQ(plan.out_split, 2U);
  EXPECT_EQ(plan.in_split, 8U);
  EXPECT_EQ(plan.field, 16U);
  EXPECT_EQ(plan.out_channels, 128U);
  EXPECT_EQ(plan.in_channels, 32U);
  // what is left open is the cheapest of those
  target.dense = {4, 0, 0};
  EXPECT_EQ(plan_dense(target, kHalf, 256, 256, 64).field_split, 4U);
  EXPECT_LE(plan_dense(target, kHalf, 256, 256, 64).estimate.total(), plan.estimate.total());
  target.dense = {};
  target.dense_row_steps = 2;
  target.dense_column_steps = 4;
  const DensePlan serial = plan_dense(target, kHalf, 256, 256, 64);
  EXPECT_EQ(serial.serial_m, 2U);
  EXPECT_EQ(serial.serial_n, 4U);
  EXPECT_EQ(serial.step_m, 128U);
  EXPECT_EQ(serial.step_n, 16U);
}

// 16 groups of rows in 12 parts of two each: eight parts have all, four would be empty.
TEST(DensePlanner, PartsThatWouldBeEmptyAreRefused) {
  Target target;
  target.dense = {0, 12, 0};
  EXPECT_THROW(plan_dense(target, kHalf, 256, 256, 64), UnsupportedError);
  target.dense = {128, 0, 0};  // of 64 columns
  EXPECT_THROW(plan_dense(target, kHalf, 256, 256, 64), UnsupportedError);
  target.dense = {};
  target.dense_row_steps = 48;  // of 64 rows, two at a time
  EXPECT_THROW(plan_dense(target, kHalf, 64, 256, 64), UnsupportedError);
}

}  // namespace
}  // namespace lacuna::ipu
