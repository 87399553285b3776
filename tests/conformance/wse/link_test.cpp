// SPDX-License-Identifier: Apache-2.0
#include "models/wse/fabric/link.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/base/random.hpp"

namespace lacuna::wse {
namespace {

/// A link in an array keeps the contract of Channel.
class LinkConformance : public ::testing::Test {
 protected:
  Agendas agendas_;  // never started: nobody is woken
  LinkArray links_{agendas_};
};

Wavelet word(std::uint32_t payload) { return {payload, Color{0}, false}; }

TEST_F(LinkConformance, AWordPushedInOneCycleCanBePoppedALatencyLater) {
  const LinkId link = links_.add({2, 3}, kNoUnit, kNoUnit);
  EXPECT_EQ(links_.push(link, 10, word(7)), 13U);
  EXPECT_FALSE(links_.can_pop(link, 12));
  ASSERT_TRUE(links_.can_pop(link, 13));
  EXPECT_EQ(links_.pop(link, 13).payload, 7U);
}

TEST_F(LinkConformance, ASlotFreedInOneCycleCanBeFilledInTheNext) {
  const LinkId link = links_.add({1, 1}, kNoUnit, kNoUnit);
  links_.push(link, 0, word(7));
  links_.pop(link, 1);
  EXPECT_FALSE(links_.can_push(link, 1));
  EXPECT_TRUE(links_.can_push(link, 2));
}

TEST_F(LinkConformance, TwoSlotsFreedInOneCycleCanBothBeFilledInTheNext) {
  const LinkId link = links_.add({2, 1}, kNoUnit, kNoUnit);
  links_.push(link, 0, word(1));
  links_.push(link, 0, word(2));
  links_.pop(link, 1);
  links_.pop(link, 1);
  EXPECT_FALSE(links_.can_push(link, 1));
  EXPECT_TRUE(links_.can_push(link, 2, 2));
}

TEST_F(LinkConformance, TwoEntriesSustainOneWordPerCycleWhateverTheLatency) {
  for (const Cycle latency : {1U, 2U, 7U}) {
    const LinkId link =
        links_.add({2 + static_cast<unsigned>(latency) - 1, latency}, kNoUnit, kNoUnit);
    for (Cycle now = 0; now < 50; ++now) {
      ASSERT_TRUE(links_.can_push(link, now)) << "cycle " << now;
      links_.push(link, now, word(1));
      if (now >= latency) links_.pop(link, now);
    }
  }
}

/// A word is held from the cycle in which it was pushed on, whether it can be popped yet or not.
TEST_F(LinkConformance, ASetTellsWhichOfItsLinksHoldWords) {
  const LinkId first = links_.add({2, 3}, kNoUnit, kNoUnit);
  const LinkId second = links_.add({2, 3}, kNoUnit, kNoUnit);
  const LinkId outside = links_.add({2, 3}, kNoUnit, kNoUnit);
  links_.push(first, 0, word(1));  // before it is in a set
  const std::uint32_t set = links_.add_set();
  links_.put_in_set(first, set, 0);
  links_.put_in_set(second, set, 5);
  links_.push(outside, 0, word(1));
  EXPECT_EQ(links_.held(set), 1U);
  links_.push(second, 1, word(2));
  links_.push(second, 1, word(3));
  EXPECT_EQ(links_.held(set), 0x21U);
  links_.pop(first, 3);
  links_.pop(second, 4);
  EXPECT_EQ(links_.held(set), 0x20U);
  links_.pop(second, 4);
  EXPECT_EQ(links_.held(set), 0U);
}

TEST_F(LinkConformance, DelaysKeepTheOrderAndLoseNothing) {
  const LinkId link = links_.add({4, 2}, kNoUnit, kNoUnit);
  links_.jitter(5, 3);
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  Random random(1);
  for (Cycle now = 0; received < 500; ++now) {
    if (links_.can_pop(link, now) && random.bounded(3) != 0) {
      ASSERT_EQ(links_.pop(link, now).payload, received++);
    }
    if (sent < 500 && links_.can_push(link, now)) links_.push(link, now, word(sent++));
  }
  EXPECT_EQ(links_.words(), 0U);
}

}  // namespace
}  // namespace lacuna::wse
