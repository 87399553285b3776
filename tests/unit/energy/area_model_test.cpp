// SPDX-License-Identifier: Apache-2.0
#include "models/energy/area_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sim/base/error.hpp"
#include "tests/support/energy/chips.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

AreaTable shipped() { return AreaTable::read_areas(test::config_file("area_table.csv")); }

/// A table of two blocks at 7 nm: 2 (1 to 4) and 3 (3 to 3) um2.
AreaTable two_blocks() {
  EnergyRow memory{"memory", "um2", "sram", {}, "A", ""};
  EnergyRow logic{"logic", "um2", "logic", {}, "A", ""};
  memory.nodes.at(1) = {1, 2, 4};
  logic.nodes.at(1) = {3, 3, 3};
  std::vector<EnergyRow> rows;
  rows.push_back(memory);
  rows.push_back(logic);
  return AreaTable("two.csv", rows);
}

Silicon chip_of(double memory, double logic) {
  Silicon silicon;
  silicon.units = 10;
  silicon.unit.push_back({"memory", memory});
  silicon.unit.push_back({"logic", logic});
  return silicon;
}

TEST(AreaModel, TheReferenceHasItsPublishedAreaAndNoRange) {
  // raw: 10 * (3 * 2 + 2 * 3) = 120 um2; 240 mm2 published: a factor of 2 million
  const AreaModel model(two_blocks(), {chip_of(3, 2), Node::n7, 240});
  const ChipArea area = model.area(chip_of(3, 2), Node::n7);
  EXPECT_DOUBLE_EQ(area.mm2.nominal, 240);
  EXPECT_DOUBLE_EQ(area.mm2.low, 240);
  EXPECT_DOUBLE_EQ(area.mm2.high, 240);
  EXPECT_DOUBLE_EQ(area.parts.at(0).mm2.nominal, 120);  // of memory: 60 of the 120 um2
}

TEST(AreaModel, AnotherChipMovesByItsBlocksAndByWhatTheyAreEstimatedAt) {
  const AreaModel model(two_blocks(), {chip_of(3, 2), Node::n7, 240});
  // 3 more of memory: raw 10 * (6 * 2 + 2 * 3) = 180 um2, 3/2 of the reference
  const ChipArea area = model.area(chip_of(6, 2), Node::n7);
  EXPECT_DOUBLE_EQ(area.mm2.nominal, 360);
  // memory at 1: (6 + 6) / (3 + 6) = 4/3 of 240; at 4: (24 + 6) / (12 + 6) = 5/3
  EXPECT_DOUBLE_EQ(area.mm2.low, 320);
  EXPECT_DOUBLE_EQ(area.mm2.high, 400);
}

TEST(AreaModel, WhatIsThereOnceIsNotMultiplied) {
  Silicon with_links = chip_of(3, 2);
  with_links.chip.push_back({"logic", 40});
  const AreaModel model(two_blocks(), {chip_of(3, 2), Node::n7, 240});
  EXPECT_DOUBLE_EQ(model.area(with_links, Node::n7).mm2.nominal, 480);  // 120 + 40 * 3 um2
}

TEST(AreaModel, RefusesABlockWithoutARow) {
  Silicon other = chip_of(1, 1);
  other.unit.push_back({"memry", 1});
  const AreaModel model(two_blocks(), {chip_of(3, 2), Node::n7, 240});
  EXPECT_THAT(
      [&] { model.area(other, Node::n7); },
      ThrowsMessage<RequestError>(HasSubstr("block 'memry' of a chip has no row in two.csv; "
                                            "did you mean 'memory'?")));
}

TEST(AreaTable, OtherNodesAreTheBaseTimesTheFactorOfTheClass) {
  // P100 (TSMC 16 nm) 25.1, A100 (7 nm) 65.6, H100 (5 nm class) 98.3 million transistors a mm2:
  // 2.6 and 0.667; cells of SRAM 0.070, 0.027, 0.021 um2: 2.6 and 0.778
  const std::map<std::string, std::pair<double, double>> factors = {
      {"logic", {2.6, 0.667}}, {"sram", {2.6, 0.778}}, {"io", {1.3, 0.9}}};
  const AreaTable table = shipped();
  for (const EnergyRow& row : table.rows()) {
    const auto& [n16, n5] = factors.at(row.scaling);
    for (const Corner corner : kCorners) {
      const double base = row.price(Node::n7).at(corner);
      EXPECT_NEAR(row.price(Node::n16).at(corner), base * n16, 1e-3 * base) << row.event;
      EXPECT_NEAR(row.price(Node::n5).at(corner), base * n5, 1e-3 * base) << row.event;
    }
  }
}

}  // namespace
}  // namespace lacuna
