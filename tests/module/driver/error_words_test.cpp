// SPDX-License-Identifier: Apache-2.0
// A message says what is wrong, what is allowed, and what was probably meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& line) {
  const Ran ran = run_real("run --gemm 64x64x64 " + line);
  EXPECT_EQ(ran.status, 2) << line;
  return ran.err;
}

TEST(ErrorWords, ARatioAboveOneSaysHowItIsWritten) {
  EXPECT_THAT(refusal("--nm 4:2"), HasSubstr("found '4 of 2'; allowed: N of M with N at most M"));
}

TEST(ErrorWords, ATypeByItsOtherNameIsMeant) {
  EXPECT_THAT(refusal("--dtype float16"), HasSubstr("did you mean 'fp16'?"));
  EXPECT_THAT(refusal("--dtype bfloat16"), HasSubstr("did you mean 'bf16'?"));
}

TEST(ErrorWords, ASettingOfAnotherKindOfMachineSaysWhose) {
  EXPECT_THAT(refusal("--machine bow --set wafer.columns=64"),
              HasSubstr("'wafer.columns' is a parameter of machines of kind wse"));
}

// What is wrong is named as it was typed, not as another verb or file calls it.
TEST(ErrorWords, AWordOfATrainingIsNamedAsItIsTyped) {
  const auto training = [](const std::string& setting) {
    const Ran ran = run_real("run --system-config bert_base_dense --set training." + setting);
    EXPECT_EQ(ran.status, 2) << setting;
    return ran.err;
  };
  EXPECT_THAT(training("dtype=fp32"), HasSubstr("training.dtype: found 'fp32'; allowed: fp16"));
  EXPECT_THAT(training("recipe=foo"), HasSubstr("training.recipe: found 'foo'; allowed: plain"));
  EXPECT_THAT(training("accumulation=0"), HasSubstr("(--set training.accumulation=0)"));
  EXPECT_THAT(training("foo=1"), HasSubstr("no parameter 'foo' (--set training.foo=1)"));
}

TEST(ErrorWords, ATraceWithOtherSeparatorsSaysSoOnce) {
  const TempFile trace("id;op;m;k;n\na;gemm;64;64;64\n");
  const Ran ran = run_real("run --trace " + trace.path());
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("commas between the columns, not ';'"),
                             Not(HasSubstr("no such column"))));
}

}  // namespace
}  // namespace lacuna::test
