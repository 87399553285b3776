// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/sweep_condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "sim/base/error.hpp"

namespace lacuna::test {
namespace {

bool holds(const std::string& text) {
  const std::map<std::string, std::string> values = {
      {"block", "4"}, {"density", "0.1"}, {"pattern", "dense"}, {"tile.memory.kib", "624"}};
  return SweepCondition(text, "study.yaml:3:8").holds([&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

std::string refusal_of(const std::string& text) {
  try {
    holds(text);
  } catch (const RequestError& error) {
    return error.what();
  }
  return "none";
}

TEST(SweepCondition, ComparesNumbersAsNumbersAndWordsAsWords) {
  EXPECT_TRUE(holds("block == 4.0"));
  EXPECT_TRUE(holds("block<=4"));
  EXPECT_FALSE(holds("block > 4"));
  EXPECT_TRUE(holds("density >= 0.1"));
  EXPECT_TRUE(holds("pattern == dense"));
  EXPECT_TRUE(holds("pattern != block-wise"));
  EXPECT_TRUE(holds("tile.memory.kib == 624"));
}

TEST(SweepCondition, AndBindsTighterThanOrAndParenthesesTighterThanBoth) {
  EXPECT_TRUE(holds("block == 4 or block == 8 and density > 1"));
  EXPECT_FALSE(holds("(block == 4 or block == 8) and density > 1"));
  EXPECT_TRUE(holds("not block == 8 and not density > 1"));
}

TEST(SweepCondition, DoesSumsAndProductsFromTheLeft) {
  EXPECT_TRUE(holds("block * density < 0.5"));
  EXPECT_TRUE(holds("block - 1 - 1 == 2"));
  EXPECT_TRUE(holds("16 / block / 2 + 1 == 3"));
}

TEST(SweepCondition, RefusesWhatItDoesNotUnderstandWithPlaceAndWord) {
  EXPECT_THAT(refusal_of("block = 4"),
              ::testing::HasSubstr("study.yaml:3:8: the condition 'block = 4' "
                                   "is not understood at '='"));
  EXPECT_THAT(refusal_of("block =="), ::testing::HasSubstr("at its end"));
  EXPECT_THAT(refusal_of("(block == 4"), ::testing::HasSubstr("at its end"));
  EXPECT_THAT(refusal_of("block"), ::testing::HasSubstr("is a value, and no comparison"));
  EXPECT_THAT(refusal_of("pattern < 4"),
              ::testing::HasSubstr("needs a number where a point has 'dense'"));
  EXPECT_THAT(refusal_of("blok < 4"),
              ::testing::HasSubstr("needs a number where a point has 'blok'"));
  EXPECT_THAT(refusal_of("blok != 8"),
              ::testing::HasSubstr("compares 'blok' with '8', and neither names a value"));
  EXPECT_THAT(refusal_of("block == 4 and 1 == 1"), ::testing::HasSubstr("neither names a value"));
}

}  // namespace
}  // namespace lacuna::test
