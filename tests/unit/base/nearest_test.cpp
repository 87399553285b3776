// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <gtest/gtest.h>

namespace lacuna::test {
namespace {

TEST(Nearest, IsTheCandidateWithTheFewestLettersToChange) {
  EXPECT_EQ(nearest("ouput", {"input", "output"}), "output");
  EXPECT_EQ(nearest("aab", {"aac", "aad"}), "aac");  // the first on ties
}

TEST(Nearest, IsNothingBeyondTheLimit) {
  EXPECT_EQ(nearest("abcd", {"xyzd"}, 2), "");
  EXPECT_EQ(nearest("abcd", {}, 2), "");
}

TEST(Nearest, DoesNotMindCapitalLetters) { EXPECT_EQ(nearest("BOW", {"gc2", "bow"}, 0), "bow"); }

}  // namespace
}  // namespace lacuna::test
