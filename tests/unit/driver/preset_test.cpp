// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/fake_machine.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& file) {
  try {
    make_machine(fake_machines(), file);
  } catch (const RequestError& error) {
    return error.what();
  }
  return "accepted";
}

class PresetFile : public ::testing::Test {
 protected:
  std::string refused(const std::string& text) {
    return refusal(bench_.file("config/mine.yaml", text));
  }

  ProgramBench bench_;
};

TEST_F(PresetFile, SetsParametersByNestedAndByDottedKeys) {
  const std::string file = bench_.file(
      "config/mine.yaml", "machine: ipu\nclock: 0.85  # GHz\nunit:\n  count: 7\nunit.macs: 9\n");
  const auto machine = make_machine(fake_machines(), file);
  EXPECT_EQ(machine->name(), "mine");
  EXPECT_EQ(machine->parameters().find("clock")->value_text(), "0.85");
  EXPECT_EQ(machine->parameters().find("unit.count")->value_text(), "7");
  EXPECT_EQ(machine->parameters().find("unit.macs")->value_text(), "9");
}

TEST_F(PresetFile, InheritsFromItsBaseAndOverridesIt) {
  bench_.file("config/parent.yaml", "base: fake\nunit: {count: 7, macs: 3}\n");
  const std::string child = bench_.file("config/child.yaml", "base: parent.yaml\nunit.macs: 5\n");
  const auto machine = make_machine(fake_machines(), child);
  EXPECT_EQ(machine->parameters().find("clock")->value_text(), "2");
  EXPECT_EQ(machine->parameters().find("unit.count")->value_text(), "7");
  EXPECT_EQ(machine->parameters().find("unit.macs")->value_text(), "5");
}

TEST_F(PresetFile, IsFoundByNameInTheConfigurationFolder) {
  EXPECT_EQ(make_machine(fake_machines(), "slow")->parameters().find("clock")->value_text(), "1");
}

TEST_F(PresetFile, UnknownKeyIsRefusedWithPlaceAndNearestName) {
  EXPECT_THAT(refused("base: fake\nunit:\n  cuont: 3\n"),
              AllOf(HasSubstr("'unit.cuont'"), HasSubstr("did you mean 'unit.count'?"),
                    HasSubstr("mine.yaml:3:3")));
}

TEST_F(PresetFile, ValueOutsideItsRangeIsRefusedWithPlaceUnitAndRange) {
  EXPECT_THAT(
      refused("base: fake\nunit: {count: 65}\n"),
      AllOf(HasSubstr("unit.count = 65 units is outside [1, 64]"), HasSubstr("mine.yaml:2:8")));
}

TEST_F(PresetFile, KeyGivenTwiceIsRefusedHoweverItIsWritten) {
  EXPECT_THAT(
      refused("base: fake\nclock: 1\nclock: 2\n"),
      AllOf(HasSubstr("mine.yaml:3:1"), HasSubstr("'clock' is given twice; first in line 2")));
  EXPECT_THAT(refused("base: fake\nunit: {count: 1}\nunit.count: 2\n"),
              HasSubstr("'unit.count' is given twice"));
}

TEST_F(PresetFile, WordOfSeveralLinesIsRefusedInOne) {
  EXPECT_THAT(refused("base: fake\nclock: \"1\n\nunit: {count: 1}\n\"\n"),
              HasSubstr("mine.yaml:2:8: goes on over several lines; is a quote left open?"));
}

TEST_F(PresetFile, BaseOfAnotherMachineIsRefused) {
  EXPECT_THAT(refused("base: fake\nmachine: wse\n"),
              AllOf(HasSubstr("mine.yaml:2:1"), HasSubstr("machine = 'wse'"), HasSubstr("'ipu'")));
}

TEST_F(PresetFile, KindThatIsNotBuiltIsRefusedWithThoseThatAre) {
  EXPECT_THAT(refused("machine: gpu\n"), HasSubstr("machine = 'gpu' is not one of ipu"));
}

TEST_F(PresetFile, WithoutKindAndBaseIsRefused) {
  EXPECT_THAT(refused("clock: 1\n"),
              HasSubstr("needs 'machine: ipu|wse|system' or 'base: NAME|FILE'"));
}

TEST_F(PresetFile, WhatIsNotAMapOfValuesIsRefused) {
  EXPECT_THAT(refused(""), HasSubstr("holds no 'parameter: value' lines"));
  EXPECT_THAT(refused("- a\n- b\n"), HasSubstr("holds no 'parameter: value' lines"));
  EXPECT_THAT(refused("base: fake\nclock: [1, 2]\n"), HasSubstr("'clock' is a list"));
  EXPECT_THAT(refused("base: fake\nclock:\n"), HasSubstr("'clock' has no value"));
  EXPECT_THAT(refused("base: fake\n---\nclock: 1\n"), HasSubstr("a second document begins"));
  EXPECT_THAT(refused("base: fake\n? [a, b]\n: 1\n"), HasSubstr("a key is not a word"));
}

TEST_F(PresetFile, WhatIsNotYamlIsRefusedWithItsPlace) {
  EXPECT_THAT(refused("base: fake\nclock: 'open\n"), HasSubstr("mine.yaml:"));
  EXPECT_THAT(refused("base: fake\n\tclock: 1\n"), HasSubstr("is not YAML"));
  EXPECT_THAT(refused(std::string(200000, '[')), HasSubstr("is not YAML"));
}

TEST_F(PresetFile, ThatIsItsOwnBaseIsRefused) {
  EXPECT_THAT(refused("base: mine\n"), HasSubstr("is '"));
  bench_.file("config/other.yaml", "base: mine\n");
  EXPECT_THAT(refused("base: other\n"), HasSubstr("bases follow each other"));
}

TEST_F(PresetFile, MissingBaseIsRefusedWithThePlaceThatNamesIt) {
  EXPECT_THAT(refused("base: fakw\n"),
              AllOf(HasSubstr("mine.yaml:1:1"), HasSubstr("did you mean 'fake'?")));
}

TEST_F(PresetFile, ThatIsEndlessIsRefusedWithoutReadingItAll) {
  EXPECT_THAT(refusal(bench_.file("config/mine.yaml", std::string(300000, ' '))),
              HasSubstr("is longer than 262144 bytes"));
}

TEST(Setting, GoesToTheMachinesThatHaveItAndToOneAloneIfNamed) {
  const ProgramBench bench;
  const auto machines =
      make_machines(fake_machines(), {"fake", "slow"}, {"unit.count=3", "slow:unit.macs=2"});
  EXPECT_EQ(machines[0]->parameters().find("unit.count")->value_text(), "3");
  EXPECT_EQ(machines[1]->parameters().find("unit.count")->value_text(), "3");
  EXPECT_EQ(machines[0]->parameters().find("unit.macs")->value_text(), "8");
  EXPECT_EQ(machines[1]->parameters().find("unit.macs")->value_text(), "2");
}

}  // namespace
}  // namespace lacuna::test
