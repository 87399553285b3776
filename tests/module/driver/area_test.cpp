// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/area.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

double predicted(const std::string& name, const std::vector<std::string>& settings = {}) {
  const auto machines = make_machines(standard_machines(), {name}, settings);
  return Areas(config_folder()).predicted(*machines.front())->mm2.nominal;
}

double used(const std::string& name) {
  const auto machine = make_machine(standard_machines(), name);
  return Areas(config_folder()).unit(*machine)->mm2.nominal * machine->silicon().units;
}

TEST(Area, TheTwoChipsThatScaleTheModelHaveTheirPublishedAreas) {
  EXPECT_NEAR(predicted("gc200"), 823, 1e-6);
  EXPECT_NEAR(predicted("wse2"), 46225, 1e-3);
  EXPECT_NEAR(predicted("bow"), 823, 1e-6);   // the same die
  EXPECT_NEAR(predicted("c600"), 823, 1e-6);  // FP8 is made of the multipliers of FP16
}

TEST(Area, TheOthersArePredictedWithinAQuarter) {
  // the errors themselves are in doc/model/area.md
  EXPECT_NEAR(predicted("gc2") / 815, 1.12, 0.02);
  EXPECT_NEAR(predicted("wse3") / 46225, 0.85, 0.02);
  EXPECT_NEAR(predicted("wse1") / 46225, 1.22, 0.02);
}

TEST(Area, CalibrationGivesEveryPublishedChipItsArea) {
  EXPECT_NEAR(used("gc2"), 815, 1);
  EXPECT_NEAR(used("wse1"), 46225, 50);
  EXPECT_NEAR(used("wse3"), 46225, 50);
}

TEST(Area, ACoreOfAWse2HasItsPublishedSize) {
  // 228 x 170 um (Hot Chips 34), before what is beside cores
  const auto machine = make_machine(standard_machines(), "wse2");
  const ChipArea area = *Areas(config_folder()).predicted(*machine);
  double cores = 0;
  for (const AreaPart& part : area.parts) {
    if (part.block != "serial_gbs") cores += part.mm2.nominal / area.scale;
  }
  EXPECT_NEAR(cores / 850000 * 1e6, 38760, 100);
}

TEST(Area, FollowsTheParameters) {
  // 192 more multipliers (131 um2) and FP16 adders (109 um2), 192 x 96 bits of registers (0.4 um2)
  // on 1,472 tiles: 192 * 278.4 um2 = 0.05345 mm2 a tile, 78.7 mm2, times the scale of 1.54
  const double wide = predicted("bow", {"tile.amp.fp16_macs=256"});
  EXPECT_NEAR(wide - 823, 78.7 * 1.545, 1);
  EXPECT_GT(predicted("bow", {"tile.workers=12"}), 823);
  EXPECT_GT(predicted("bow", {"tile.memory.kib=1248"}), 823 * 1.5);
  EXPECT_LT(predicted("wse2", {"mem.kib=24"}), 46225);
  EXPECT_GT(predicted("wse2", {"router.entries=8"}), 46225);
  EXPECT_GT(predicted("wse2", {"simd.fma16=16"}), 46225);
}

TEST(Area, IsInTheTablesOfAComparison) {
  const std::string base = "compare --machine bow --set ipu.tiles=16 --gemm 64x64x64 --json";
  const Ran plain = run_real(base);
  const Ran wide = run_real(base + " --set tile.amp.fp16_macs=256");
  ASSERT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(wide.status, 0) << wide.err;
  // 16 of 1,472 tiles: 823 * 16 / 1472
  EXPECT_DOUBLE_EQ(number(plain, "silicon_mm2"), 823.0 * 16 / 1472);
  EXPECT_NEAR(number(wide, "silicon_mm2"), 10.25, 0.05);
  EXPECT_GT(number(plain, "gflops_per_mm2"), 0);
}

}  // namespace
}  // namespace lacuna::test
