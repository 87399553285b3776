// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/reduce_stages.hpp"

namespace lacuna::ipu {
namespace {

TEST(ReduceStages, UpToTheLimitEveryTileIsAGroupOfItsOwn) {
  const ReduceStages stages(15, 15);
  EXPECT_FALSE(stages.two());
  EXPECT_EQ(stages.groups(), 15U);
  EXPECT_EQ(stages.slice_of(3), 3U);
}

// 16 are 4 groups of 4. Tile 6 is the third of the second group: in its group it has summed the
// third quarter, slices 8 to 11, of which the second is its own.
TEST(ReduceStages, SixteenAreFourGroupsWhoseSlicesLieInWhatTheySummed) {
  const ReduceStages stages(16, 15);
  EXPECT_TRUE(stages.two());
  EXPECT_EQ(stages.groups(), 4U);
  EXPECT_EQ(stages.group_of(6), 1U);
  EXPECT_EQ(stages.slice_of(6), 9U);
  EXPECT_EQ(stages.owner_of(9), 6U);
}

// The root of 22 is above 4: groups of at most 5, five of them, as equal as can be.
TEST(ReduceStages, UnequalGroupsStillGiveEverySliceOneOwner) {
  const ReduceStages stages(22, 15);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t g = 0; g < stages.groups(); ++g) sizes.push_back(stages.size(g));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4, 4, 5, 4, 5}));
  std::vector<std::uint64_t> owners;
  for (std::uint64_t slice = 0; slice < 22; ++slice) owners.push_back(stages.owner_of(slice));
  std::sort(owners.begin(), owners.end());
  for (std::uint64_t tile = 0; tile < 22; ++tile) EXPECT_EQ(owners[tile], tile);
}

// 16 parts of the contraction, 4 columns times 16 rows of halves each: 32 words of partials. In
// groups of 4 every tile gets 8 words from each of 3 others; then 2 words from each of 3 groups.
// In the first stage workers add 3 rows of 2 vectors of 8: 33 + 6 * (20 + 3 + 9) clocks.
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
  EXPECT_EQ(vertex_cost(program, vertex, issues).cycles, 225U);
}

}  // namespace
}  // namespace lacuna::ipu
