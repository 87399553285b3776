// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ostream>

#include "sim/base/error.hpp"
#include "workloads/mapping/ipu/dynamic/cost.hpp"
#include "workloads/mapping/ipu/dynamic/planner.hpp"

namespace lacuna::ipu {
namespace {

constexpr Types kDynamic{DType::fp16, DType::fp32};

struct DynamicRow {
  unsigned block;
  std::uint64_t n;
  std::uint64_t x, y, z;
  Cycle forward, transposed;
  Cycle dense, buckets, zero, multiply, partials, reduce;
};

std::ostream& operator<<(std::ostream& out, const DynamicRow& row) {
  return out << "block " << row.block << ", n " << row.n;
}

class DynamicPlannerTable : public ::testing::TestWithParam<DynamicRow> {};

// A published regression table of the formulas: m = k = 4096, density 1/16, FP16.
TEST_P(DynamicPlannerTable, PlanAndEveryPhaseAreThoseOfTheTable) {
  const DynamicRow& row = GetParam();
  const std::uint64_t grid = 4096 / row.block;
  const DynamicPlan plan =
      plan_dynamic(Target{}, kDynamic, {4096, 4096, row.n, row.block, grid * grid / 16}, 0.3);
  EXPECT_EQ(plan.x, row.x);
  EXPECT_EQ(plan.y, row.y);
  EXPECT_EQ(plan.z, row.z);
  EXPECT_EQ(plan.forward.dense, row.dense);
  EXPECT_EQ(plan.forward.buckets, row.buckets);
  EXPECT_EQ(plan.forward.zero, row.zero);
  EXPECT_EQ(plan.forward.multiply, row.multiply);
  EXPECT_EQ(plan.forward.partials, row.partials);
  EXPECT_EQ(plan.forward.reduce, row.reduce);
  EXPECT_EQ(plan.forward.total(), row.forward);
  EXPECT_EQ(plan.transposed.total(), row.transposed);
}

INSTANTIATE_TEST_SUITE_P(
    Regression, DynamicPlannerTable,
    ::testing::Values(
        DynamicRow{1, 64, 32, 23, 2, 39776, 84110, 1432, 3336, 4098, 23118, 4096, 3696},
        DynamicRow{1, 256, 16, 23, 4, 142694, 292030, 2864, 11336, 16386, 82128, 16384, 13596},
        DynamicRow{4, 64, 38, 38, 1, 33003, 35957, 1728, 0, 6912, 11685, 6912, 5766},
        DynamicRow{4, 256, 16, 23, 4, 97826, 92583, 2880, 2712, 16386, 45868, 16384, 13596},
        DynamicRow{4, 1024, 14, 13, 8, 266896, 299684, 10112, 6592, 37890, 141318, 37888, 33096},
        DynamicRow{8, 64, 19, 19, 4, 24955, 26697, 1728, 2320, 3456, 10851, 3456, 3144},
        DynamicRow{8, 256, 19, 19, 4, 68473, 70215, 6912, 2320, 13824, 19683, 13824, 11910},
        DynamicRow{8, 1024, 10, 9, 16, 183273, 209417, 7296, 11488, 26628, 86505, 26624, 24732},
        DynamicRow{8, 2048, 6, 7, 32, 352506, 362831, 9472, 30208, 44034, 181962, 44032, 42798},
        DynamicRow{16, 64, 22, 16, 4, 20500, 26309, 1024, 2160, 3072, 8388, 3072, 2784},
        DynamicRow{16, 256, 14, 13, 8, 53942, 60689, 2560, 4448, 9732, 18678, 9728, 8796},
        DynamicRow{16, 1024, 10, 9, 16, 154200, 155255, 7424, 9472, 26628, 59320, 26624, 24732},
        DynamicRow{16, 2048, 6, 7, 32, 273236, 260352, 9472, 24896, 44034, 108004, 44032, 42798}));

TEST(DynamicPlanner, ElementsWith1024ColumnsDoNotFitAtADensityOfOneSixteenth) {
  EXPECT_THROW(plan_dynamic(Target{}, kDynamic, {4096, 4096, 1024, 1, 1U << 20U}, 0.3),
               OutOfMemoryError);
}

// 256 rows and 16 grains of columns: five pieces of 43, 43, 43, 43 and 84 rows, of which the
// largest is halved.
TEST(SplitTile, LargestPieceIsHalvedUntilEachWorkerHasOne) {
  const std::vector<WorkerTile> tiles = split_tile(256, 16, 6);
  ASSERT_EQ(tiles.size(), 6U);
  EXPECT_EQ(tiles[0].rows, 43U);
  EXPECT_EQ(tiles[4].rows, 42U);
  EXPECT_EQ(tiles[5].rows, 42U);
}

}  // namespace
}  // namespace lacuna::ipu
