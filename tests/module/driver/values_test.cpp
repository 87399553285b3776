// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_THAT(ran.out, HasSubstr("\"values\": {\n   \"compared\": 512,\n   \"wrong\": 0,\n"));
  EXPECT_THAT(run_real(std::string(kRun) + "--json").out, Not(HasSubstr("values")));
}

// Products of numbers near 10,000 pass the largest half.
TEST(Values, ThatAreNotFiniteHaveNoError) {
  const std::string run = std::string(kRun) + "--values normal:10000";
  const Ran ran = run_real(run);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("against FP64: none is finite, so none has an error;"));
  EXPECT_THAT(ran.err, HasSubstr("0 values are near the reference product, 512 are not finite"));
  const Ran json = run_real(run + " --json");
  EXPECT_THAT(json.out, HasSubstr("\"largest_error\": null,\n   \"rms_error\": null"));
}

TEST(Values, AreIntegersIfNothingElseIsSaid) {
  for (const char* const values : {"--values", "--values integer"}) {
    const Ran ran = run_real(std::string(kRun) + values);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("512 values equal the reference product")) << values;
  }
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
