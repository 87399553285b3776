// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workloads/mapping/wse/block_loads.hpp"

namespace lacuna::test {
namespace {

/// 8 x 8 elements in blocks of 2 x 2: the first row of blocks keeps block 0, the second 0 and 3,
/// the third 1, the last none.
Mask few_blocks() {
  Mask mask;
  mask.rows = mask.cols = 8;
  mask.block_rows = mask.block_cols = 2;
  mask.offsets = {0, 1, 3, 4, 4};
  mask.columns = {0, 0, 3, 1};
  return mask;
}

// Two columns of four features. Blocks 0 and 1 lie in the first, 3 in the second: the fullest has
// 2, 2, 2 and 0 elements of a row, on average 1.5. Dealt one by one a block gives each column one:
// 1, 2, 1 and 0, on average 1.
TEST(BlockLoads, CountTheFullestColumnOfEachRow) {
  const Mask mask = few_blocks();
  const wse::BlockLoads loads(mask);
  EXPECT_DOUBLE_EQ(loads.fullest(2, false, 1), 1.5);
  EXPECT_DOUBLE_EQ(loads.fullest(2, true, 1), 1);
}

// Over all eight rows the first column of four features has three blocks of the four: 3 x 2 x 2
// elements in 8 rows. A single column has all four.
TEST(BlockLoads, RowsThatAreEvenedOutAreAddedUpFirst) {
  const Mask mask = few_blocks();
  const wse::BlockLoads loads(mask);
  EXPECT_DOUBLE_EQ(loads.fullest(2, false, 8), 1.5);
  EXPECT_DOUBLE_EQ(loads.fullest(4, false, 8), 1);  // block 0 alone: two blocks of its column
  EXPECT_DOUBLE_EQ(loads.fullest(1, false, 8), 2);
  EXPECT_DOUBLE_EQ(loads.fullest(1, false, 100), 2) << "more rows than there are";
}

}  // namespace
}  // namespace lacuna::test
