// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/reduce/reduce_stages.hpp"

namespace lacuna::ipu {
namespace {

TEST(ReduceStages, UpToTheLimitThereIsOneStage) {
  const ReduceStages stages(15, {});
  EXPECT_EQ(stages.stages(), 1U);
  EXPECT_EQ(stages.groups(0), 15U);
  EXPECT_EQ(stages.groups(1), 1U);
  EXPECT_EQ(stages.slice_of(1, 3), 3U);
}

// By hand: 22 in five groups of 5 at most, which are five; 125 in five groups of five of five; 130,
// of which the cube root is above 5, in four of at most 33, each in six of at most 6.
TEST(ReduceStages, DepthsAreThoseOfTheLargestGroups) {
  using Depths = std::vector<std::uint64_t>;
  EXPECT_EQ(stage_depths(15, {}), (Depths{15}));
  EXPECT_EQ(stage_depths(22, {}), (Depths{5, 5}));
  EXPECT_EQ(stage_depths(125, {}), (Depths{5, 5, 5}));
  EXPECT_EQ(stage_depths(130, {}), (Depths{6, 6, 4}));
  for (std::uint64_t depth = 1; depth < 400; ++depth) {
    const ReduceStages stages(depth, {});
    Depths largest;
    for (unsigned level = 1; level <= stages.stages(); ++level) {
      std::uint64_t most = 0;
      for (std::uint64_t g = 0; g < stages.groups(level); ++g) {
        most = std::max(most, stages.parts(level, g));
      }
      largest.push_back(most);
    }
    EXPECT_EQ(stage_depths(depth, {}), largest) << depth;
  }
}

TEST(ReduceStages, ASinglePartialHasAStageToo) {
  const ReduceStages stages(1, {});
  EXPECT_EQ(stages.stages(), 1U);
  EXPECT_EQ(stages.owner_of(1, 0, 0), 0U);
}

// 16 are 4 groups of 4. Tile 6 is the third of the second group: in its group it has summed the
// third quarter, slices 8 to 11, of which the second is its own.
TEST(ReduceStages, SixteenAreFourGroupsWhoseSlicesLieInWhatTheySummed) {
  const ReduceStages stages(16, {});
  EXPECT_EQ(stages.stages(), 2U);
  EXPECT_EQ(stages.groups(1), 4U);
  EXPECT_EQ(stages.group_of(1, 6), 1U);
  EXPECT_EQ(stages.slice_of(1, 6), 2U);
  EXPECT_EQ(stages.slice_of(2, 6), 9U);
  EXPECT_EQ(stages.owner_of(2, 0, 9), 6U);
}

// The root of 22 is above 4: groups of at most 5, five of them, as equal as can be.
TEST(ReduceStages, UnequalGroupsStillGiveEverySliceOneOwner) {
  const ReduceStages stages(22, {});
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t g = 0; g < stages.groups(1); ++g) sizes.push_back(stages.size(1, g));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4, 4, 5, 4, 5}));
  std::vector<std::uint64_t> owners;
  for (std::uint64_t slice = 0; slice < 22; ++slice) owners.push_back(stages.owner_of(2, 0, slice));
  std::sort(owners.begin(), owners.end());
  for (std::uint64_t tile = 0; tile < 22; ++tile) EXPECT_EQ(owners[tile], tile);
}

// 124 take two stages, 125 three: 5 groups of 5 groups of 5. Tile 38 = 25 + 2 * 5 + 3 is the fourth
// of its group, with the fourth fifth of all: of 25 slices of the 25 tiles those from 15 on, the
// third its own; of 125 those from 17 * 5 on, the second its own.
TEST(ReduceStages, From125OnThereAreThreeOfTheCubeRoot) {
  EXPECT_EQ(ReduceStages(124, {}).stages(), 2U);
  const ReduceStages stages(125, {});
  ASSERT_EQ(stages.stages(), 3U);
  EXPECT_EQ(stages.groups(1), 25U);
  EXPECT_EQ(stages.groups(2), 5U);
  EXPECT_EQ(stages.parts(2, 1), 5U);
  EXPECT_EQ(stages.parts(3, 0), 5U);
  EXPECT_EQ(stages.part_of(2, 38), 2U);
  EXPECT_EQ(stages.part_of(3, 38), 1U);
  EXPECT_EQ(stages.slice_of(1, 38), 3U);
  EXPECT_EQ(stages.slice_of(2, 38), 17U);
  EXPECT_EQ(stages.slice_of(3, 38), 86U);
  EXPECT_EQ(stages.owner_of(2, 1, 17), 38U);
}

TEST(ReduceStages, AtEveryDepthGroupsNestAndEverySliceHasOneOwner) {
  for (std::uint64_t depth = 1; depth <= 400; ++depth) {
    for (const StageDepths& most : {StageDepths{}, StageDepths{1, 2}, StageDepths{2, 6}}) {
      const ReduceStages stages(depth, most);
      for (unsigned level = 1; level <= stages.stages(); ++level) {
        ASSERT_TRUE(stages.groups(level) < stages.groups(level - 1) || depth == 1) << depth;
        for (std::uint64_t group = 0; group < stages.groups(level); ++group) {
          std::uint64_t tiles = 0;
          for (std::uint64_t slice = 0; slice < stages.size(level, group); ++slice) {
            const std::uint64_t tile = stages.owner_of(level, group, slice);
            ASSERT_EQ(stages.group_of(level, tile), group);
            ASSERT_EQ(stages.slice_of(level, tile), slice);
            ASSERT_LT(stages.part_of(level, tile), stages.parts(level, group));
            tiles += tile - stages.first(level, group);
          }
          const std::uint64_t size = stages.size(level, group);
          ASSERT_EQ(tiles, size * (size - 1) / 2);
        }
      }
    }
  }
}

// 16 parts of the contraction, 4 columns times 16 rows of halves each: 32 words of partials. In
// groups of 4 every tile gets 8 words from each of 3 others; then 2 words from each of 3 groups.
// In the first stage workers add 3 rows of 2 vectors of 8: 33 + 6 * (20 + 2 * 3 + 9) clocks.
TEST(ReduceStages, ADeepDenseReductionMovesAndAddsLessAtOnce) {
  const ChipParams chip;
  const Target target;
  const Types half{DType::fp16, DType::fp16};
  DensePlan plan;
  plan.in_split = 16;
  plan.field = plan.step_n = 4;
  plan.out_channels = plan.in_channels = plan.step_m = 16;
  GemmProblem problem;
  problem.m = 16;
  problem.k = 256;
  problem.n = 4;
  const Program program = lower_dense(chip, target, half, problem, plan).program;
  ASSERT_EQ(program.exchanges.size(), 2U);
  for (TileId tile = 0; tile < 16; ++tile) {
    EXPECT_EQ(program.exchanges[0].plan.traffic[tile].received, 24U);
    EXPECT_EQ(program.exchanges[1].plan.traffic[tile].received, 6U);
  }
  const auto is_first = [](const ComputeSet& set) { return set.name == "reduce in groups"; };
  const auto first = std::find_if(program.computes.begin(), program.computes.end(), is_first);
  ASSERT_NE(first, program.computes.end());
  std::vector<std::uint64_t> issues(program.bundles.size());
  const Vertex& vertex = program.vertices[first->items.front().index];
  EXPECT_EQ(vertex_cost(program, vertex, issues).cycles, 243U);
}

// 125 parts of the contraction, 16 columns times 16 rows of halves each: 128 words of partials. In
// groups of 5 four tiles have slices of 28 words and the last the 16 that are left: four others
// send to each. Over 5 groups of 25 tiles slices are of 8 words, 16 of them; where a tile has one,
// four other groups send 8. Over all slices are of 2 words, 64 of them, and four others send 2.
TEST(ReduceStages, AReductionOf125MovesThriceWhatTheCubeRootShares) {
  DensePlan plan;
  plan.in_split = 125;
  plan.field = plan.step_n = plan.out_channels = plan.in_channels = plan.step_m = 16;
  GemmProblem problem;
  problem.m = problem.n = 16;
  problem.k = 2000;
  const Types half{DType::fp16, DType::fp16};
  const Program program = lower_dense(ChipParams(), Target(), half, problem, plan).program;
  ASSERT_EQ(program.exchanges.size(), 3U);
  EXPECT_EQ(program.exchanges[0].plan.traffic[38].received, 4 * 28U);
  EXPECT_EQ(program.exchanges[0].plan.traffic[39].received, 4 * 16U);
  std::vector<std::uint64_t> received(3);
  for (unsigned stage = 0; stage < 3; ++stage) {
    for (TileId tile = 0; tile < 125; ++tile) {
      received[stage] += program.exchanges[stage].plan.traffic[tile].received;
    }
  }
  EXPECT_EQ(received[0], 25 * 4 * 128U);
  EXPECT_GE(received[1], 5 * 4 * 128U);
  EXPECT_LE(received[1], 5 * 5 * 128U);
  EXPECT_GE(received[2], 4 * 128U);
  EXPECT_LE(received[2], 5 * 128U);
}

}  // namespace
}  // namespace lacuna::ipu
