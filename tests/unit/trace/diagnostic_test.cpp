// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/diagnostic.hpp"

#include <gtest/gtest.h>

namespace lacuna::test {
namespace {

TEST(Quotable, KeepsTextOfAnyAlphabet) { EXPECT_EQ(quotable("naïve ☃"), "naïve ☃"); }

TEST(Quotable, ShowsBytesThatAreNoTextAsNumbers) {
  EXPECT_EQ(quotable("a\x1b[2J\x7f"), "a\\x1b[2J\\x7f");
  // 0xff begins no character; 0xc3 begins one that the '(' does not go on with
  EXPECT_EQ(quotable("a\xff\xc3(☃"), "a\\xff\\xc3(☃");
  EXPECT_EQ(quotable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Quotable, IsShortened) { EXPECT_EQ(quotable(std::string(100, 'x')).size(), 83U); }

}  // namespace
}  // namespace lacuna::test
