// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lacuna::test {
namespace {

TEST(Nearest, IsTheCandidateWithTheFewestLettersToChange) {
  EXPECT_EQ(nearest("ouput", {"input", "output"}), "output");
  EXPECT_EQ(nearest("aab", {"aac", "aad"}), "aac");  // the first on ties
}

// Of four letters one may be wrong, of five two, of any number four.
TEST(Nearest, IsNothingBeyondAThirdOfTheLetters) {
  EXPECT_EQ(nearest("abcd", {"xycd"}), "");
  EXPECT_EQ(nearest("abcd", {"xbcd"}), "xbcd");
  EXPECT_EQ(nearest("rnu", {"run"}), "run");  // letters that have changed places are one mistake
  EXPECT_EQ(nearest("abcde", {"xycde"}), "xycde");
  EXPECT_EQ(nearest("abcde", {"xyzde"}), "");
  EXPECT_EQ(nearest("abcdefghijklmnopqrst", {"12345fghijklmnopqrst"}), "");
  EXPECT_EQ(nearest("abcdefghijklmnopqrst", {"1234efghijklmnopqrst"}), "1234efghijklmnopqrst");
  EXPECT_EQ(nearest("abcd", {}), "");
}

TEST(Nearest, DoesNotMindCapitalLetters) { EXPECT_EQ(nearest("BOW", {"gc2", "bow"}), "bow"); }

// A part of a name counts as the name does, and what is further than a third of the letters not at
// all: of six letters two may be wrong.
TEST(NearWords, KnowsPartsOfNamesAndWouldRatherSayNothing) {
  const std::vector<std::string> names = {"router.hop", "router.ramp", "tile.memory.kib", "rows"};
  EXPECT_EQ(near_words("rooter", names), (std::vector<std::string>{"router.hop", "router.ramp"}));
  EXPECT_EQ(near_words("memory", names), (std::vector<std::string>{"tile.memory.kib"}));
  EXPECT_TRUE(near_words("energy", names).empty());
  EXPECT_EQ(hint_of("tile.memory.kbi", names), "; did you mean 'tile.memory.kib'?");
  EXPECT_EQ(hint_of("rooter", names), "; did you mean 'router.hop' or 'router.ramp'?");
  EXPECT_EQ(hint_of("zzzzzz", names), "");
}

}  // namespace
}  // namespace lacuna::test
