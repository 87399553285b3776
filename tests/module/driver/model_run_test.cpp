// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

double number(const Ran& ran, const std::string& name) {
  const std::size_t at = ran.out.find("\"" + name + "\": ");
  return at == std::string::npos ? -1 : std::stod(ran.out.substr(at + name.size() + 4));
}

// A chunk waits for the slowest block, so that each of the chunks after the first adds a turn of
// it, the longer the more chunks of keys there are: four chunks take less than twice two, and more
// than two chunks and two turns.
TEST(ModelRun, APromptIsChunksInAPipelineOfBlocks) {
  const std::string line = "run --json --model qwen3-1.7b --machine wse3 --prefill ";
  const Ran two = run_real(line + "512");
  ASSERT_EQ(two.status, 0) << two.err;
  const Ran four = run_real(line + "1024");
  EXPECT_EQ(number(two, "chunks"), 2);
  EXPECT_EQ(number(four, "chunks"), 4);
  const double turn = 4 * number(two, "layer_of_first_chunk_cycles");  // four layers in a block
  EXPECT_GT(number(four, "prompt_cycles"), number(two, "prompt_cycles") + 2 * turn);
  EXPECT_LT(number(four, "prompt_cycles"), 2 * number(two, "prompt_cycles"));
  const Ran padded = run_real(line + "300");
  EXPECT_EQ(number(padded, "padded_tokens"), 212);
  EXPECT_EQ(number(padded, "prompt_cycles"), number(two, "prompt_cycles"));
}

TEST(ModelRun, RefusesWhatDoesNotGoTogether) {
  const auto error = [](const std::string& words) {
    const Ran ran = run_real("run --model qwen3-1.7b --machine wse3 " + words);
    EXPECT_NE(ran.status, 0) << words;
    return ran.err;
  };
  EXPECT_THAT(error(""), HasSubstr("one of --decode and --prefill N"));
  EXPECT_THAT(error("--decode --prefill 512"), HasSubstr("one of --decode and --prefill N"));
  EXPECT_THAT(error("--prefill 512 --batch 2"), HasSubstr("--batch does not go with --prefill"));
  EXPECT_THAT(error("--decode --chunk 64"), HasSubstr("--chunk needs --prefill"));
  EXPECT_THAT(error("--prefill 0"), HasSubstr("found '0'"));
  EXPECT_THAT(run_real("run --model llama3-8b --machine wse3 --prefill 256").err,
              HasSubstr("bytes of a core"));
}

}  // namespace
}  // namespace lacuna::test
