// SPDX-License-Identifier: Apache-2.0
#include "models/wse/sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lacuna::wse {
namespace {

struct Unit {
  std::array<std::uint64_t, 2> cycles{};
  std::uint64_t words = 0;
};

struct Sums : SumsOf<Unit> {
  using SumsOf::SumsOf;
  CycleSum works{this, spent<1>, "works", Layer::compute, "Cycles of work."};
  Sum words{this, &Unit::words, "words", "words", "Words sent."};
  Counter other{this, "other", "events", "Counted elsewhere."};
  Sum twice{this, [](const Unit& unit) { return 2 * unit.words; }, "twice", "words", "Both ways."};
};

// Two units of 5 cycles of work and 3 words, and one of 7 and 1: 2 * 5 + 7 and 2 * 3 + 1.
TEST(Sums, AreOfWhatUnitsCountInTheOrderOfDeclaration) {
  Sums sums("units");
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
TEST(Sums, OfRoutersAreOfTheNumbersTheyAreDeclaredWith) {
  RouterCounters router;
  router.sent[kNorth] = 1;
  router.sent[kEast] = 10;
  router.sent[kSouth] = 100;
  router.sent[kWest] = 1000;
  LinkSums links("links");
  links.add(router);
  EXPECT_EQ(links.snapshot(), (std::map<std::string, std::uint64_t>{{"hops", 1111},
                                                                    {"sent_north", 1},
                                                                    {"sent_east", 10},
                                                                    {"sent_south", 100},
                                                                    {"sent_west", 1000}}));
}

}  // namespace
}  // namespace lacuna::wse
