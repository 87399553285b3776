// SPDX-License-Identifier: Apache-2.0
#include "models/common/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/common/fp8.hpp"

namespace lacuna {
namespace {

TEST(StochasticRounding, GoesUpForThatShareOfTheDrawsThatTheDistanceIs) {
  const float quarter = 1.0F + 0x1p-12F;  // a quarter of the way from 1 to 1 + 2^-10
  EXPECT_EQ(to_half_stochastic(quarter, 0), 0x3c00);
  EXPECT_EQ(to_half_stochastic(quarter, 0xbfffffffU), 0x3c00);
  EXPECT_EQ(to_half_stochastic(quarter, 0xc0000000U), 0x3c01);  // the upper quarter of the draws
  EXPECT_EQ(to_half_stochastic(-quarter, 0xc0000000U), 0xbc01);
}

TEST(StochasticRounding, GoesUpForThatShareOfTheDrawsBelowTheNormalNumbersToo) {
  const float half = 0x1.8p-24F;  // between 1 and 2 subnormal steps
  EXPECT_EQ(to_half_stochastic(half, 0x7fffffffU), 0x0001);
  EXPECT_EQ(to_half_stochastic(half, 0x80000000U), 0x0002);
  const float little = 0x1p-40F;  // 2^-16 of a step
  EXPECT_EQ(to_half_stochastic(little, 0xfffeffffU), 0x0000);
  EXPECT_EQ(to_half_stochastic(little, 0xffff0000U), 0x0001);
}

TEST(StochasticRounding, LeavesWhatFp16CanHoldAsItIs) {
  for (std::uint32_t bits = 0; bits <= 0x7c00; ++bits) {
    const auto half = static_cast<Half>(bits);
    ASSERT_EQ(to_half_stochastic(to_float(half), 0xffffffffU), half) << bits;
  }
  EXPECT_TRUE(std::isnan(
      to_float(to_half_stochastic(std::numeric_limits<float>::quiet_NaN(), 0xffffffffU))));
  EXPECT_EQ(to_half_stochastic(1e9F, 0), 0x7c00);
}

// 4096 additions of 2^-13 to 1 are 1.5; each is an eighth of a step of 2^-10, so that nearest stays
// at 1. The sum of the stochastic steps has a deviation of 2^-10 * sqrt(4096 * 7) / 8 = 0.021.
TEST(StochasticRounding, LetsSmallUpdatesSurviveWhereNearestLosesThem) {
  HalfRounding nearest;
  HalfRounding stochastic(RoundMode::stochastic, 7, 6);
  Half kept = to_half(1.0F);
  Half moved = to_half(1.0F);
  for (int i = 0; i < 4096; ++i) {
    kept = nearest(to_float(kept) + 0x1p-13F);
    moved = stochastic(to_float(moved) + 0x1p-13F);
  }
  EXPECT_EQ(to_float(kept), 1.0F);
  EXPECT_NEAR(to_float(moved), 1.5, 4 * 0.021);
}

// A third of a step, rounded 30000 times: the mean has a deviation of sqrt(2/9/30000) = 0.0027
// steps.
TEST(StochasticRounding, IsRightOnAverage) {
  HalfRounding round(RoundMode::stochastic, 11, 6);
  const double step = 0x1p-10;
  const auto value = static_cast<float>(1 + step / 3);
  double sum = 0;
  for (int i = 0; i < 30000; ++i) {
    round.use_worker(static_cast<unsigned>(i % 6));
    sum += to_float(round(value));
  }
  EXPECT_NEAR((sum / 30000 - 1) / step, 1.0 / 3, 4 * 0.0027);
}

TEST(StochasticRounding, GivesEachWorkerAStreamOfItsOwn) {
  const auto bits = [](unsigned worker, int others) {
    HalfRounding round(RoundMode::stochastic, 3, 6);
    round.use_worker((worker + 1) % 6);
    for (int i = 0; i < others; ++i) round(1.0F + 0x1p-11F);
    round.use_worker(worker);
    unsigned result = 0;
    for (int i = 0; i < 32; ++i) result = result * 2 + (round(1.0F + 0x1p-11F) & 1U);
    return result;
  };
  EXPECT_EQ(bits(0, 0), bits(0, 5));  // what another worker rounds does not matter
  EXPECT_NE(bits(0, 0), bits(1, 0));
}

TEST(HalfRounding, CountsWhatDoesNotFit) {
  HalfRounding round;
  round(65519.0F);
  round(0x1p-14F);  // the least normal number
  round(0x1p-24F);  // subnormal, and exact
  round(std::numeric_limits<float>::infinity());
  EXPECT_EQ(round.overflows(), 0U);
  EXPECT_EQ(round.underflows(), 0U);
  round(65520.0F);
  round(-1e9F);
  round(0x1.8p-24F);
  round(1e-20F);
  EXPECT_EQ(round.overflows(), 2U);
  EXPECT_EQ(round.underflows(), 2U);
}

TEST(Fp8, HasTheLeastAndLargestNumbersOfItsFormat) {
  EXPECT_EQ(from_quarter(0x01), 0x1p-10F);
  EXPECT_EQ(from_quarter(0x08), 0x1p-7F);  // the least normal number
  EXPECT_EQ(from_quarter(0x7f), 240.0F);
  EXPECT_EQ(from_quarter(0xff), -240.0F);
  EXPECT_TRUE(std::isnan(from_quarter(0x80)));
}

TEST(Fp8, EveryNumberSurvivesTheWayToFloatAndBack) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    ASSERT_EQ(to_quarter(from_quarter(static_cast<Quarter>(bits))), bits);
  }
}

TEST(Fp8, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(from_quarter(to_quarter(1.0625F)), 1.0F);   // halfway to 1.125, which is odd
  EXPECT_EQ(from_quarter(to_quarter(1.1875F)), 1.25F);  // halfway from 1.125 to 1.25
  EXPECT_EQ(from_quarter(to_quarter(0x1.8p-10F)), 0x1p-9F);
  EXPECT_EQ(from_quarter(to_quarter(247.9F)), 240.0F);
  EXPECT_EQ(to_quarter(248.0F), 0x80);
  EXPECT_EQ(to_quarter(-0x1p-12F), 0x00);
}

}  // namespace
}  // namespace lacuna
