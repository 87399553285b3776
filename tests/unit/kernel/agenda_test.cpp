// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/agenda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint32_t> take(Agenda& agenda, Cycle now) {
  std::vector<std::uint32_t> due;
  agenda.take(now, due);
  std::sort(due.begin(), due.end());
  return due;
}

TEST(Agenda, IsEmptyAtFirst) {
  Agenda agenda;
  EXPECT_EQ(agenda.next(), kNever);
  EXPECT_THAT(take(agenda, 1000), IsEmpty());
}

TEST(Agenda, KeepsNearAndFarAppointmentsInTheOrderOfCycles) {
  Agenda agenda;
  agenda.book(1'000'000, 3);
  agenda.book(2, 1);
  agenda.book(257, 2);
  EXPECT_EQ(agenda.next(), 2U);
  EXPECT_THAT(take(agenda, 2), ElementsAre(1));
  EXPECT_EQ(agenda.next(), 257U);
  EXPECT_THAT(take(agenda, 257), ElementsAre(2));
  EXPECT_EQ(agenda.next(), 1'000'000U);
  EXPECT_THAT(take(agenda, 999'999), IsEmpty());
  EXPECT_THAT(take(agenda, 1'000'000), ElementsAre(3));
  EXPECT_EQ(agenda.next(), kNever);
}

TEST(Agenda, PutsAnAppointmentInThePastToTheFirstCycleNotTaken) {
  Agenda agenda;
  take(agenda, 9);
  agenda.book(3, 5);
  EXPECT_EQ(agenda.next(), 10U);
}

TEST(Agenda, AgreesWithASortedMapOverManyRandomBookings) {
  Random random(1);
  Agenda agenda;
  std::multimap<Cycle, std::uint32_t> expected;
  Cycle now = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    // Mostly near, sometimes beyond the ring.
    const Cycle at = now + 1 + random.bounded(random.bounded(8) == 0 ? 2000 : 200);
    agenda.book(at, i);
    expected.emplace(at, i);
    if (random.bounded(3) != 0) continue;
    ASSERT_EQ(agenda.next(), expected.begin()->first);
    now += random.bounded(100);
    std::vector<std::uint32_t> wanted;
    while (!expected.empty() && expected.begin()->first <= now) {
      wanted.push_back(expected.begin()->second);
      expected.erase(expected.begin());
    }
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(take(agenda, now), wanted);
    if (expected.empty()) expected.emplace(now + 1, i), agenda.book(now + 1, i);
  }
}

}  // namespace
}  // namespace lacuna
