// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

struct UnitStats : StatGroup {
  UnitStats() : StatGroup("chip.unit") {}

  Counter issued{this, "issued", "MAC", "Multiply-accumulates issued.", "mac"};
  Counter useful{this, "useful", "MAC", "Of them those with two non-zeros."};
  CycleCounter busy{this, "busy", Layer::compute, "Cycles that issue."};
  CycleCounter idle{this, "idle", Layer::idle, "Cycles without work."};
  Formula share{this, "share", "1", "Useful share.", {&useful}, {&issued}};
  TimeAverage level{this, "level", "words", "Words waiting."};
};

std::vector<std::string> listing(const std::vector<StatEntry>& entries) {
  std::vector<std::string> lines;
  for (const StatEntry& entry : entries) {
    lines.push_back(entry.path + "." + entry.name + " " +
                    (entry.is_real ? std::to_string(entry.real) : std::to_string(entry.value)) +
                    " " + entry.unit);
  }
  return lines;
}

void use(UnitStats& stats, std::uint64_t issued, std::uint64_t useful) {
  stats.issued += issued;
  stats.useful += useful;
  stats.busy += 6;
  stats.idle += 4;
}

TEST(StatGroup, ListsItsStatisticsWithUnits) {
  UnitStats stats;
  use(stats, 8, 2);
  stats.level.set(2, 3);
  stats.level.set(4, 1);
  stats.settle(10);
  std::vector<StatEntry> entries;
  stats.add_to(entries);
  // The level is 0 for 2 cycles, 3 for 2 and 1 for 6: 12 / 10.
  EXPECT_THAT(listing(entries),
              ElementsAre("chip.unit.issued 8 MAC", "chip.unit.useful 2 MAC",
                          "chip.unit.busy 6 cycles", "chip.unit.idle 4 cycles",
                          "chip.unit.share 0.250000 1", "chip.unit.level 1.200000 words"));
}

// 2 / 8 and 30 / 32 make 32 / 40, which is not the mean of the quotients.
TEST(StatsRegistry, SumsTheUnitsOfAPathAndTakesQuotientsAfterwards) {
  UnitStats a;
  UnitStats b;
  use(a, 8, 2);
  use(b, 32, 30);
  StatsRegistry registry;
  registry.attach(a, "unit0");
  registry.attach(b, "unit1");
  const std::vector<StatEntry> entries = registry.summed();
  EXPECT_EQ(entries.at(0).value, 40U);
  EXPECT_EQ(entries.at(0).action, "mac");
  EXPECT_EQ(entries.at(4).name, "share");
  EXPECT_DOUBLE_EQ(entries.at(4).real, 0.8);
}

TEST(StatsRegistry, ListsEachUnitApartOnRequest) {
  UnitStats a;
  UnitStats b;
  use(a, 8, 2);
  use(b, 32, 30);
  StatsRegistry registry;
  registry.attach(a, "unit0");
  registry.attach(b, "unit1");
  const std::vector<std::string> lines = listing(registry.per_unit());
  EXPECT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines.at(0), "unit0.chip.unit.issued 8 MAC");
  EXPECT_EQ(lines.at(6), "unit1.chip.unit.issued 32 MAC");
}

TEST(StatsRegistry, SumsCycleStacksLowestLayerFirst) {
  struct Late : StatGroup {
    Late() : StatGroup("late") {}
    CycleCounter idle{this, "idle", Layer::idle, "Cycles without work."};
    CycleCounter send{this, "send", Layer::exchange, "Cycles that send."};
  } late;
  UnitStats stats;
  use(stats, 1, 1);
  late.send += 9;
  ++late.idle;
  StatsRegistry registry;
  registry.attach(late);
  registry.attach(stats);
  EXPECT_THAT(registry.stack(), ElementsAre(StackPart{Layer::compute, "busy", 6},
                                            StackPart{Layer::exchange, "send", 9},
                                            StackPart{Layer::idle, "idle", 5}));
  EXPECT_NO_THROW(check_stack("both", registry.stack(), 2, 10));
  EXPECT_NO_THROW(registry.check(10));
}

TEST(StatsRegistry, NamesTheUnitThatBookedTooFewCycles) {
  UnitStats a;
  UnitStats b;
  use(a, 8, 2);
  use(b, 8, 2);
  ++b.idle;
  StatsRegistry registry;
  registry.attach(a, "unit0");
  registry.attach(b, "unit1");
  EXPECT_THAT([&] { registry.check(10); },
              ThrowsMessage<AccountingError>(
                  StrEq("the cycle stack of unit1 sums to 11, but 1 units lived 10 cycles, which "
                        "is 10 (compute.busy 6, idle.idle 5)")));
}

TEST(CycleStack, IsRefusedIfItsPartsDoNotSumToUnitsTimesCycles) {
  EXPECT_THAT(
      [] {
        check_stack("a wafer", {{Layer::sync, "barrier", 19}}, 2, 10);
      },
      ThrowsMessage<AccountingError>(HasSubstr("a wafer sums to 19")));
}

}  // namespace
}  // namespace lacuna
