// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"
#include "workloads/mapping/ipu/static/classes.hpp"
#include "workloads/mapping/ipu/static/reduction.hpp"

namespace lacuna::ipu {
namespace {

/// A product with blocks of 4 in one part and one band: with as many blocks for each tile, a tile
/// has the next ones of the list, row by row.
LoweredGemm lower(unsigned tiles, const std::vector<std::uint32_t>& blocks_of_rows, std::uint64_t n,
                  PlannerParams planner) {
  planner.static_parts = 1;
  planner.static_bands = 1;
  ChipParams chip;
  chip.ipu.tiles = tiles;
  chip.ipu.rows = tiles / 2;
  const auto rows = static_cast<std::uint32_t>(blocks_of_rows.size());
  Mask mask{4 * rows, 64, 4, 4, {0}, {}};
  for (const std::uint32_t count : blocks_of_rows) {
    for (std::uint32_t column = 0; column < count; ++column) mask.columns.push_back(column);
    mask.offsets.push_back(mask.columns.size());
  }
  GemmProblem problem;
  problem.m = mask.rows;
  problem.k = mask.cols;
  problem.n = static_cast<std::uint32_t>(n);
  problem.mask = &mask;
  const Target target = make_target(chip, planner);
  const StaticPlan plan = plan_static(target, kHalf, mask, n);
  return lower_static(chip, target, kHalf, problem, plan);
}

/// What a tile receives in a phase, in words; nothing if there is no such phase.
std::uint64_t received(const Program& program, const std::string& name, TileId tile) {
  for (const ExchangePhase& phase : program.exchanges) {
    if (phase.name == name) return phase.plan.traffic[tile].received;
  }
  return 0;
}

std::uint64_t received(const Program& program, const std::string& name) {
  std::uint64_t all = 0;
  for (const ExchangePhase& phase : program.exchanges) {
    for (const TileTraffic& traffic : phase.plan.traffic) {
      if (phase.name == name) all += traffic.received;
    }
  }
  return all;
}

/// The clocks of a tile's vertex in a compute set; 0 if it has none.
Cycle clocks_of(const Program& program, const std::string& name, TileId tile) {
  for (const ComputeSet& set : program.computes) {
    if (set.name != name || set.first[tile] == set.first[tile + 1]) continue;
    std::vector<std::uint64_t> issues(program.bundles.size());
    const Vertex& vertex = program.vertices[set.items[set.first[tile]].index];
    return vertex_cost(program, vertex, issues).cycles;
  }
  return 0;
}

// Four rows of a block for each of four tiles, times 4 columns: 16 sums of one partial, at home
// where they are made. Copying 32 bytes takes a worker one access of 64 bits: 193 + 6 (14 + 1).
TEST(StaticReduction, SumsOfOnePartialAreCopies) {
  const Program program = lower(4, {1, 1, 1, 1}, 4, {}).program;
  EXPECT_EQ(received(program, "single partials"), 0U);
  EXPECT_EQ(clocks_of(program, "copy of single partials", 2), 283U);
  EXPECT_EQ(clocks_of(program, "reduce", 2), 0U);
}

// Eight rows of a block, two for each tile, and four without: a tile is home of three rows. So row
// 2 goes from tile 1 to tile 0, rows 4 and 5 from 2 to 1, and rows 6 and 7 from 3 to 2; rows 0, 1
// and 3 are made where they belong. A row has 16 sums, 8 words.
TEST(StaticReduction, SumsOfOnePartialGoHomeInAStepOfTheirOwn) {
  const Program program = lower(4, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 4, {}).program;
  EXPECT_EQ(received(program, "single partials", 0), 8U);
  EXPECT_EQ(received(program, "single partials", 1), 2U * 8);
  EXPECT_EQ(received(program, "single partials", 2), 2U * 8);
  EXPECT_EQ(received(program, "single partials", 3), 0U);
  EXPECT_EQ(received(program, "partials"), 0U);
  EXPECT_NE(clocks_of(program, "copy of single partials", 1), 0U);
  EXPECT_EQ(clocks_of(program, "copy of single partials", 2), 0U);

  PlannerParams merged;
  merged.single_step = false;
  const Program other = lower(4, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 4, merged).program;
  EXPECT_EQ(received(other, "single partials"), 0U);
  EXPECT_EQ(received(other, "partials"), 5U * 8);
}

// Two rows of two blocks, one for each tile, times 8 columns: 32 sums a row, 16 at home on each
// tile with one class of two partials. At home 8 + 2 * 4 + 126 is cheaper than spreading, which has
// another exchange. Tile 2 makes a partial of row 1, [0, 16) of which is at home there: it copies 8
// words and receives the other tile's 8. Two vertices of 8 sums on two workers: 6 (16 + 2 (13 +
// 2)).
TEST(StaticReduction, SmallClassesAreSummedWhereTheyBelong) {
  const Program program = lower(4, {2, 2}, 8, {}).program;
  for (TileId tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(received(program, "partials", tile), 8U) << tile;
    EXPECT_EQ(clocks_of(program, "copy of local partials", tile), 283U) << tile;
    EXPECT_EQ(clocks_of(program, "reduce", tile), 276U) << tile;
  }
  EXPECT_EQ(received(program, "sums"), 0U);
  EXPECT_EQ(clocks_of(program, "copy of local sums", 2), 0U);
}

/// 16 tiles with two blocks each, the first row `deep` tiles long, times 64 columns: a row has 256
/// sums, at home on one tile. The last rows have no block.
std::vector<std::uint32_t> one_deep_row(std::uint32_t deep) {
  std::vector<std::uint32_t> blocks(16, 0);
  blocks[0] = 2 * deep;
  for (std::uint32_t row = 1; row <= 16 - deep; ++row) blocks[row] = 2;
  return blocks;
}

// The class of row 0 has E = 256 elements, all at home on tile 0: M = 256; spread, R = 16. At home
// 128 + 64 D + 126, spread 8 D + 126 + 4 D + 128 + 126: the same at D = 2.4.
TEST(StaticReduction, AClassWithOneHomeIsSpreadIfItIsDeep) {
  const Program two = lower(16, one_deep_row(2), 64, {}).program;
  EXPECT_EQ(received(two, "partials", 0), 128U);  // the other tile's
  EXPECT_EQ(received(two, "partials"), 128U);
  EXPECT_EQ(received(two, "sums"), 0U);

  // 16 pieces of 16 sums: three partials of 8 words each, but for those that three tiles have.
  const Program three = lower(16, one_deep_row(3), 64, {}).program;
  EXPECT_EQ(received(three, "partials"), 16U * 24 - 3 * 8);
  EXPECT_EQ(received(three, "sums", 0), 15U * 8);
  EXPECT_EQ(received(three, "sums"), 15U * 8);
  EXPECT_EQ(clocks_of(three, "copy of local sums", 0), 283U);
  EXPECT_EQ(clocks_of(three, "copy of local sums", 1), 0U);
}

TEST(StaticReduction, AllClassesGoWhereTheyAreTold) {
  PlannerParams planner;
  planner.sums = SumsAt::home;
  EXPECT_EQ(received(lower(16, one_deep_row(3), 64, planner).program, "sums"), 0U);
  planner.sums = SumsAt::spread;
  EXPECT_EQ(received(lower(16, one_deep_row(2), 64, planner).program, "sums"), 15U * 8);
  planner.sums = SumsAt::rule;
  planner.sums_delay = 79;  // at D = 2: 52 * 2 = 104 > 79
  EXPECT_EQ(received(lower(16, one_deep_row(2), 64, planner).program, "sums"), 15U * 8);
}

// Of 14 reductions, 13 of one partial, one is of the deep class: ceil(6 / 14) = 1 worker of a tile,
// which sums 16 in one vertex, 6 (16 + 4 (13 + 3)). With all six, two sum 8 each.
TEST(StaticReduction, AClassOfFewHasFewWorkers) {
  EXPECT_EQ(clocks_of(lower(16, one_deep_row(3), 64, {}).program, "reduce", 5), 480U);
  PlannerParams planner;
  planner.few_workers = false;
  EXPECT_EQ(clocks_of(lower(16, one_deep_row(3), 64, planner).program, "reduce", 5), 288U);
  planner.long_sums = false;
  EXPECT_EQ(clocks_of(lower(16, one_deep_row(3), 64, planner).program, "reduce", 5),
            6U * (10 + 28));
}

// At home, tile 0 has its own 256 partials, 3 * 256 that it sums, and 256 results. Spread, no tile
// sums more than 16, and the peak is before: two rows of 4 of the dense operand, two blocks, and
// 256 partials.
TEST(StaticReduction, WhatIsReceivedNeedsRoomBesideThePartials) {
  PlannerParams planner;
  planner.sums = SumsAt::home;
  const std::uint64_t home = lower(16, one_deep_row(3), 64, planner).tile_bytes;
  planner.sums = SumsAt::spread;
  const std::uint64_t spread = lower(16, one_deep_row(3), 64, planner).tile_bytes;
  EXPECT_EQ(home - spread, 2U * ((256 + 768 + 256) - (512 + 32 + 256)));
}

TEST(SumPieces, AreEvenAndNotTooShort) {
  using Ends = std::vector<std::uint64_t>;
  EXPECT_EQ(even_cuts(64, 8, 6, 0), (Ends{16, 32, 48, 64}));  // 8 grains, 2 at most each
  EXPECT_EQ(even_cuts(40, 8, 6, 0), (Ends{8, 16, 24, 32, 40}));
  EXPECT_EQ(even_cuts(20, 8, 2, 0), (Ends{8, 20}));      // 3 grains in halves, the last not full
  EXPECT_EQ(even_cuts(36, 4, 100, 16), (Ends{16, 36}));  // 9 grains, 4 at least
  EXPECT_EQ(even_cuts(12, 4, 100, 16), (Ends{12}));
}

// Of 10 partials of 8 halves each an addition takes 10 vectors. 16 and 8 halves cost 20 and 10: no
// more than 8 from their mean, so in order. 80 and 8 cost 100 and 10, so by what they take.
TEST(SumPieces, GoToWorkersInOrderOrByTheirLength) {
  using Workers = std::vector<unsigned>;
  EXPECT_EQ(deal_pieces({16, 8, 8, 16, 8}, 10, 2, kHalf), (Workers{0, 0, 0, 1, 1}));
  EXPECT_EQ(deal_pieces({80, 8, 8, 80, 8}, 10, 2, kHalf), (Workers{1, 0, 1, 0, 0}));
  // 12 is divided by 4: 30 vectors for 10, as 24 are
  EXPECT_EQ(deal_pieces({12, 24}, 10, 2, kHalf), (Workers{0, 1}));
  // floats are added four at a time: 40 and 20 are 10 from their mean
  EXPECT_EQ(deal_pieces({16, 16, 8, 8}, 10, 2, kHalf), (Workers{0, 0, 1, 1}));
  EXPECT_EQ(deal_pieces({16, 16, 8, 8}, 10, 2, kSingle), (Workers{0, 1, 0, 1}));
}

}  // namespace
}  // namespace lacuna::ipu
