// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/ipu/dynamic/buckets.hpp"

namespace lacuna::ipu {
namespace {

/// Two parts of the rows, two of the contraction, one of the columns: four buckets of elements.
DynamicPlan small_plan(std::uint64_t blocks, std::uint64_t words) {
  DynamicPlan plan;
  plan.x = plan.y = 2;
  plan.tile_x = plan.tile_y = 2;
  plan.tile_z = 1;
  plan.bucket_blocks = blocks;
  plan.bucket_words = words;
  return plan;
}

// Rows 0 and 1 keep all of columns 0 and 1, and nothing else is kept.
const Mask kCorner{4, 4, 1, 1, {0, 2, 4, 4, 4}, {0, 1, 0, 1}};

TEST(Buckets, NonZerosThatFitStayAtHome) {
  const BucketSet set = fill_buckets(small_plan(4, 100), kCorner, 6);
  EXPECT_EQ(set.buckets[0].nonzeros(), 4U);
  // A sub-group of 39 words, two rows of 2 and 4 non-zeros of 1, and the terminator.
  EXPECT_EQ(set.buckets[0].words(), 48U);
  EXPECT_EQ(set.propagation_steps(1), 0U);
}

// Home takes row 0. Row 1 goes to the bucket one step before it along the contraction.
TEST(Buckets, WhatDoesNotFitGoesToTheBucketThatComesByFirst) {
  const BucketSet set = fill_buckets(small_plan(2, 100), kCorner, 6);
  EXPECT_EQ(set.buckets[0].nonzeros(), 2U);
  EXPECT_EQ(set.buckets[2].nonzeros(), 2U);  // x = 0, y = 1
  EXPECT_EQ(set.buckets[2].groups[0].y, 0U);
  EXPECT_EQ(set.steps_y, 2U);
  EXPECT_EQ(set.propagation_steps(1), 1U);
}

// One non-zero in each bucket: the pieces must travel along rows and contraction.
TEST(Buckets, PiecesSpreadOverAllBucketsIfTheyMust) {
  const BucketSet set = fill_buckets(small_plan(1, 100), kCorner, 6);
  for (const Bucket& bucket : set.buckets) EXPECT_EQ(bucket.nonzeros(), 1U);
  EXPECT_EQ(set.propagation_steps(1), 3U);
}

// Four parts of the contraction of five columns each, buckets of four. Part 0 keeps rows of 4, 1
// and 5, part 1 rows of 4 and 1. Whole rows move first: the 1 of part 0 and then the 1 of part 1
// come to bucket 3. Of the row of 5 there is room for two beside them, and three go to bucket 2.
TEST(Buckets, PiecesOfAPartThatArriveApartAreOneSubGroup) {
  DynamicPlan plan = small_plan(4, 1000);
  plan.x = 1;
  plan.y = 4;
  plan.tile_x = 3;
  plan.tile_y = 5;
  const Mask mask{3, 20, 1, 1, {0, 8, 10, 15}, {0, 1, 2, 3, 5, 6, 7, 8, 0, 5, 0, 1, 2, 3, 4}};
  const BucketSet set = fill_buckets(plan, mask, 6);
  ASSERT_EQ(set.buckets[3].groups.size(), 2U);
  EXPECT_EQ(set.buckets[3].groups[0].y, 0U);
  EXPECT_EQ(set.buckets[3].groups[0].nonzeros(), 3U);
  EXPECT_EQ(set.buckets[3].groups[1].nonzeros(), 1U);
  EXPECT_EQ(set.buckets[2].nonzeros(), 3U);
}

TEST(Buckets, OverflowOfAllBucketsIsReported) {
  EXPECT_THROW(fill_buckets(small_plan(4, 20), kCorner, 6), SimulationError);
}

}  // namespace
}  // namespace lacuna::ipu
