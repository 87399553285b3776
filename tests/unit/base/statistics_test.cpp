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
};

std::vector<std::string> listing(const std::vector<StatEntry>& entries) {
  std::vector<std::string> lines;
  for (const StatEntry& entry : entries) {
    lines.push_back(entry.path + "." + entry.name + " " + std::to_string(entry.value) + " " +
                    entry.unit);
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
  std::vector<StatEntry> entries;
  stats.add_to(entries);
  EXPECT_THAT(listing(entries), ElementsAre("chip.unit.issued 8 MAC", "chip.unit.useful 2 MAC",
                                            "chip.unit.busy 6 cycles", "chip.unit.idle 4 cycles"));
}

// 8 and 32 are 40.
TEST(StatGroup, IsSummedWithOthersOfItsPath) {
  UnitStats a;
  UnitStats b;
  use(a, 8, 2);
  use(b, 32, 30);
  std::vector<StatEntry> entries;
  a.add_to(entries);
  b.add_to(entries);
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries.at(0).value, 40U);
  EXPECT_EQ(entries.at(0).action, "mac");
}

TEST(StatGroup, AddsItsPartsToAStack) {
  struct Late : StatGroup {
    Late() : StatGroup("late") {}
    CycleCounter idle{this, "idle", Layer::idle, "Cycles without work."};
    CycleCounter send{this, "send", Layer::exchange, "Cycles that send."};
  } late;
  UnitStats stats;
  use(stats, 1, 1);
  late.send += 9;
  ++late.idle;
  std::vector<StackPart> parts;
  late.add_to(parts);
  stats.add_to(parts);
  EXPECT_THAT(parts,
              ElementsAre(StackPart{Layer::idle, "idle", 5}, StackPart{Layer::exchange, "send", 9},
                          StackPart{Layer::compute, "busy", 6}));
  EXPECT_NO_THROW(check_stack("both", parts, 2, 10));
}

TEST(CycleStack, NamesTheUnitThatBookedTooManyCycles) {
  UnitStats stats;
  use(stats, 8, 2);
  ++stats.idle;
  std::vector<StackPart> parts;
  stats.add_to(parts);
  EXPECT_THAT([&] { check_stack("unit1", parts, 1, 10); },
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
