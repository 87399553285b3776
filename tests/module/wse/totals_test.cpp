// SPDX-License-Identifier: Apache-2.0
#include "models/wse/totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/task_stats.hpp"

namespace lacuna::wse {
namespace {

struct Unit {
  std::array<std::uint64_t, 2> cycles{};
  std::uint64_t words = 0;
};

struct Totals : TotalsOf<Unit> {
  using TotalsOf::TotalsOf;
  CycleTotal works{this, spent<1>, "works", Layer::compute, "Cycles of work."};
  Total words{this, &Unit::words, "words", "words", "Words sent."};
  Counter other{this, "other", "events", "Counted elsewhere."};
  Total twice{this, [](const Unit& unit) { return 2 * unit.words; }, "twice", "words",
              "Both ways."};
};

// Two units of 5 cycles of work and 3 words, and one of 7 and 1: 2 * 5 + 7 and 2 * 3 + 1.
TEST(Totals, AreOfWhatUnitsCountInTheOrderOfDeclaration) {
  Totals sums("units");
  sums.add({{100, 5}, 3}, 2);
  sums.add({{0, 7}, 1});
  std::vector<StatEntry> entries;
  static_cast<const StatGroup&>(sums).add_to(entries);
  std::vector<std::pair<std::string, std::uint64_t>> named;
  for (const StatEntry& entry : entries) named.emplace_back(entry.name, entry.value);
  EXPECT_THAT(named,
              ::testing::ElementsAre(::testing::Pair("works", 17), ::testing::Pair("words", 7),
                                     ::testing::Pair("other", 0), ::testing::Pair("twice", 14)));
}

// 1, 10, 100 and 1,000 words through the four ports are 1,111 hops.
TEST(Totals, OfRoutersAreOfTheNumbersTheyAreDeclaredWith) {
  RouterCounters router;
  router.sent[kNorth] = 1;
  router.sent[kEast] = 10;
  router.sent[kSouth] = 100;
  router.sent[kWest] = 1000;
  LinkTotals links("links");
  links.add(router);
  EXPECT_EQ(links.snapshot(), (std::map<std::string, std::uint64_t>{{"hops", 1111},
                                                                    {"sent_north", 1},
                                                                    {"sent_east", 10},
                                                                    {"sent_south", 100},
                                                                    {"sent_west", 1000}}));
}

// Three units of 2 tasks and 5 words, and one of a task: 3 * 2 + 1 and 3 * 5. Bytes are in no
// statistic, and that the datapath was busy is known of all units together alone: 7 + 15 + 9 = 31.
TEST(Totals, AreOfWhatIsDeclaredWhereItIsCounted) {
  TaskCounters unit;
  unit.tasks += 2;
  unit.received = 5;
  unit.read_bytes = 100;
  TaskCoreStats cores("cores");
  cores.add(unit, 3);
  TaskCounters other;
  ++other.tasks;
  cores.add(other);
  cores.busy += 9;
  const std::map<std::string, std::uint64_t> sums = cores.snapshot();
  EXPECT_EQ(sums.at("tasks_started"), 7U);
  EXPECT_EQ(sums.at("wavelet_deliveries"), 15U);
  EXPECT_EQ(sums.at("busy_cycles"), 9U);
  std::uint64_t all = 0;
  for (const auto& [name, value] : sums) all += value;
  EXPECT_EQ(all, 31U);
}

// 1 + 3 * 10 words and 3 * 2 of the last tally; the later of two ends.
TEST(Totals, OfCoresAreOfAllTheirNumbersAndHaveTheLastEnd) {
  CoreCounters sum;
  sum.words = 1;
  sum.end = 7;
  CoreCounters more;
  more.words = 10;
  more.tallies.back() = 2;
  more.end = 5;
  sum.add(more, 3);
  CoreCounters expected;
  expected.words = 31;
  expected.tallies.back() = 6;
  expected.end = 7;
  EXPECT_TRUE(sum == expected);
}

TEST(Totals, TellUnitsApartByEachNumber) {
  InjectorCounters injector;
  injector.zeros = 1;
  EXPECT_FALSE(injector == InjectorCounters());
  TaskCounters core;
  core.write_bytes = 1;
  EXPECT_FALSE(core == TaskCounters());
  RouterCounters router;
  router.end = 5;  // lanes do not know it
  EXPECT_TRUE(router == RouterCounters());
  router.filtered = 1;
  EXPECT_FALSE(router == RouterCounters());
}

}  // namespace
}  // namespace lacuna::wse
