// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"
#include "workloads/mapping/ipu/static_sums.hpp"

namespace lacuna::ipu {
namespace {

constexpr Types kHalf{DType::fp16, DType::fp16};

class StaticSumsOfBlocks : public ::testing::Test {
 protected:
  /// One row of `columns` kept blocks of 16, on as many tiles, times 4 columns.
  Program program(std::uint32_t columns) {
    chip_.ipu.tiles = columns;
    chip_.ipu.rows = columns / 2;
    mask_ = {16, 16 * columns, 16, 16, {0, columns}, {}};
    for (std::uint32_t c = 0; c < columns; ++c) mask_.columns.push_back(c);
    GemmProblem problem;
    problem.m = 16;
    problem.k = 16 * columns;
    problem.n = 4;
    problem.mask = &mask_;
    const Target target = make_target(chip_, {});
    return lower_static(chip_, target, kHalf, problem, plan_static(target, kHalf, mask_, problem.n))
        .program;
  }

  static const ExchangePhase* phase(const Program& program, const std::string& name) {
    const auto found = std::find_if(program.exchanges.begin(), program.exchanges.end(),
                                    [&](const ExchangePhase& p) { return p.name == name; });
    return found == program.exchanges.end() ? nullptr : &*found;
  }

  ChipParams chip_;
  Mask mask_;
};

// Two tiles have a block each, so 64 partial sums each of the same row. Either sums half of them,
// 32 halves, for which the other sends it 16 words; there they are at home as well.
TEST_F(StaticSumsOfBlocks, EveryTileWithAContributionSumsASlice) {
  const Program two = program(2);
  const ExchangePhase* const partials = phase(two, "partials");
  ASSERT_NE(partials, nullptr);
  EXPECT_EQ(partials->plan.traffic[0].received, 16U);
  EXPECT_EQ(partials->plan.traffic[1].received, 16U);
  EXPECT_EQ(phase(two, "move"), nullptr);
  // Of 4 vectors of depth 2, and 4 that are only copied, a worker has 2: 6 * (16 + 2 * 15).
  const auto is_reduce = [](const ComputeSet& set) { return set.name == "reduce"; };
  const auto reduce = std::find_if(two.computes.begin(), two.computes.end(), is_reduce);
  ASSERT_NE(reduce, two.computes.end());
  std::vector<std::uint64_t> issues(two.bundles.size());
  const Vertex& vertex = two.vertices[reduce->items.front().index];
  EXPECT_EQ(vertex_cost(two, vertex, issues).cycles, 276U);
}

// Of 64 sums each of 4 tiles makes 16, of 3 times 8 words that it receives.
TEST_F(StaticSumsOfBlocks, DeeperSumsMeanSmallerSlices) {
  const Program four = program(4);
  const ExchangePhase* const partials = phase(four, "partials");
  ASSERT_NE(partials, nullptr);
  for (TileId tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(partials->plan.traffic[tile].received, 24U) << tile;
    EXPECT_EQ(partials->plan.traffic[tile].sent, 24U) << tile;
  }
}

/// All blocks of `rows` rows of 64 blocks, in two bands of two tiles: a tile has half a row of one
/// half of the rows.
ExchangePlan partials_of_rows(std::uint32_t rows) {
  ChipParams chip;
  chip.ipu.tiles = 4;
  chip.ipu.rows = 2;
  PlannerParams planner;
  planner.static_parts = 1;
  planner.static_bands = 2;
  Mask mask{4 * rows, 256, 4, 4, {0}, {}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < 64; ++column) mask.columns.push_back(column);
    mask.offsets.push_back(64 * (row + 1));
  }
  GemmProblem problem;
  problem.m = std::uint64_t{4} * rows;
  problem.k = 256;
  problem.n = 16;
  problem.mask = &mask;
  const Target target = make_target(chip, planner);
  const Program program =
      lower_static(chip, target, kHalf, problem, plan_static(target, kHalf, mask, problem.n))
          .program;
  for (const ExchangePhase& phase : program.exchanges) {
    if (phase.name == "partials") return phase.plan;
  }
  ADD_FAILURE() << "no exchange of partials";
  return {};
}

// A row is 64 sums of two tiles. Of 63 rows of its own, a tile sends half of every one, 16 words.
// Of 64, 128 rows on four tiles, it sends every other one whole, 32 words, to its owner: as many
// words for each row in half as many messages.
TEST(StaticSums, WholeRowsAreSummedWhereEveryTileHasMany) {
  const ExchangePlan few = partials_of_rows(126);
  ASSERT_EQ(few.traffic.size(), 4U);
  EXPECT_EQ(few.sends.size(), 4U * 63);
  const ExchangePlan many = partials_of_rows(128);
  ASSERT_EQ(many.traffic.size(), 4U);
  EXPECT_EQ(many.sends.size(), 4U * 32);
  for (TileId tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(few.traffic[tile].received, 63U * 16) << tile;
    EXPECT_EQ(many.traffic[tile].received, 64U * 16) << tile;
  }
}

}  // namespace
}  // namespace lacuna::ipu
