// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRun = "run --machine bow --set ipu.tiles=16 --gemm 32x32x16 ";

TEST(Values, OfANormalDistributionReportTheErrorsAgainstFp64) {
  const Ran ran = run_real(std::string(kRun) + "--values normal:0.5");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("bow, gemm: 512 values of normal:0.5 against FP64: error at most"));
  EXPECT_THAT(ran.err, HasSubstr("512 values are near the reference product"));
}

TEST(Values, AreInTheSummaryAsJson) {
  const Ran ran = run_real(std::string(kRun) + "--values normal:0.5 --json");
  const nlohmann::json row = nlohmann::json::parse(ran.out).at(0);
  EXPECT_EQ(row.at("values").at("compared"), 32 * 16);
  EXPECT_EQ(row.at("values").at("wrong"), 0);
  const Ran without = run_real(std::string(kRun) + "--json");
  EXPECT_FALSE(nlohmann::json::parse(without.out).at(0).contains("values"));
}

// Products of numbers near 10,000 pass the largest half.
TEST(Values, ThatAreNotFiniteHaveNoError) {
  const std::string run = std::string(kRun) + "--values normal:10000";
  const Ran ran = run_real(run);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("against FP64: none is finite, so none has an error;"));
  EXPECT_THAT(ran.err, HasSubstr("0 values are near the reference product, 512 are not finite"));
  const Ran json = run_real(run + " --json");
  const nlohmann::json values = nlohmann::json::parse(json.out).at(0).at("values");
  EXPECT_TRUE(values.at("largest_error").is_null());
  EXPECT_TRUE(values.at("rms_error").is_null());
}

TEST(Values, AreIntegersIfNothingElseIsSaid) {
  for (const char* const values : {"--values", "--values integer"}) {
    const Ran ran = run_real(std::string(kRun) + values);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("512 values equal the reference product")) << values;
  }
}

// histogram.yaml says of each of its 16 bins what it should hold; line.yaml says nothing.
TEST(Values, OfAProgramAreComparedWithWhatItExpectsNotWithAProduct) {
  const std::string run =
      "run --machine wse2 --values --program " + source_path("traces/programs/");
  EXPECT_THAT(run_real(run + "histogram.yaml").err,
              HasSubstr("16 values equal what its program expects"));
  EXPECT_THAT(run_real(run + "line.yaml").err,
              HasSubstr("nothing says what the results should be"));
}

TEST(Values, OfAnUnknownKindAreRefusedWithTheKinds) {
  const Ran ran = run_real(std::string(kRun) + "--values norml:1");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--values: found 'norml:1'; allowed: integer, normal:SIGMA; did "
                                 "you mean 'normal:1'?"));
  for (const char* const kind :
       {"normal:", "normal:-1", "normal:nan", "normal:1x", "normal:1e99"}) {
    EXPECT_EQ(run_real(std::string(kRun) + "--values " + kind).status, 2) << kind;
  }
}

}  // namespace
}  // namespace lacuna::test
