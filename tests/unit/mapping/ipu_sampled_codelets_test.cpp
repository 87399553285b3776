// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/sampled/sampled_codelets.hpp"

namespace lacuna::ipu {
namespace {

struct Cost {
  Cycle cycles = 0;
  Tallies tallies{};

  std::uint64_t of(Tally tally) const { return tallies.at(static_cast<std::size_t>(tally)); }
};

/// Of a tile whose rows have these numbers of blocks, with a static pattern.
Cost cost(const Types& types, unsigned block, const std::vector<std::uint32_t>& rows,
          std::uint64_t depth, bool amp) {
  ProgramBuilder builder{ChipParams()};
  SampledCodelets codelets(builder, Target(), types, block, depth, amp);
  const std::uint32_t vertex = codelets.vertex({rows}, false);
  std::vector<std::uint64_t> issues(builder.program().bundles.size(), 0);
  Cost result;
  result.cycles = vertex_cost(builder.program(), builder.program().vertices[vertex], issues).cycles;
  for (std::size_t b = 0; b < issues.size(); ++b) {
    for (std::size_t t = 0; t < kTallies; ++t) {
      result.tallies.at(t) += issues[b] * builder.program().bundles[b].tallies.at(t);
    }
  }
  return result;
}

// 37 + 38 of the supervisor. Twelve elements over six workers: two each, in one row, at a depth of
// 64: 35 + 8 + 2 (11 + 64 / 4) = 97 bundles.
TEST(SampledCodelets, AnElementTakesABundleForEachFourHalvesOfItsDepth) {
  const Cost c = cost(kMixed, 1, {12}, 64, false);
  EXPECT_EQ(c.cycles, 75U + 6U * 97U);
  EXPECT_EQ(c.of(Tally::mac_fp16), 12U * 64U);
  EXPECT_EQ(c.of(Tally::read_input), 2U * 12U * 16U);
}

// Depth 8 has a codelet of its own: 30 + X (11 + 5 y).
TEST(SampledCodelets, ADepthOfEightIsCheaper) {
  EXPECT_EQ(cost(kMixed, 1, {6, 6}, 8, false).cycles, 75U + 6U * (30U + 11U + 2U * 5U));
  EXPECT_EQ(cost(kSingle, 1, {6}, 4, false).cycles, 75U + 6U * (30U + 9U + 5U));
}

// A block of 16 in FP16 without the AMP: 27 + 9 + 505 + 96 for each element of the depth.
TEST(SampledCodelets, BlocksWithoutTheAmpFormFourProductsInABundle) {
  const Cost c = cost(kMixed, 16, {6}, 10, false);
  EXPECT_EQ(c.cycles, 75U + 6U * (27U + 9U + 505U + 960U));
  EXPECT_EQ(c.of(Tally::mac_fp16), 6U * 256U * 10U);
}

// By the AMP, two rows with three blocks, depth 32 in two passes of 16:
// supervisor 75 + 23 + 8 + 2 x 32 + 10 + 3 (15 + 4 + 2 (8 + 32)); workers 6 (5 + 3 (32 + 28)).
TEST(SampledCodelets, TheAmpTakesAPassForEachSixteenOfTheDepth) {
  const Cost c = cost(kMixed, 16, {1, 2}, 32, true);
  EXPECT_EQ(c.cycles, 75U + 105U + 3U * 99U + 6U * 185U);
  EXPECT_EQ(c.cycles, 75U + sampled_amp_clocks(Target(), kMixed, 16, 2, 3, 32));
  EXPECT_EQ(c.of(Tally::amp_mac_fp16), 3U * 256U * 32U);
}

TEST(SampledCodelets, TheAmpFormsEveryProductOfSmallBlocksToo) {
  EXPECT_EQ(cost(kMixed, 8, {5}, 16, true).of(Tally::amp_mac_fp16), 5U * 64U * 16U);
  EXPECT_EQ(cost(kMixed, 4, {5}, 32, true).of(Tally::amp_mac_fp16), 5U * 16U * 32U);
  EXPECT_EQ(cost(kSingle, 8, {5}, 8, true).of(Tally::amp_mac_fp32), 5U * 64U * 8U);
  EXPECT_EQ(cost(kSingle, 4, {5}, 8, true).of(Tally::amp_mac_fp32), 5U * 16U * 8U);
}

}  // namespace
}  // namespace lacuna::ipu
