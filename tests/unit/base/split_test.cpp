// SPDX-License-Identifier: Apache-2.0
#include "sim/base/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lacuna {
namespace {

using ::testing::ElementsAre;

TEST(Split, PartsAreOneMoreThanSeparatorsAndMayBeEmpty) {
  EXPECT_THAT(split("1,,16", ','), ElementsAre("1", "", "16"));
  EXPECT_THAT(split("wafer.r3.", '.'), ElementsAre("wafer", "r3", ""));
  EXPECT_THAT(split("", ':'), ElementsAre(""));
}

}  // namespace
}  // namespace lacuna
