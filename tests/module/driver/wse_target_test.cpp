// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
  for (const char* const name : {"wse1", "wse2"}) {
    const auto machine = make_machine(standard_machines(), name);
    EXPECT_EQ(value(*machine, "target"), "none") << name;
    EXPECT_THROW(machine->set("target", "silicon", ""), ParameterError) << name;
    EXPECT_EQ(value(*machine, "target"), "none") << name;
    EXPECT_EQ(value(*machine, "mem.write_share"), "0") << name;
  }
  const auto measured = make_machine(standard_machines(), "wse3");
  EXPECT_THROW(measured->set("target", "none", ""), ParameterError);
}

}  // namespace
}  // namespace lacuna
