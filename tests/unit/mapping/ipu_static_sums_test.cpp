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

/// Two rows of two blocks of 16, each on a tile of its own, times 4 columns. Row 0 is made by tiles
/// 0 and 1 and at home there, 32 halves each, row 1 by and on tiles 2 and 3.
Program four_blocks(const PlannerParams& planner) {
  ChipParams chip;
  chip.ipu.tiles = 4;
  chip.ipu.rows = 2;
  const Mask mask{32, 32, 16, 16, {0, 2, 4}, {0, 1, 0, 1}};
  GemmProblem problem;
  problem.m = 32;
  problem.k = 32;
  problem.n = 4;
  problem.mask = &mask;
  const Target target = make_target(chip, planner);
  StaticPlan plan = plan_static(target, kHalf, mask, problem.n);
  return lower_static(chip, target, kHalf, problem, plan).program;
}

const ExchangePhase* phase_of(const Program& program, const std::string& name) {
  const auto found = std::find_if(program.exchanges.begin(), program.exchanges.end(),
                                  [&](const ExchangePhase& p) { return p.name == name; });
  return found == program.exchanges.end() ? nullptr : &*found;
}

/// The clocks of the vertices of a tile in a compute set.
std::vector<Cycle> vertices_of(const Program& program, const std::string& name, TileId tile) {
  std::vector<Cycle> clocks;
  for (const ComputeSet& set : program.computes) {
    if (set.name != name) continue;
    for (std::uint32_t i = set.first[tile]; i < set.first[tile + 1]; ++i) {
      std::vector<std::uint64_t> issues(program.bundles.size());
      const Vertex& vertex = program.vertices[set.items[i].index];
      clocks.push_back(vertex_cost(program, vertex, issues).cycles);
    }
  }
  return clocks;
}

// A tile receives the other one's contribution to its 32 halves. 4 vectors of depth 2 are one for a
// worker: 6 * (16 + 15).
TEST(StaticSums, SmallResultsAreSummedWhereTheyBelong) {
  PlannerParams planner;
  planner.static_parts = 1;
  planner.home_sums = 32;
  const Program program = four_blocks(planner);
  const ExchangePhase* const partials = phase_of(program, "partials");
  ASSERT_NE(partials, nullptr);
  for (TileId tile = 0; tile < 4; ++tile) EXPECT_EQ(partials->plan.traffic[tile].received, 16U);
  EXPECT_EQ(phase_of(program, "move"), nullptr);
  EXPECT_EQ(vertices_of(program, "reduce", 1), std::vector<Cycle>{186});
}

// Either tile of a row sums half of it, and so receives 16 words. Of row 1 tile 3 has the first
// half, which belongs to tile 2, and tile 2 the other: 64 bytes each, which are copied, two of 64
// bits a worker (193 + 6 * (14 + 2)), before 16 words are put into rows, three a worker (6 * (14 +
// 3 * 3)).
TEST(StaticSums, LargerResultsAreSummedInPlaceThenMovedAndCopied) {
  PlannerParams planner;
  planner.static_parts = 1;
  planner.home_sums = 31;
  const Program program = four_blocks(planner);
  const ExchangePhase* const partials = phase_of(program, "partials");
  const ExchangePhase* const move = phase_of(program, "move");
  ASSERT_NE(partials, nullptr);
  ASSERT_NE(move, nullptr);
  for (TileId tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(partials->plan.traffic[tile].received, 16U) << tile;
    EXPECT_EQ(move->plan.traffic[tile].received, tile < 2 ? 0U : 16U) << tile;
  }
  EXPECT_EQ(vertices_of(program, "rearrange output", 0), std::vector<Cycle>{138});
  EXPECT_EQ(vertices_of(program, "rearrange output", 2), (std::vector<Cycle>{289, 138}));
  planner.copy_results = false;
  EXPECT_EQ(vertices_of(four_blocks(planner), "rearrange output", 2), std::vector<Cycle>{138});
}

/// Of the fullest of `tiles`, for `mask` times 64 columns.
std::uint64_t bytes_of(const Mask& mask, unsigned tiles, const PlannerParams& planner) {
  ChipParams chip;
  chip.ipu.tiles = tiles;
  chip.ipu.rows = tiles / 2;
  GemmProblem problem;
  problem.m = mask.rows;
  problem.k = mask.cols;
  problem.n = 64;
  problem.mask = &mask;
  const Target target = make_target(chip, planner);
  const StaticPlan plan = plan_static(target, kHalf, mask, problem.n);
  return lower_static(chip, target, kHalf, problem, plan).tile_bytes;
}

// Each of four tiles has a block of 16 of its own row times 64 columns: 1024 halves of the dense
// operand and of partials and 256 of the block; then 1024 of partials, of results, and, where what
// is moved is copied to its place, of what is received.
TEST(StaticSums, WhatIsMovedNeedsRoomBesideItsPlace) {
  const Mask mask{64, 16, 16, 16, {0, 1, 2, 3, 4}, {0, 0, 0, 0}};
  PlannerParams planner;
  planner.static_parts = 1;
  const std::uint64_t copied = bytes_of(mask, 4, planner);
  planner.copy_results = false;
  EXPECT_EQ(copied - bytes_of(mask, 4, planner), 2U * (1024 - 256));
}

// Each of two tiles has a row of four blocks of 16 times 64 columns: 4096 halves of the dense
// operand arrive and are copied before there are the 1024 of partials.
TEST(StaticSums, RowsThatAreCopiedNeedRoomTwice) {
  const Mask mask{32, 64, 16, 16, {0, 4, 8}, {0, 1, 2, 3, 0, 1, 2, 3}};
  PlannerParams planner;
  planner.static_parts = 1;
  planner.static_bands = 1;
  const std::uint64_t copied = bytes_of(mask, 2, planner);
  planner.copy_gathered = false;
  EXPECT_EQ(copied - bytes_of(mask, 2, planner), 2U * (4096 - 1024));
}

}  // namespace
}  // namespace lacuna::ipu
