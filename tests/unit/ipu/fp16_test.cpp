// SPDX-License-Identifier: Apache-2.0
#include "models/common/fp16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lacuna {
namespace {

TEST(Fp16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(to_half(1.0F), 0x3c00);
  EXPECT_EQ(to_half(-2.0F), 0xc000);
  EXPECT_EQ(to_half(65504.0F), 0x7bff);         // the largest
  EXPECT_EQ(to_half(2049.0F), 0x6800);          // between 2048 and 2050: the even mantissa
  EXPECT_EQ(to_half(2051.0F), 0x6802);          // between 2050 and 2052
  EXPECT_EQ(to_half(1.0F + 0x1p-11F), 0x3c00);  // halfway above 1
  EXPECT_EQ(to_half(1.0F + 0x1.8p-11F), 0x3c01);
}

TEST(Fp16, OverflowsToInfinityFromHalfwayAboveTheLargest) {
  EXPECT_EQ(to_half(65519.0F), 0x7bff);
  EXPECT_EQ(to_half(65520.0F), 0x7c00);
  EXPECT_EQ(to_half(-1e30F), 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_TRUE(std::isnan(to_float(to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Fp16, KeepsSubnormalsAndFlushesOnlyWhatIsBelowHalfTheLeast) {
  EXPECT_EQ(to_half(0x1p-24F), 0x0001);
  EXPECT_EQ(to_half(0x1p-25F), 0x0000);  // a tie, to even
  EXPECT_EQ(to_half(0x1.000002p-25F), 0x0001);
  EXPECT_EQ(to_half(0x1.8p-24F), 0x0002);    // a tie between 1 and 2
  EXPECT_EQ(to_half(0x1.ffcp-15F), 0x0400);  // rounds up into the normal numbers
  EXPECT_EQ(to_half(-0.0F), 0x8000);
}

TEST(Fp16, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<Half>(bits);
    if ((bits & 0x7c00U) == 0x7c00U && (bits & 0x3ffU) != 0) continue;  // not a number
    ASSERT_EQ(to_half(to_float(half)), half) << bits;
  }
}

TEST(Fp16, AddsAndMultipliesWithOneRounding) {
  EXPECT_EQ(add(to_half(2048.0F), to_half(1.0F)), to_half(2048.0F));
  EXPECT_EQ(multiply(to_half(3.0F), to_half(0.5F)), to_half(1.5F));
  EXPECT_EQ(multiply(to_half(300.0F), to_half(300.0F)), 0x7c00);
}

}  // namespace
}  // namespace lacuna
