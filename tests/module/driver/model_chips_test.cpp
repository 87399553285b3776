// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Four layers of grouped queries on chips of 32 tiles; small enough to simulate in no time.
class ModelOnChips : public ::testing::Test {
 protected:
  void SetUp() override {
    write("small.json",
          R"({"model_type": "qwen3", "hidden_size": 256, "intermediate_size": 512,
              "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
              "head_dim": 32, "vocab_size": 1024, "hidden_act": "silu", "rms_norm_eps": 1e-6,
              "max_position_embeddings": 1048576, "tie_word_embeddings": false,
              "torch_dtype": "float16"})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  Ran run(const std::string& words, const std::string& verb = "run") const {
    return run_real(verb + " --quiet --model " + (folder_ / "small.json").string() + " " + words);
  }
  Ran on_pod(const std::string& words) const {
    return run("--json --machine pod4 --set chip.ipu.tiles=32 " + words);
  }

  /// The microseconds of all rows of the ends of a model, or of all others.
  static double rows(const Ran& ran, bool ends) {
    const nlohmann::json result = nlohmann::json::parse(ran.out);
    double sum = 0;
    for (const auto& [name, phase] : result.at("phases").items()) {
      const bool end = name.rfind("embedding ", 0) == 0 || name.rfind("head ", 0) == 0;
      if (end == ends) sum += phase.at("time").get<double>();
    }
    return sum;
  }

  const TempFolder own_;
  const fs::path folder_ = own_.path();
};

// On one chip nothing is exchanged: a step is four times the rows of a layer and once those of the
// ends, each rounded up to nanoseconds, and the barrier of its tiles after each of six segments
// (embedding, layers, head): 113 ns, and no hop to a chip beside it.
TEST_F(ModelOnChips, AStepOfOneChipIsItsRows) {
  const Ran ran = run("--json --machine bow --set ipu.tiles=32 --decode --context 64");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const double rows_us = 4 * rows(ran, false) + rows(ran, true) + 6 * 0.113;
  EXPECT_GT(rows_us, 0);
  EXPECT_NEAR(number(ran, "step_time") * 1e6, rows_us, 0.1);
  EXPECT_NEAR(number(ran, "tokens_per_s"), 1e6 / rows_us, 1e6 / rows_us * 0.01);
  EXPECT_EQ(number(ran, "chips"), 1);
}

// N:M of all products is a pattern with that share: stored as single weights, two bytes and two
// for the place of each. --weights says it as on wafers.
TEST_F(ModelOnChips, TwoOfFourWeights) {
  const std::string words = "--decode --context 64 --set inference.tensor=2 ";
  const Ran ran = on_pod(words + "--pattern 2:4");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out).at("weights"), "nm:2:4");
  EXPECT_EQ(on_pod(words + "--weights all=2:4").out, ran.out);
  const double half =
      number(on_pod(words + "--pattern unstructured:0.5"), "memory_of_fullest_tile");
  EXPECT_NEAR(number(ran, "memory_of_fullest_tile"), half, 0.02 * half);
}

// Sharing each matrix takes time off rows and adds sums; stages add hand-overs, and turns of them
// are shorter than a step.
TEST_F(ModelOnChips, CutsAreGivenOrChosen) {
  const Ran given =
      on_pod("--decode --context 64 --set inference.tensor=2 --set inference.pipeline=2");
  ASSERT_EQ(given.status, 0) << given.err;
  EXPECT_EQ(number(given, "tensor"), 2);
  EXPECT_EQ(number(given, "pipeline"), 2);
  EXPECT_EQ(number(given, "chips"), 4);
  EXPECT_LT(number(given, "turn_time"), number(given, "step_time"));
  EXPECT_THAT(nlohmann::json::parse(given.out).at("layers_of_stages"), ElementsAre(2, 2));
  const Ran chosen = on_pod("--decode --context 64");
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_LE(number(chosen, "step_time"), number(given, "step_time"));
  const Ran listed =
      on_pod("--decode --context 64 --set inference.tensor=1 --set inference.layers=3-1");
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(nlohmann::json::parse(listed.out).at("layers_of_stages"), ElementsAre(3, 1));
}

TEST_F(ModelOnChips, EnginesAgree) {
  const std::string words = "--decode --context 64 --set inference.tensor=2 --engine ";
  const Ran event = on_pod(words + "event");
  ASSERT_EQ(event.status, 0) << event.err;
  EXPECT_EQ(on_pod(words + "clocked").out, event.out);
}

// Whether it is refused by counts alone or when rows are known, the number that is named runs, and
// one more is refused.
TEST_F(ModelOnChips, WhatDoesNotFitIsRefusedWithTheNearestThatDoes) {
  const std::string words =
      "--set inference.tensor=1 --set inference.pipeline=4 --decode --context ";
  const std::string before = "the nearest that fits: ";
  const auto named = [&](int positions) {
    const Ran refused = on_pod(words + std::to_string(positions));
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("the fullest tile needs"), HasSubstr(" B and has "),
                                   HasSubstr(before)));
    const std::size_t at = refused.err.find(before);
    return at == std::string::npos ? 0 : std::stoi(refused.err.substr(at + before.size()));
  };
  const int nearest = named(200000);
  EXPECT_GT(nearest, 1000);
  EXPECT_EQ(named(26000), nearest);
  EXPECT_EQ(named(nearest + 1), nearest);
  const Ran fits = on_pod(words + std::to_string(nearest));
  EXPECT_EQ(fits.status, 0) << fits.err;
  EXPECT_EQ(number(fits, "positions_that_fit"), nearest);
  EXPECT_EQ(number(on_pod(words + "64"), "positions_that_fit"), nearest);
}

// Four layers on one chip: keys and values of 7,000 positions are 4 x 112,000 B of a tile, of which
// streaming keeps one layer's.
TEST_F(ModelOnChips, StreamedKeysAndValuesLeaveRoomForMorePositions) {
  const std::string words =
      "--set inference.tensor=1 --set inference.pipeline=1 --decode --context 7000 "
      "--set inference.cache=";
  const Ran kept = on_pod(words + "sram");
  EXPECT_EQ(kept.status, 1);
  EXPECT_THAT(kept.err, HasSubstr("cache 448000"));
  const Ran streamed = on_pod(words + "streaming");
  EXPECT_EQ(streamed.status, 0) << streamed.err;
}

// Zeros of the inputs of `down`: somebody has to find them, and of one column the dynamic product
// of single elements takes longer than the dense one. Other rows stay as they are.
TEST_F(ModelOnChips, ZerosOfInputsAreLeftOutWhereTheyAreFound) {
  const std::string zeros = "--decode --context 64 --activations down=bernoulli:0.1 ";
  const std::string find = "--set chip.activations.encode=device ";
  const Ran dense = on_pod("--decode --context 64");
  const Ran left_out = on_pod(zeros + find);
  EXPECT_EQ(left_out.status, 0) << left_out.err;
  const auto time_of = [](const Ran& ran, const std::string& row) {
    const std::size_t at = ran.out.find("\"" + row + "\"");
    Ran rest = ran;
    rest.out = at == std::string::npos ? "" : ran.out.substr(at);
    return number(rest, "time");
  };
  EXPECT_GT(time_of(left_out, "ffn2"), time_of(dense, "ffn2"));
  EXPECT_EQ(time_of(left_out, "o"), time_of(dense, "o"));
  EXPECT_GT(time_of(dense, "o"), 0);
  EXPECT_EQ(nlohmann::json::parse(left_out.out).at("activations"), "ffn2=bernoulli:0.1");
  // fewer of them take less time
  EXPECT_LT(
      time_of(on_pod("--decode --context 64 --activations down=bernoulli:0.02 " + find), "ffn2"),
      time_of(left_out, "ffn2"));
  EXPECT_THAT(on_pod(zeros).err, HasSubstr("unless its zeros are found first"));
  EXPECT_THAT(on_pod(zeros + find + "--weights all=2:4").err, HasSubstr("two sparse operands"));
  EXPECT_THAT(on_pod("--decode --activations hidden=bernoulli:0.1").err,
              HasSubstr("of all layers"));
  EXPECT_THAT(on_pod("--decode --activations 1:down=bernoulli:0.1").err,
              HasSubstr("of all layers"));
  EXPECT_THAT(on_pod("--decode --activations down=channel:0.1").err,
              HasSubstr("bernoulli:DENSITY"));
}

TEST_F(ModelOnChips, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(on_pod("--decode --set inference.tensor=3").err,
              HasSubstr("the 4 key and value heads"));
  EXPECT_THAT(on_pod("--decode --set inference.tensor=4 --set inference.pipeline=2").err,
              HasSubstr("it has 4 chips"));
  EXPECT_THAT(on_pod("--decode --set inference.layers=3-2").err,
              HasSubstr("found 5 layers; small"));
  EXPECT_THAT(on_pod("--decode --set inference.tensors=2").err, HasSubstr("tensor"));
  EXPECT_THAT(on_pod("--decode --blocks 2x4").err, HasSubstr("is for wafers"));
  EXPECT_THAT(on_pod("--decode --x-pattern bernoulli:0.1").err, HasSubstr("--x-pattern"));
  for (const char* const words : {"--window 8", "--kept 8", "--experts apart"}) {
    EXPECT_THAT(on_pod(std::string("--decode ") + words).err, HasSubstr("is for wafers")) << words;
  }
  EXPECT_THAT(on_pod("--decode --weights down=2:4").err, HasSubstr("all=PATTERN"));
  EXPECT_THAT(on_pod("--decode --weights all=tile:2:4").err, HasSubstr("all=PATTERN"));
  EXPECT_THAT(on_pod("--decode --weights all=2:4 --pattern 2:4").err, HasSubstr("both say"));
  EXPECT_THAT(on_pod("--prefill 16 --context 16").err, HasSubstr("--context does not go with"));
  EXPECT_THAT(run("--decode --machine nothing").err, HasSubstr("nothing"));
  EXPECT_THAT(run("--machine wse3 --decode --set inference.tensor=2").err, HasSubstr("wafer"));
}

// A prompt of 32 tokens has the products of 32 steps at once, in less time than these.
TEST_F(ModelOnChips, APromptIsOnePass) {
  const Ran prompt = on_pod("--prefill 32 --set inference.tensor=2");
  ASSERT_EQ(prompt.status, 0) << prompt.err;
  const Ran step = on_pod("--decode --context 32 --set inference.tensor=2");
  EXPECT_LT(number(prompt, "step_time"), 32 * number(step, "step_time"));
  EXPECT_GT(number(prompt, "step_time"), number(step, "step_time"));
  EXPECT_NEAR(number(prompt, "tokens_per_s") * number(prompt, "step_time"), 32, 1e-6);
}

TEST_F(ModelOnChips, RequestsAreServed) {
  write("r.csv", "arrival,prompt,output\n0,16,4\n0.001,8,1\n0.001,24,3\n");
  const std::string words = "--batch 2 --requests " + (folder_ / "r.csv").string() +
                            " --set inference.tensor=1 --set inference.context_step=16";
  const Ran ran = on_pod(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(number(ran, "requests"), 3);
  EXPECT_EQ(number(ran, "output_tokens"), 8);
  EXPECT_EQ(number(ran, "prompt_tokens"), 48);
  EXPECT_GT(number(ran, "joules_per_token"), number(ran, "joules_per_token_low"));
  const double shares = number(ran, "in_prompts") + number(ran, "in_steps") + number(ran, "idle");
  EXPECT_NEAR(shares, 100, 1e-6);
  EXPECT_EQ(on_pod(words).out, ran.out);
  write("r.csv", "arrival,prompt,output\n0,16,zero\n");
  const Ran wrong = on_pod(words);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("r.csv:2:6"));
}

// The second run takes all rows from the cache, and says the same to the last byte.
TEST_F(ModelOnChips, WhatIsKeptIsTheSame) {
  const fs::path cache = folder_ / "cache";
  setenv("LACUNA_CACHE", cache.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const std::string words = "--decode --context 64 --set inference.tensor=2";
  const Ran first = on_pod(words);
  EXPECT_FALSE(fs::is_empty(cache));
  const Ran again = on_pod(words);
  const Ran without = on_pod(words + " --no-cache");
  setenv("LACUNA_CACHE", "", 1);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(without.out, first.out);
}

TEST_F(ModelOnChips, ComparesAndWritesAFolder) {
  const std::string out = (folder_ / "out").string();
  const Ran ran = run("--machine pod4 --machine bow --decode --context 64 --out " + out, "compare");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CsvTable summary(file_text(out + "/summary.csv"));
  const auto value = [&](const char* run, const char* machine, const char* quantity) {
    return summary
        .where({{"run", run}, {"machine", machine}, {"model", "small"}, {"quantity", quantity}})
        .number("value");
  };
  const double pod = value("0", "pod4", "tokens_per_s");
  const double chip = value("1", "bow", "tokens_per_s");
  EXPECT_GT(std::min(pod, chip), 0);
  EXPECT_THAT(ran.out, HasSubstr(pod > chip ? "Fastest: pod4, " : "Fastest: bow, "));
  EXPECT_GT(value("1", "bow", "joules_per_token_high"), 0);
  EXPECT_TRUE(nlohmann::json::parse(file_text(out + "/result.json")).contains("models"));
  EXPECT_TRUE(fs::exists(out + "/figures/tokens.csv"));
}

}  // namespace
}  // namespace lacuna::test
