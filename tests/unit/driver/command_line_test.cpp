// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Options options_of(const std::string& line) { return parse_command_line(split(line, ' ')).options; }

// The word behind an option that may stand alone is its value, unless the verb needs it.
TEST(CommandLine, LeavesAVerbTheWordThatItNeeds) {
  EXPECT_EQ(options_of("run --gemm 8x8x8 --values normal:1").values, "normal:1");
  EXPECT_EQ(options_of("run --values --gemm 8x8x8").values, "");
  const Options last = options_of("sweep --values f.yaml");
  EXPECT_EQ(last.values, "");
  EXPECT_THAT(last.subjects, ElementsAre("f.yaml"));
  EXPECT_EQ(options_of("sweep f.yaml --values integer").values, "integer");
}

TEST(CommandLine, TakesValuesBehindABlankOrAnEqualsSign) {
  const Options options = options_of("run --set=a=1 --set b=-2 --seed=-1 --gemm=8x8x8 --wide");
  EXPECT_THAT(options.settings, ElementsAre("a=1", "b=-2"));
  EXPECT_EQ(options.seed, "-1");
  EXPECT_EQ(options.gemm, "8x8x8");
  EXPECT_TRUE(options.wide);
  EXPECT_FALSE(options_of("run --wide=false").wide);
  EXPECT_THAT([] { options_of("run --wide=maybe"); },
              ThrowsMessage<RequestError>(HasSubstr("allowed: true, false")));
}

TEST(CommandLine, NamesTheVerbAsItIsTyped) {
  const Options options = options_of("trace show -- --odd.csv");
  EXPECT_EQ(options.verb, "trace");
  EXPECT_EQ(options.subverb, "show");
  EXPECT_THAT(options.subjects, ElementsAre("--odd.csv"));
  EXPECT_THAT([] { options_of("trace show"); },
              ThrowsMessage<RequestError>(HasSubstr("lacuna trace show: FILE is required")));
  EXPECT_THAT([] { options_of("trace --seed 1 show t.csv"); },
              ThrowsMessage<RequestError>(HasSubstr("lacuna trace has no option '--seed'")));
}

// The declarations know it: --shard is of verbs with several points.
TEST(CommandLine, AnOptionOfOtherVerbsIsRefusedWithTheirNames) {
  const auto refusal_of = [](const std::string& line) {
    try {
      options_of(line);
    } catch (const RequestError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal_of("run --shard 1/2 --gemm 8x8x8"),
            "lacuna run has no option '--shard'; it is one of lacuna compare, lacuna sweep, "
            "lacuna search");
  EXPECT_EQ(refusal_of("run --version=true"),
            "lacuna run has no option '--version'; it is one of lacuna");
  EXPECT_EQ(refusal_of("run --gem 8x8x8"),
            "lacuna run has no option '--gem'; did you mean '--gemm'?");
}

// A flag of a generator says 1, and a key that may be given several times each of its values.
TEST(CommandLine, KeepsKeysOfWorkloadsInTheOrderOfTheirDeclarations) {
  const Options options =
      options_of("trace make bert --sparse a=nm:2:4 --embedding --sparse b=dense --size base");
  std::vector<std::pair<std::string, std::string>> sorted = options.generator;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_THAT(sorted, ElementsAre(std::pair("embedding", "1"), std::pair("size", "base"),
                                  std::pair("sparse", "a=nm:2:4"), std::pair("sparse", "b=dense")));
}

}  // namespace
}  // namespace lacuna
