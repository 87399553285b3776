// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "sim/base/error.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/wse/target.hpp"

namespace lacuna {
namespace {

std::string value(const Machine& machine, const char* path) {
  return machine.parameters().find(path)->value_text();
}

TEST(Target, OfAWse3SelectsOneOfTwoColumns) {
  const auto machine = make_machine(standard_machines(), "wse3");
  EXPECT_EQ(value(*machine, "target"), "silicon");
  for (const TargetValue& each : target_values()) {
    EXPECT_EQ(value(*machine, each.path), each.silicon) << each.path;
  }
  machine->set("target", "simfabric", "");
  for (const TargetValue& each : target_values()) {
    EXPECT_EQ(value(*machine, each.path), each.simfabric) << each.path;
  }
  EXPECT_EQ(value(*machine, "router.hop"), "2");
}

TEST(Target, LeavesWhatWasSetByItsNameInAnyOrder) {
  const auto before = make_machine(standard_machines(), "wse3");
  before->set("mem.write_share", "0.5", "");
  before->set("target", "simfabric", "");
  EXPECT_EQ(value(*before, "mem.write_share"), "0.5");
  EXPECT_EQ(value(*before, "router.link_cycles"), "1");
  const auto after = make_machine(standard_machines(), "wse3");
  after->set("target", "simfabric", "");
  after->set("mem.write_share", "0.5", "");
  EXPECT_EQ(value(*after, "mem.write_share"), "0.5");
}

TEST(Target, IsRefusedByMachinesOfOneSetOfValues) {
  for (const char* const name :
       {"wse1", "wse2", "wse3_2026_11", "wse3_2026_11_23", "wse3_2026_11_24"}) {
    const auto machine = make_machine(standard_machines(), name);
    EXPECT_EQ(value(*machine, "target"), "none") << name;
    EXPECT_THROW(machine->set("target", "silicon", ""), ParameterError) << name;
    EXPECT_EQ(value(*machine, "target"), "none") << name;
    const bool measured = std::string(name).rfind("wse3_2026_11_2", 0) == 0;
    EXPECT_EQ(value(*machine, "mem.write_share"), measured ? "0.6667" : "0") << name;
  }
  const auto measured = make_machine(standard_machines(), "wse3");
  EXPECT_THROW(measured->set("target", "none", ""), ParameterError);
}

TEST(Target, LeavesTheOldPresetAsItWas) {
  const auto machine = make_machine(standard_machines(), "wse3_2026_11");
  EXPECT_EQ(value(*machine, "clock"), "0.875");
  EXPECT_EQ(value(*machine, "router.hop"), "1");
  EXPECT_EQ(value(*machine, "mem.write_bits"), "64");
  EXPECT_EQ(value(*machine, "core.psum_cache"), "true");
  EXPECT_EQ(value(*machine, "mem.fma32_stalls"), "3");
}

/// A frozen preset has the values of chips but for what was corrected since.
void expect_frozen(const std::string& preset, const std::map<std::string, std::string>& before) {
  const auto frozen = make_machine(standard_machines(), preset);
  for (const TargetValue& each : target_values()) {
    const auto corrected = before.find(each.path);
    EXPECT_EQ(value(*frozen, each.path),
              corrected == before.end() ? each.silicon : corrected->second)
        << preset << ' ' << each.path;
  }
  EXPECT_EQ(value(*frozen, "clock"), "0.75");
  EXPECT_EQ(value(*frozen, "router.hop"), "2");
  EXPECT_EQ(value(*frozen, "llm.moving_descriptors"), "false");
}

// All values of its target by their names, so that it does not move with them.
TEST(Target, OfTheFrozenMeasuredPresetsStandsByItsValues) {
  expect_frozen("wse3_2026_11_23", {{"router.ramp_in", "0"},
                                    {"vec.setup_scalar", "0"},
                                    {"vec.setup_next", "0"},
                                    {"simd.fma16_32", "4"}});
  expect_frozen("wse3_2026_11_24", {{"simd.fma16_32", "4"}, {"vec.setup_next", "0"}});
  const auto frozen = make_machine(standard_machines(), "wse3_2026_11_23");
  EXPECT_EQ(value(*frozen, "llm.exp_degree"), "4");
  EXPECT_EQ(value(*frozen, "llm.exp_squarings"), "5");
  EXPECT_EQ(value(*frozen, "llm.exp_positions"), "0");
  const auto later = make_machine(standard_machines(), "wse3_2026_11_24");
  EXPECT_EQ(value(*later, "llm.exp_degree"), "3");
  EXPECT_EQ(value(*later, "llm.exp_squarings"), "4");
  EXPECT_EQ(value(*later, "llm.exp_positions"), "32");
}

}  // namespace
}  // namespace lacuna
