// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/option_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

TEST(OptionTable, EveryOptionIsOfAVerbAndARequestAndNeedsOneThatThereIs) {
  std::set<std::string> names;
  for (const OptionDeclaration& each : option_table()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_NE(each.verbs, 0U) << each.name;
    EXPECT_NE(each.requests, 0U) << each.name;
    EXPECT_EQ(find_option(each.dashed()), &each);
    if (each.needs[0] == '\0') continue;
    for (const std::string& other : split(each.needs, '|')) {
      EXPECT_NE(find_option("--" + other), nullptr) << each.name;
    }
  }
}

TEST(OptionTable, AFlagHasNoValueAndEveryOtherOptionSaysWhatItsValueIs) {
  for (const OptionDeclaration& each : option_table()) {
    const bool flag = std::holds_alternative<OptionDeclaration::Flag>(each.place);
    EXPECT_EQ(flag, each.value[0] == '\0') << each.name;
  }
}

TEST(OptionTable, AWordOfAnExperimentSetsItsOption) {
  Options options;
  EXPECT_TRUE(say_word(options, "with_dense", "true"));
  EXPECT_TRUE(say_word(options, "x_density", "0.5"));
  EXPECT_TRUE(say_word(options, "weights", "all=2:4 up=0.5"));
  EXPECT_TRUE(options.with_dense);
  EXPECT_EQ(options.x_density, "0.5");
  EXPECT_EQ(options.weights, (std::vector<std::string>{"all=2:4", "up=0.5"}));
  EXPECT_FALSE(say_word(options, "out", "x"));
  EXPECT_THROW(say_word(options, "decode", "yes"), RequestError);
}

TEST(OptionTable, WhatIsBesideAnotherRequestOrLacksWhatItNeedsIsRefusedByName) {
  Options options;
  options.model = "m";
  options.fold = "on";
  const auto message = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const RequestError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { refuse_others(options, kOfModel, "{} no"); }), "--fold no");
  EXPECT_EQ(message([&] { refuse_others(options, kOfRows, "{} no"); }), "--model no");
  options.streams = "2";
  EXPECT_EQ(message([&] { check_needs(options); }), "--streams: needs --kv-in or --kv-out");
  options.kv_out = "8";
  EXPECT_EQ(message([&] { check_needs(options); }), "");
}

// --out, --jobs and --json say how, not what; their values go with them.
TEST(OptionTable, WhatSaysHowIsNoPartOfWhatMakesAResultAgain) {
  Options options;
  options.arguments = {"run", "--out", "x", "--jobs=2", "--seed", "3", "--json"};
  EXPECT_EQ(reproducing_arguments(options),
            (std::vector<std::string>{"run", "--seed", "3", "--engine", "event"}));
}

}  // namespace
}  // namespace lacuna
