// SPDX-License-Identifier: Apache-2.0
#include "sim/base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lacuna {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> draw(Random random, int count) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(random.next());
  return values;
}

// Outputs of the reference implementations by Vigna, prng.di.unimi.it.
TEST(Mix, IsSplitMix64OfSuccessiveStates) {
  constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15U;
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix(kIncrement), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(mix(kIncrement * 2), 0x06c45d188009454fU);
  EXPECT_EQ(mix(kIncrement * 3), 0xf88bb8a8724c81ecU);
}

TEST(Random, IsXoshiro256StarStar) {
  EXPECT_THAT(draw(Random(std::array<std::uint64_t, 4>{1, 2, 3, 4}), 6),
              ElementsAre(11520U, 0U, 1509978240U, 1215971899390074240U, 1216172134540287360U,
                          607988272756665600U));
}

TEST(Random, TakesItsStateFromTheSeedBySplitMix64) {
  EXPECT_THAT(draw(Random(0), 3),
              ElementsAre(0x99ec5f36cb75f2b4U, 0xbf6e1f784956452aU, 0x1a5f849d4933e6e0U));
  EXPECT_THAT(draw(Random(42), 4), ElementsAre(0x15780b2e0c2ec716U, 0x6104d9866d113a7eU,
                                               0xae17533239e499a1U, 0xecb8ad4703b360a1U));
}

TEST(Random, DrawsBoundedIntegersFromTheTopBits) {
  Random random(42);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 12; ++i) values.push_back(random.bounded(10));
  EXPECT_THAT(values, ElementsAre(1, 6, 9, 4, 5, 9, 1, 2, 6, 9, 5, 7));
}

TEST(Random, DrawsNothingWhenThereIsNoChoice) {
  Random random(42);
  EXPECT_EQ(random.bounded(1), 0U);
  EXPECT_EQ(random.next(), 0x15780b2e0c2ec716U);
}

TEST(Random, DrawsMultiplesOfTwoToTheMinus53) {
  Random random(42);
  EXPECT_EQ(random.unit(), 0.08386297105988216);
  EXPECT_EQ(random.unit(), 0.3789802506626686);
  EXPECT_EQ(random.unit(), 0.6800434110281394);
}

// Over 100,000 draws the mean of a standard normal is within 0.01 (three deviations) of 0, and
// its variance within 0.014 (three deviations) of 1.
TEST(Random, DrawsNormalsOfMeanZeroAndVarianceOne) {
  constexpr int kDraws = 100'000;
  Random random(7);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.gauss();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.014);
}

TEST(Random, DrawsNormalsInPairs) {
  Random uniform(42);
  const double radius = std::sqrt(-2 * std::log(1 - uniform.unit()));
  const double angle = 2 * 3.14159265358979323846 * uniform.unit();
  Random random(42);
  EXPECT_NEAR(random.gauss(), radius * std::cos(angle), 1e-12);
  EXPECT_NEAR(random.gauss(), radius * std::sin(angle), 1e-12);
}

TEST(StreamSeed, DependsOnTheRunAndOnTheNameAlone) {
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("fwd.l0.q"), 0x9432da2789d90351U);
  EXPECT_EQ(stream_seed(7, "fwd.l0.q"), 15240923033603572372U);
}

}  // namespace
}  // namespace lacuna
