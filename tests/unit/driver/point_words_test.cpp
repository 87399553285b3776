// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/point_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "sim/driver/validate/wafer.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

ValidationPoint point(const std::map<std::string, std::string>& parameters) {
  ValidationPoint made;
  made.workload = "some_kernel";
  made.metric = "cycles";
  made.parameters = parameters;
  return made;
}

template <typename Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const Unsupported& unsupported) {
    return unsupported.reason;
  }
  return "";
}

TEST(PointWords, ReadsEachFormAndSaysWhatIsNoneOfIt) {
  const ValidationPoint made = point({{"n", "12"},
                                      {"zero", "0"},
                                      {"clock", "1.1"},
                                      {"grid", "6x4"},
                                      {"hops", "1..8"},
                                      {"bad", "7q"},
                                      {"half", "5x"}});
  const PointWords words(made);
  EXPECT_EQ(words.number("n"), 12U);
  EXPECT_EQ(words.number("absent", 3), 3U);
  EXPECT_EQ(words.count("zero"), 0U);
  EXPECT_DOUBLE_EQ(words.rate("clock"), 1.1);
  EXPECT_EQ(words.sides("grid"), std::make_pair(6U, 4U));
  EXPECT_EQ(words.span("hops"), std::make_pair(1U, 8U));
  EXPECT_EQ(words.span("n"), std::make_pair(12U, 12U));
  EXPECT_THAT(refusal([&] { words.number("zero"); }), "zero = '0' is not a whole number from 1 on");
  EXPECT_THAT(refusal([&] { words.number("bad"); }), HasSubstr("bad = '7q'"));
  EXPECT_THAT(refusal([&] { words.rate("bad"); }), HasSubstr("bad = '7q'"));
  EXPECT_THAT(refusal([&] { words.rate("zero"); }), HasSubstr("not a number above 0"));
  EXPECT_THAT(refusal([&] { words.sides("half"); }), HasSubstr("half = '5x'"));
  EXPECT_THAT(refusal([&] { words.sides("n"); }), HasSubstr("COLUMNSxROWS"));
  EXPECT_THAT(refusal([&] { words.text("absent"); }), "its parameters lack 'absent'");
  EXPECT_THAT(refusal([&] {
                words.require({"time", "rate"});
              }),
              "metric 'cycles' of workload 'some_kernel'");
}

TEST(PointWords, KnowsWhatNobodyAskedFor) {
  const ValidationPoint made = point({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  const PointWords words(made);
  EXPECT_EQ(words.unread(), "'a', 'b', 'c'");
  words.number("b");
  words.has("c");
  EXPECT_EQ(words.unread(), "'a'");
}

// A product on a stated grid is run there and at the stated clock, of halves alone; elsewhere all
// squares are tried.
TEST(PointWords, AMeshProductIsOfItsOwnGridClockAndElement) {
  ValidationPoint made = point({{"k", "512"}, {"n", "256"}, {"dtype", "fp16"}});
  made.system = "CS-2";
  made.workload = "mesh_gemv";
  EXPECT_GT(wafer_recipe(made)->runs.size(), 1U);
  made.parameters["grid"] = "60x40";
  made.parameters["clock_ghz"] = "0.85";
  made.parameters["mood"] = "good";
  const WaferRecipe recipe = *wafer_recipe(made);
  ASSERT_EQ(recipe.runs.size(), 1U);
  EXPECT_THAT(recipe.runs[0].settings,
              testing::ElementsAre("wafer.columns=60", "wafer.rows=40",
                                   testing::StartsWith("kernel.gemv_repeats=")));
  EXPECT_EQ(recipe.runs[0].clock, "0.85");
  EXPECT_EQ(recipe.unread, "'mood'");
  made.parameters["dtype"] = "fp32";
  EXPECT_THAT(wafer_recipe(made)->unsupported, HasSubstr("dtype = 'fp32'"));
}

}  // namespace
}  // namespace lacuna
