// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/floor_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace lacuna::ipu {
namespace {

TEST(FloorPlan, NumbersTilesUpOneColumnAndDownTheNext) {
  EXPECT_EQ(physical_id(0, 23), 0U);
  EXPECT_EQ(physical_id(1, 23), 2U);      // the partner is id xor 2
  EXPECT_EQ(physical_id(2, 23), 64U);     // the next row
  EXPECT_EQ(physical_id(45, 23), 1410U);  // row 22, lane 1: 64 * 22 + 2
  EXPECT_EQ(physical_id(46, 23), 1409U);  // block 1, column 1, begins in row 22
  EXPECT_EQ(physical_id(92, 23), 4U);     // block 2 is column 4
}

TEST(FloorPlan, GivesEachTileOfAFullChipAPlaceOfItsOwn) {
  std::set<unsigned> places;
  for (unsigned tile = 0; tile < 1472; ++tile) places.insert(physical_id(tile, 23));
  EXPECT_EQ(places.size(), 1472U);
  EXPECT_EQ(*places.rbegin(), 1471U);
}

// The distribution over all ordered pairs of a 1472-tile chip, as published with the fit: minimum
// 25, 5 % 38, median 69, mean 71.1, 95 % 115, 99 % 137, maximum 171 clocks.
TEST(FloorPlan, LatenciesOfAllPairsHaveThePublishedDistribution) {
  const LatencyTable table{ChipParams()};
  std::vector<unsigned> all;
  for (unsigned s = 0; s < 1472; ++s) {
    for (unsigned r = 0; r < 1472; ++r) {
      if (s != r) all.push_back(table.latency(s, r));
    }
  }
  std::sort(all.begin(), all.end());
  const auto percentile = [&](std::size_t p) { return all[all.size() * p / 100]; };
  EXPECT_EQ(all.front(), 25U);
  EXPECT_EQ(percentile(5), 38U);
  EXPECT_EQ(percentile(50), 69U);
  EXPECT_EQ(percentile(95), 115U);
  EXPECT_EQ(percentile(99), 137U);
  EXPECT_EQ(all.back(), 171U);
  const auto sum = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  EXPECT_EQ(sum * 10 / all.size(), 711U);
}

TEST(FloorPlan, TheTableGivesTheSameAsTheFormula) {
  const LatencyTable table{ChipParams()};
  for (unsigned s = 0; s < 1472; s += 7) {
    for (unsigned r = 0; r < 1472; r += 5) {
      ASSERT_EQ(table.latency(s, r), floor_plan_latency(physical_id(s, 23), physical_id(r, 23)));
    }
  }
  EXPECT_EQ(table.latency(0, 1), 31U);
  EXPECT_EQ(table.latency(1, 0), 30U);
  EXPECT_EQ(table.paired_latency(100, 7), std::max(table.latency(100, 6), table.latency(100, 7)));
}

}  // namespace
}  // namespace lacuna::ipu
