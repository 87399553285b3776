// SPDX-License-Identifier: Apache-2.0
// Rows of a layer in groups of columns: products wherever their weights live, functions, heads of
// attention and gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

/// Of seven tokens, so that two groups that share them have one of padding.
Ran run_layer(const std::string& made, const std::string& settings) {
  const ProgramBench bench;
  const std::string path = bench.path("layer.csv");
  EXPECT_EQ(
      run_real("trace make bert-tiny --layers 1 --tokens 7 --out " + path + " " + made).status, 0);
  return run_real(
      "run --machine wse2 --set wafer.columns=6 --set wafer.rows=8 --values "
      "--set ws.groups=2 --trace " +
      path + " " + settings);
}

TEST(GroupTraces, RunEveryRowOfALayerWithWeightsInEitherPlace) {
  for (const char* const share : {"rows", "tokens"}) {
    for (const char* const residency : {"streamed", "resident"}) {
      const Ran ran = run_layer("", std::string("--set ws.lie=interleaved --set ws.share=") +
                                        share + " --residency " + residency);
      EXPECT_EQ(ran.status, 0) << share << residency << ran.err;
      EXPECT_THAT(ran.out + ran.err, HasSubstr("values equal the reference product"));
    }
  }
}

TEST(GroupTraces, RunGradientsOfSparseAndDenseWeightsWithEitherShare) {
  for (const char* const share : {"", "--set ws.lie=interleaved --set ws.share=tokens",
                                  "--set ws.share=tokens --set ws.copies=idealised"}) {
    const Ran ran = run_layer("--part training --sparse *.ffn*=unstructured:0.2", share);
    EXPECT_EQ(ran.status, 0) << share << ran.err;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("values equal the reference product"));
  }
}

}  // namespace
}  // namespace lacuna::test
