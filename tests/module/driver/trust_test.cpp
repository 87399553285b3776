// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string trust(const Ran& ran) {
  return nlohmann::json::parse(ran.out).at(0).at("trust").get<std::string>();
}

TEST(Trust, ATimeOfAMeasuredRateLiesBetweenItsErrors) {
  const Ran ran = run_real("run --quiet --json --machine bow --gemm 256x256x64");
  ASSERT_EQ(ran.status, 0) << ran.err;
  // dense fp16: errors of the rate from -7.7 to 1.5 %
  EXPECT_DOUBLE_EQ(number(ran, "time_low_s"), number(ran, "time_s") * (1 - 0.077));
  EXPECT_DOUBLE_EQ(number(ran, "time_high_s"), number(ran, "time_s") * (1 + 0.015));
  EXPECT_THAT(trust(ran), StartsWith("dense product fp16: 16 points at c3e25e41"));
}

TEST(Trust, CyclesAreDividedByTheirErrors) {
  const Ran ran = run_real(
      "run --quiet --json --layout first --machine wse2 --set wafer.columns=2 --set wafer.rows=2 "
      "--gemm 32x32x16 "
      "--dtype fp32 --mode dynamic --pattern unstructured:0.2 --set kernel.spmm_phases=local");
  ASSERT_EQ(ran.status, 0) << ran.err;
  // csc: errors of the cycles from -0.9 to -0.2 %
  EXPECT_DOUBLE_EQ(number(ran, "time_low_s"), number(ran, "time_s") / (1 - 0.002));
  EXPECT_DOUBLE_EQ(number(ran, "time_high_s"), number(ran, "time_s") / (1 - 0.009));
}

TEST(Trust, ARatioSaysSomethingOfTheSpeedUpAlone) {
  const Ran ran = run_real(
      "run --quiet --json --machine bow --gemm 256x256x64 --pattern block16:0.25 --with-dense");
  ASSERT_EQ(ran.status, 0) << ran.err;
  // blocks of 16: errors of the ratio from -10.4 to 25.2 %
  EXPECT_DOUBLE_EQ(number(ran, "speedup_low"), number(ran, "speedup_vs_dense") / 1.252);
  EXPECT_DOUBLE_EQ(number(ran, "speedup_high"), number(ran, "speedup_vs_dense") / (1 - 0.104));
  EXPECT_TRUE(nlohmann::json::parse(ran.out).at(0).at("time_low_s").is_null());
}

TEST(Trust, AnotherMachineOrRegimeIsNotValidatedHere) {
  for (const char* const request :
       {"--machine gc200 --gemm 64x64x64", "--machine bow --gemm 64x64x64 --set tile.workers=5",
        "--machine bow --gemm 64x64x64 --set ipu.tiles=64",
        "--machine bow --gemm 64x64x64 --pattern block4:0.5 --dtype fp32"}) {
    const Ran ran = run_real(std::string("run --quiet --json ") + request);
    EXPECT_EQ(trust(ran), "not validated here") << request << ran.err;
    EXPECT_TRUE(nlohmann::json::parse(ran.out).at(0).at("time_low_s").is_null()) << request;
  }
}

TEST(Trust, PricesAndTheHostAreBesideIt) {
  const Ran ran =
      run_real("run --quiet --json --machine bow --gemm 64x64x64 --set energy.calibration=2");
  EXPECT_THAT(trust(ran), StartsWith("dense product fp16"));
}

TEST(Trust, DescribeSaysWhoseErrorsConstantsAndAssumptionsThereAre) {
  const Ran ran = run_real("describe trust");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("BERT-Large weight update"));
  EXPECT_EQ(printed_row(ran.out, "gateway.update_ms").front(), "110");
  EXPECT_EQ(printed_row(ran.out, "wse3 core.dispatch").front(), "4");
}

}  // namespace
}  // namespace lacuna::test
