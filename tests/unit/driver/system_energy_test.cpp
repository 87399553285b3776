// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/driver/system/energy.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SystemEnergy, TheSumHasAllPartsInEachCorner) {
  const EnergyAccount account = {{{"chips", "operations", {2, 4, 8}},
                                  {"idle", "waiting", {0.5, 1, 3}},
                                  {"links", "links", {0.5, 0.5, 0.5}}}};
  EXPECT_EQ(account.total().low, 3);  // 2 + 0.5 + 0.5
  EXPECT_EQ(account.total().nominal, 5.5);
  EXPECT_EQ(account.total().high, 11.5);
  EXPECT_THAT(test::printed_row(energy_text("energy", account), "all"),
              ElementsAre("5.500", "3.000", "11.50"));
}

TEST(SystemEnergy, WhatHasNoPowerIsSaidToBeLeftOut) {
  EXPECT_EQ(not_counted({{"hosts", 300}}), "");
  EXPECT_THAT(not_counted({{"hosts", 0}, {"switches", 10}, {"pumps", 0}}),
              HasSubstr("standing power of hosts, pumps: none"));
}

}  // namespace
}  // namespace lacuna
