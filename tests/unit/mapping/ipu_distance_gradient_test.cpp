// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workloads/mapping/ipu/rows/distance_gradient.hpp"

namespace lacuna::ipu {
namespace {

TEST(DistanceGradient, IsTheSignOrTwiceTheDifference) {
  EXPECT_EQ(distance_slope(Distance::l1, 3, 1), 1);
  EXPECT_EQ(distance_slope(Distance::l1, 1, 3), -1);
  EXPECT_EQ(distance_slope(Distance::l1, 2, 2), 0);
  EXPECT_EQ(distance_slope(Distance::l2, 3, 1), 4);
  EXPECT_EQ(distance_slope(Distance::l2, 1, 3), -4);
}

// The product of sparse elements has 33 + rows (12 + groups (11 + 3 k)) bundles in FP16, of which
// the 3 are two products and a sum. Here 2 of them become 2 (l2) or 5 (l1) instructions each, and
// the own vectors are loaded.
TEST(DistanceGradient, TakesTheLoopsOfSparseElements) {
  const DistanceGradientBundles half = distance_gradient_bundles(DType::fp16, Distance::l2);
  EXPECT_EQ(half.columns, 8U);
  EXPECT_EQ(half.entry + half.row + half.group + 10 * half.step, 33 + 12 + 12 + 50U);
  EXPECT_EQ(distance_gradient_bundles(DType::fp16, Distance::l1).step, 11U);
  const DistanceGradientBundles single = distance_gradient_bundles(DType::fp32, Distance::l2);
  EXPECT_EQ(single.columns, 4U);
  EXPECT_EQ(single.entry + single.row + single.group + 10 * single.step, 31 + 12 + 8 + 50U);
}

}  // namespace
}  // namespace lacuna::ipu
