// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/driver/inference/model_report.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Small models on two blocks of 16 x 16 cores.
class DecodeRun : public ::testing::Test {
 protected:
  void SetUp() override {
    write("dense.json", "");
    write("window.json", R"("sliding_window": 8, )", "mistral");
    write("experts.json", R"("num_local_experts": 4, "num_experts_per_tok": 2, )", "mixtral");
  }

  void write(const std::string& name, const std::string& more, const std::string& type = "llama") {
    std::ofstream(folder_ + name)
        << "{" << more << R"("model_type": ")" << type
        << R"(", "hidden_act": "silu", "hidden_size": 128, "intermediate_size": 256,
            "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 4,
            "vocab_size": 512, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16"})";
  }
  Ran run(const std::string& model, const std::string& words) const {
    return run_real("run --json --machine wse3 --blocks 1x2 --block-cores 16x16 --model " +
                    folder_ + model + " " + words);
  }
  double step(const std::string& model, const std::string& words) const {
    const Ran ran = run(model, "--decode --context 64 " + words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return number(ran, "step_cycles");
  }
  std::string error(const std::string& model, const std::string& words) const {
    const Ran ran = run(model, words);
    EXPECT_NE(ran.status, 0) << words;
    EXPECT_EQ(ran.out, "") << words;
    return ran.err;
  }

  TempFolder temporary_;
  const std::string folder_ = temporary_.path().string() + "/";
};

TEST_F(DecodeRun, WhatIsLeftOutIsNotPaid) {
  const double all = step("dense.json", "");
  const std::string zeros = "--activations down=bernoulli:0.1";
  // zeros that nothing leaves out cost what other numbers do
  EXPECT_EQ(step("dense.json", zeros), all);
  const double skipped = step("dense.json", zeros + " --set llm.skip=act");
  EXPECT_LT(skipped, all);
  // without zeros the tests are paid: 16 inputs, 3 layers that follow one, 5 cycles and the
  // clearing
  const double none = step("dense.json", "--activations down=bernoulli:1 --set llm.skip=act");
  EXPECT_GE(none, all + 4 * 16 * 5);
  EXPECT_LT(step("dense.json", "--window 16"), all);
  // 512 positions are those that exponentials are taken of where nothing bounds them
  for (const char* const words : {"--window 512", "--kept 512"}) {
    const Ran wide = run("dense.json", std::string("--decode --context 64 ") + words);
    EXPECT_EQ(number(wide, "step_cycles"), all) << words;
    const auto answer = nlohmann::json::parse(wide.out);
    EXPECT_TRUE(answer.at("positions_that_fit").is_null()) << words;
  }
  EXPECT_LT(step("dense.json", "--weights down=tile:nm:2:8"), all);
  // hidden vectors without zeros travel as before, behind a count
  EXPECT_GT(step("dense.json", "--activations hidden=bernoulli:1 --set llm.skip=traffic"), all);
}

TEST_F(DecodeRun, PointsThatNothingMeasuresSayWhy) {
  std::ofstream(folder_ + "points.csv")
      << "id,system,workload,parameters,metric,value,unit,source,confidence,seen\n"
         "A,CS-3,decode_phase_foo,model=Qwen3-0.6B;block=64x64;context=64,cycles_per_layer,1,"
         "cycles,own,M,\n"
         "B,CS-3,decode_layer_ffn,model=Qwen3-0.6B;block=64x64;contxt=64,cycles_per_layer,1,"
         "cycles,own,M,\n";
  const Ran ran = run_real("validate --points " + folder_ + "points.csv");
  EXPECT_THAT(ran.out, HasSubstr("workload 'decode_phase_foo' is no layer, step or prompt"));
  EXPECT_THAT(ran.out, HasSubstr("its parameters lack 'context'"));
}

// Words for one of them are not refused by the other.
TEST_F(DecodeRun, AWaferAndChipsAreCompared) {
  const std::string model = "--decode --context 64 --model " + folder_ + "dense.json";
  const Ran both = run_real(
      "compare --json --machine wse3 --blocks 1x2 --block-cores 16x16 --machine pod4 "
      "--set inference.tensor=2 --set inference.pipeline=2 " +
      model);
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(number(both, "step_cycles"), step("dense.json", ""));
  EXPECT_EQ(number(both, "pipeline"), 2);
  EXPECT_THAT(run_real("compare --machine pod4 --machine pod16 --blocks 1x2 " + model).err,
              HasSubstr("--blocks is for wafers"));
  EXPECT_THAT(
      run_real("compare --machine wse3 --machine wse2 --set inference.tensor=2 " + model).err,
      HasSubstr("is a wafer"));
}

// A comparison fits a screen, and says what each run by itself says: whose tokens a second are
// more. --wide has what one machine alone has.
TEST_F(DecodeRun, AComparisonSaysWhoIsFasterOnOneScreen) {
  const std::string words = " --decode --context 64 --no-cache --model " + folder_ + "dense.json";
  const std::string wafer = "--machine wse3 --blocks 1x2 --block-cores 16x16";
  const Ran both = run_real("compare --machine pod4 " + wafer + words);
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_LE(std::count(both.out.begin(), both.out.end(), '\n'), 24);
  const Ran pod = run_real("run --json --machine pod4" + words);
  const Ran cores = run_real("run --json " + wafer + words);
  const double ratio = number(cores, "tokens_per_s") / number(pod, "tokens_per_s");
  const bool faster = ratio > 1;
  EXPECT_THAT(both.out, HasSubstr(std::string("Fastest: ") + (faster ? "wse3" : "pod4")));
  EXPECT_THAT(both.out, HasSubstr(fmt::format("{:.3g} times {}", faster ? ratio : 1 / ratio,
                                              faster ? "pod4" : "wse3")));
  EXPECT_THAT(both.out, HasSubstr("Joules per token are not ranked"));
  EXPECT_THAT(words_of(run_real("compare --wide --machine pod4 " + wafer + words).out),
              Contains("row_change_cycles"));
}

// Of machines that count the same joules, who takes fewer is said if no price makes them more: 1 to
// 2 J and 3 to 4 J are apart, 1 to 3 J and 3 to 4 J are not.
TEST(ModelComparison, RanksJoulesWhereRangesAreApart) {
  const auto report = [](const char* name, double low, double high) {
    ModelReport made{name, "ipu", "small", "decode"};
    made.number("tokens_per_s", 1 / high);
    made.joules("joules_per_token", {low, (low + high) / 2, high}, 1);
    return made;
  };
  const std::string apart = model_comparison_screen({report("b", 3, 4), report("a", 1, 2)});
  EXPECT_THAT(apart, HasSubstr(", 2 times b."));
  EXPECT_THAT(apart, HasSubstr("Joules per token: a < b."));
  EXPECT_THAT(model_comparison_screen({report("b", 3, 4), report("a", 1, 3)}),
              HasSubstr("no machine is surely less"));
}

// The result, its page and the run in it have one word for how a run is put together.
TEST_F(DecodeRun, AResultSaysThatItIsComposed) {
  const std::string out = folder_ + "words";
  const Ran ran = run_real(
      "run --machine wse3 --blocks 1x2 --block-cores 16x16 --no-cache --kv-in 32 --model " +
      folder_ + "dense.json --out " + out);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string result = file_text(out + "/result.json");
  EXPECT_EQ(result.find("\"exact\": true"), std::string::npos);
  EXPECT_NE(result.find("\"exact\": false"), result.rfind("\"exact\": false"));  // of it all, too
  EXPECT_THAT(file_text(out + "/report.html"), HasSubstr("; composed."));
}

// Without a program that draws, a run ends as with one: its numbers are there, what is missing is
// said, and nothing is left to resume.
TEST_F(DecodeRun, NumbersAreKeptWithoutFigures) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const std::string out = folder_ + "kept";
  const Ran ran = run_real(
      "run --machine wse3 --blocks 1x2 --block-cores 16x16 --no-cache --decode --context 64 "
      "--model " +
      folder_ + "dense.json --out " + out);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("A step takes "));
  EXPECT_THAT(ran.err, HasSubstr("lacuna: note: no figure was drawn, because there is no gnuplot"));
  EXPECT_FALSE(std::filesystem::exists(out + ".journal"));
  for (const char* const file : {"summary.csv", "result.json", "host.json", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(out + "/" + file)) << file;
  }
}

// The model knows 4,096 positions, whatever a machine has room for.
TEST_F(DecodeRun, ASequenceIsNoLongerThanTheModelTakes) {
  const std::string longer = "4097 tokens; allowed: at most 4096 in a sequence";
  EXPECT_THAT(error("dense.json", "--decode --context 4097"), HasSubstr(longer));
  EXPECT_THAT(error("dense.json", "--prefill 4097"), HasSubstr(longer));
  std::ofstream(folder_ + "long.csv") << "arrival,prompt,output\n0,8,4\n0,4000,98\n";
  EXPECT_THAT(error("dense.json", "--requests " + folder_ + "long.csv"),
              HasSubstr(" tokens; allowed: at most 4096 in a sequence"));
  const Ran chips =
      run_real("run --machine pod4 --decode --context 4097 --model " + folder_ + "dense.json");
  EXPECT_THAT(chips.err, HasSubstr(longer));
}

TEST_F(DecodeRun, AnEncoderMakesNoTokens) {
  for (const char* const machine : {"pod4", "wse3"}) {
    const Ran ran =
        run_real(std::string("run --model bert-tiny --decode --context 64 --machine ") + machine);
    EXPECT_EQ(ran.status, 2) << machine;
    EXPECT_THAT(ran.err, HasSubstr("--model bert-tiny: is an encoder")) << machine;
  }
}

TEST_F(DecodeRun, OtherSeedsDrawOtherZeros) {
  const std::string words = "--activations down=bernoulli:0.5 --set llm.skip=act --seed ";
  const double one = step("dense.json", words + "1");
  EXPECT_EQ(step("dense.json", words + "1"), one);
  bool other = false;
  for (const char* const seed : {"2", "3", "4"})
    other = other || step("dense.json", words + seed) != one;
  EXPECT_TRUE(other);
}

TEST_F(DecodeRun, SparseWeightsLeaveRoom) {
  const auto positions = [&](const std::string& words) {
    return number(run("dense.json", "--decode --context 64 " + words), "positions_that_fit");
  };
  const double dense = positions("");
  EXPECT_GT(positions("--weights all=tile:2:4"), dense);
  // of single weights each has a run of its own: twice what it saves
  EXPECT_LT(positions("--weights all=unstructured:0.5 --set llm.weight_form=listed"), dense);
}

// Lists of single weights take longer than all of them: cores have these with their zeros, which
// is said, and take what dense ones take.
TEST_F(DecodeRun, WeightsAreListedWhereThatIsSooner) {
  const std::string words = "--weights all=unstructured:0.5";
  const Ran ran = run("dense.json", "--decode --context 64 " + words);
  EXPECT_EQ(member_of(ran.out, "weights_with_their_zeros"), "q, k, v, o, up, down");
  const double dense = step("dense.json", "");
  EXPECT_EQ(number(ran, "step_cycles"), dense);
  EXPECT_GT(step("dense.json", words + " --set llm.weight_form=listed"), dense);
  // what code reads of lists is time, too
  const std::string listed = words + " --set llm.weight_form=listed";
  EXPECT_LT(step("dense.json", listed + " --set llm.list_free=true"), step("dense.json", listed));
  const Ran tiles = run("dense.json", "--decode --context 64 --weights all=tile:2:4");
  EXPECT_LT(number(tiles, "step_cycles"), dense);
  EXPECT_TRUE(member_of(tiles.out, "weights_with_their_zeros").is_null());
  // a prompt's, too: an instruction for each weight
  const auto prompt = [&](const std::string& more) {
    return run("dense.json", "--prefill 32 --chunk 16 " + more);
  };
  EXPECT_FALSE(member_of(prompt(words).out, "weights_with_their_zeros").is_null());
  EXPECT_EQ(number(prompt(words), "prompt_cycles"), number(prompt(""), "prompt_cycles"));
}

TEST_F(DecodeRun, ExpertsCostMoreThanOneOfThem) {
  const double dense = step("dense.json", "");
  const double spread = step("experts.json", "");
  const double apart = step("experts.json", "--experts apart");
  EXPECT_GT(spread, dense);
  EXPECT_NE(apart, spread);
  EXPECT_THAT(error("dense.json", "--decode --experts apart"), HasSubstr("has no experts"));
  const auto prompt = [&](const std::string& model) {
    return number(run(model, "--prefill 64 --chunk 16"), "prompt_cycles");
  };
  EXPECT_GT(prompt("experts.json"), prompt("dense.json"));
}

// Four layers on two blocks, of which each kind is run by itself: a block's first waits.
TEST_F(DecodeRun, LayersMayHaveZerosOfTheirOwn) {
  const std::string tile = "all=tile:2:8";
  const Ran dense = run("dense.json", "--decode --context 64");
  const Ran all = run("dense.json", "--decode --context 64 --weights " + tile);
  const Ran two = run("dense.json", "--decode --context 64 --weights 1,3:" + tile);
  // the second layer of each block is the one that has them
  const double less = number(dense, "next_layer_cycles") - number(all, "next_layer_cycles");
  EXPECT_GT(less, 0);
  EXPECT_EQ(number(two, "step_cycles"), number(dense, "step_cycles") - 2 * less);
  EXPECT_EQ(number(two, "forced_token_cycles"), number(dense, "forced_token_cycles") - less);
  EXPECT_EQ(number(two, "next_layer_cycles"), number(dense, "next_layer_cycles") - less / 2);
  EXPECT_TRUE(nlohmann::json::parse(two.out).at("layers").contains("0, 2"));
  EXPECT_TRUE(nlohmann::json::parse(two.out).at("layers").contains("1, 3"));
  // said of all layers in another way it is the same
  EXPECT_EQ(number(run("dense.json", "--decode --context 64 --weights 0-3:" + tile), "step_cycles"),
            number(all, "step_cycles"));
  // a core holds one layer of either kind; in other places those of a block are equal
  const double fits = number(two, "positions_that_fit");
  EXPECT_GT(fits, number(dense, "positions_that_fit"));
  EXPECT_LT(fits, number(all, "positions_that_fit"));
  EXPECT_EQ(number(run("dense.json", "--decode --context 64 --weights 2-3:" + tile),
                   "positions_that_fit"),
            number(dense, "positions_that_fit"));
}

// Blocks of a prompt: layers 0 and 1 in the first, 2 and 3 in the second; one chunk goes through
// both, one layer after the other, so that times and joules are those of the layers added up.
TEST_F(DecodeRun, LayersOfPromptsMayHaveZerosOfTheirOwn) {
  const auto prompt = [&](const std::string& words) {
    return run("dense.json", "--prefill 16 --chunk 16 " + words);
  };
  const Ran dense = prompt("");
  const Ran all = prompt("--weights all=tile:2:8");
  const Ran two = prompt("--weights 1,2:all=tile:2:8");
  const Ran one = prompt("--weights 3:all=tile:2:8");
  for (const char* const name :
       {"prompt_cycles", "layer_of_first_chunk_cycles", "joules_per_token"}) {
    const double most = number(dense, name);
    const double least = number(all, name);
    EXPECT_LT(least, most) << name;
    EXPECT_NEAR(number(two, name), (most + least) / 2, 1e-9 * most) << name;
    EXPECT_NEAR(number(one, name), most - (most - least) / 4, 1e-9 * most) << name;
  }
  // of two chunks a faster first block lets the second begin sooner; with a faster second block
  // that one waits
  const auto chunks = [&](const std::string& layers) {
    return number(
        run("dense.json", "--prefill 32 --chunk 16 --weights " + layers + ":all=tile:2:8"),
        "prompt_cycles");
  };
  EXPECT_LT(chunks("0,1"), chunks("2,3"));
}

// Two rows of blocks with a stream each, 16 rows of cores: 15 cores pass on the pieces of those
// behind them. A core has 4 of the 64 positions, 4 features of each of two layers' keys and values,
// and two numbers of how many are there: 2 x 16 x (4 x 16 + 2) x 16 halves in all.
TEST_F(DecodeRun, KeysAndValuesComeFromTheHostAndGoBack) {
  const Ran in = run("dense.json", "--kv-in 64");
  const Ran out = run("dense.json", "--kv-out 64");
  for (const Ran* const ran : {&in, &out}) {
    EXPECT_EQ(ran->status, 0) << ran->err;
    EXPECT_EQ(number(*ran, "bytes"), 2 * 16 * (4 * 16 + 2) * 16 * 2);
    EXPECT_EQ(number(*ran, "rows_of_a_stream"), 16);
    const double longer =
        std::max(number(*ran, "row_cycles"), number(*ran, "stream_cycles_of_a_row"));
    EXPECT_NEAR(number(*ran, "move_cycles"), 16 * longer, 0.01);
  }
  EXPECT_EQ(number(in, "stream_cycles_of_a_row"), number(out, "stream_cycles_of_a_row"));
  EXPECT_EQ(member_of(in.out, "way"), "from the host");
  EXPECT_EQ(member_of(out.out, "way"), "to the host");
  // one stream has twice the rows; one that brings little is waited for
  EXPECT_NEAR(number(run("dense.json", "--kv-in 64 --streams 1"), "move_cycles"),
              2 * number(in, "move_cycles"), 0.01);
  EXPECT_GT(number(run("dense.json", "--kv-in 64 --set llm.stream_rate=1"), "move_cycles"),
            number(in, "move_cycles"));
  EXPECT_THAT(error("dense.json", "--kv-in 64 --kv-out 64"), HasSubstr("say what it does"));
  EXPECT_THAT(error("dense.json", "--kv-in 64 --batch 2"), HasSubstr("--batch does not go with"));
  EXPECT_THAT(error("dense.json", "--kv-out 64 --streams 33"), HasSubstr("allowed are 1 to 32"));
  EXPECT_THAT(error("dense.json", "--decode --streams 2"), HasSubstr("--streams: needs --kv-in"));
  EXPECT_THAT(run_real("run --machine pod4 --kv-in 64 --model " + folder_ + "dense.json").err,
              HasSubstr("--kv-in is for wafers"));
}

// Layers 0 to 3 on two blocks of two: the block whose two layers are dense is the fullest. Of a
// block with one that has a quarter of its weights in lists the bytes are those of these two.
TEST_F(DecodeRun, MemoryIsThatOfTheFullestBlock) {
  const auto weights = [&](const std::string& words) {
    const Ran ran = run("dense.json", "--decode --context 64 " + words);
    const std::size_t at = ran.out.find("\"whole layers\"");
    EXPECT_NE(at, std::string::npos) << ran.out;
    Ran rest = ran;
    rest.out = ran.out.substr(at);
    return number(rest, "weights");
  };
  const std::string tile = "all=tile:2:8";
  const double dense = weights("");
  const double all = weights("--weights " + tile);
  EXPECT_LT(all, dense);
  EXPECT_EQ(weights("--weights 1,3:" + tile), (dense + all) / 2);
  EXPECT_EQ(weights("--weights 0,1,3:" + tile), (dense + all) / 2);
  // where halves are sparse in different blocks, no block has the most of both
  EXPECT_EQ(weights("--weights 0,1:down=tile:2:8 --weights 2,3:qkv=tile:2:8"),
            std::max(weights("--weights down=tile:2:8"), weights("--weights qkv=tile:2:8")));
}

TEST_F(DecodeRun, AMaskOfWeightsIsReadFromAFile) {
  // `down` of 128 outputs and 256 inputs, of which one in `each` is there
  const auto write_mask = [&](int each) {
    const int row_has = 256 / each;
    const int all = 128 * row_has;
    std::ofstream file(folder_ + "half.smtx");
    file << "128, 256, " << all << "\n";
    for (int row = 0; row <= 128; ++row) file << row * row_has << (row < 128 ? " " : "\n");
    for (int i = 0; i < all; ++i) file << each * (i % row_has) << (i + 1 < all ? " " : "\n");
  };
  write_mask(2);
  const std::string words = "--weights down=file:" + folder_ + "half.smtx";
  EXPECT_LT(step("dense.json", words), step("dense.json", ""));
  EXPECT_LT(step("dense.json", "--weights 2:down=file:" + folder_ + "half.smtx"),
            step("dense.json", ""));
  EXPECT_THAT(error("dense.json", "--decode --weights up=file:" + folder_ + "half.smtx"),
              HasSubstr("found a matrix of 128 x 256, allowed is 512 outputs x 128 inputs"));
  EXPECT_THAT(error("dense.json", "--decode --weights up=file:" + folder_ + "none.smtx"),
              HasSubstr("none.smtx"));
  // what is kept of a run is that of the mask, not of its file's name
  const std::string kept = words + " --cache " + folder_ + "kept";
  const double half = step("dense.json", kept);
  write_mask(8);
  const double eighth = step("dense.json", words);
  EXPECT_LT(eighth, half);
  EXPECT_EQ(step("dense.json", kept), eighth);
}

TEST_F(DecodeRun, ZerosOfLayersThatAreNotUnderstoodAreRefused) {
  const auto refused = [&](const std::string& words) {
    return error("dense.json", "--decode --context 64 " + words);
  };
  EXPECT_THAT(refused("--weights 4:down=2:4"), HasSubstr("layer 4: allowed are 0 to 3"));
  EXPECT_THAT(refused("--weights 3-1:down=2:4"), HasSubstr("FIRST-LAST"));
  EXPECT_THAT(refused("--weights x:down=2:4"), HasSubstr("a layer"));
  EXPECT_THAT(refused("--weights 1:=2:4"), HasSubstr("LAYERS:PRODUCT"));
  EXPECT_THAT(refused("--weights 0-2:all=2:4 --weights 2:down=2:4"), HasSubstr("given twice"));
  EXPECT_THAT(refused("--activations 1:hidden=bernoulli:0.5"), HasSubstr("hidden="));
  EXPECT_THAT(
      run_real("run --machine pod4 --decode --weights 1:all=2:4 --model " + folder_ + "dense.json")
          .err,
      HasSubstr("all=PATTERN"));
}

TEST_F(DecodeRun, ZerosOfExpertsAreLeftOut) {
  const std::string tenth = "--activations down=bernoulli:0.1 --set llm.skip=act";
  for (const char* const lie : {"spread", "apart"}) {
    const std::string experts = std::string("--experts ") + lie + " ";
    const double all = step("experts.json", experts);
    EXPECT_LT(step("experts.json", experts + tenth), all) << lie;
    EXPECT_LT(step("experts.json", experts + "--weights up=tile:2:8"), all) << lie;
  }
}

TEST_F(DecodeRun, ZerosOfPromptsAreLeftOut) {
  const auto prompt = [&](const std::string& words) {
    return run("dense.json", "--prefill 32 --chunk 16 " + words);
  };
  const auto cycles = [&](const std::string& words) {
    return number(prompt(words), "prompt_cycles");
  };
  const std::string tenth = "--activations down=bernoulli:0.1 ";
  const double dense = cycles("");
  EXPECT_LT(cycles("--weights all=tile:2:4"), dense);
  EXPECT_LT(cycles(tenth + "--set llm.skip=act"), dense);
  // not skipped they take what others take
  EXPECT_EQ(cycles(tenth), dense);
  const Ran ran = prompt("--weights down=tile:2:4 --seed 3");
  EXPECT_THAT(nlohmann::json::parse(ran.out).at("zeros"),
              ElementsAre("skip none", "weights down=tile:2:4", "seed 3"));
  EXPECT_THAT(run_real("run --machine wse3 --model qwen3-0.6b --prefill 256 --weights all=2:4 "
                       "--set llm.weight_form=listed")
                  .err,
              HasSubstr("at most 524288, as of 64 x 64 cores"));
}

TEST_F(DecodeRun, PromptsOnBlocksThatAreNoSquares) {
  const auto prompt = [&](const std::string& words) {
    return run_real("run --json --machine wse3 --blocks 1x2 --model " + folder_ +
                    "dense.json --prefill 64 --block-cores " + words);
  };
  for (const char* const sides : {"32x16", "16x32"}) {
    EXPECT_GT(number(prompt(std::string(sides) + " --chunk 32"), "prompt_cycles"), 0) << sides;
  }
  EXPECT_THAT(prompt("24x16 --chunk 24").err, HasSubstr("one side is no multiple of the other"));
  EXPECT_THAT(prompt("32x16 --chunk 48").err, HasSubstr("keys of padding"));
}

TEST_F(DecodeRun, AWindowOfTheModelIsKept) {
  // 8 positions of 64 on 16 rows: as many as a context of 8, at most one in a core
  EXPECT_EQ(step("window.json", ""), step("dense.json", "--window 8"));
  EXPECT_THAT(error("window.json", "--decode --window 4"), HasSubstr("has a window of 8 itself"));
  EXPECT_THAT(error("window.json", "--prefill 64 --chunk 16"), HasSubstr("has a window of 8"));
}

TEST_F(DecodeRun, FewerLayersTakeFewerCycles) {
  const double four = step("dense.json", "");
  const double two = step("dense.json", "--layers 2");
  const double one = step("dense.json", "--layers 1");
  EXPECT_LT(two, four);
  EXPECT_LT(one, two);
  EXPECT_GT(one, 0);
  EXPECT_THAT(error("dense.json", "--decode --layers 5"), HasSubstr("allowed are 1 to 4"));
}

TEST_F(DecodeRun, WhatIsKeptIsFoundAgain) {
  const std::string words = "--decode --context 64 --cache " + folder_ + "kept ";
  const Ran first = run("dense.json", words);
  ASSERT_EQ(first.status, 0) << first.err;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "kept")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    // a record that is not as it was written is no record
    std::string text = file_text(entry.path().string());
    text[text.size() / 2] ^= 1;
    std::ofstream(entry.path().string()) << text;
  }
  EXPECT_GE(files, 5U);
  EXPECT_EQ(run("dense.json", words).out, first.out);
  EXPECT_EQ(run("dense.json", words).out, first.out) << "from what was kept again";
  // other parameters find nothing of it
  const Ran other = run("dense.json", words + "--set llm.sum_step=51");
  EXPECT_LT(number(other, "step_cycles"), 1.2 * number(first, "step_cycles"));
  EXPECT_THAT(error("dense.json", "--decode --cache " + folder_ + "dense.json"),
              HasSubstr("is no folder"));
}

// A prompt of one token is a step: at one of up to 16 positions it takes what the slower of those
// at 16 and at 1 does, with exponentials of no more places than requests need.
TEST_F(DecodeRun, RequestsAreServed) {
  const auto served = [&](const std::string& rows, const std::string& words) {
    std::ofstream(folder_ + "r.csv") << "arrival,prompt,output\n" << rows;
    return run("dense.json",
               "--requests " + folder_ + "r.csv --set inference.context_step=16 " + words);
  };
  const Ran one = served("0,1,1\n", "");
  ASSERT_EQ(one.status, 0) << one.err;
  const double step_s =
      number(run("dense.json", "--decode --context 16 --set llm.exp_positions=0"), "step_time");
  EXPECT_GE(number(one, "seconds"), step_s * (1 - 1e-6));
  EXPECT_LT(number(one, "seconds"), step_s * 1.02);
  const std::string three = "0,16,4\n0.00001,8,1\n0.00001,24,3\n";
  const Ran ran = served(three, "--batch 2");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(number(ran, "requests"), 3);
  EXPECT_EQ(number(ran, "output_tokens"), 8);
  EXPECT_NEAR(number(ran, "in_prompts") + number(ran, "in_steps") + number(ran, "idle"), 100, 1e-6);
  EXPECT_GT(number(ran, "joules_per_token"), number(ran, "joules_per_token_low"));
  for (const char* const fact : {"\"exact\": false", "\"folded\": true", "\"composed\": true"}) {
    EXPECT_THAT(ran.out, HasSubstr(fact));
  }
  EXPECT_EQ(served(three, "--batch 2").out, ran.out);
  EXPECT_THAT(served(three, "--kept 8").err, HasSubstr("--kept does not go with --requests"));
  EXPECT_THAT(served("0,4000,1\n", "").err, HasSubstr("positions would fit"));
}

TEST_F(DecodeRun, RefusesWhatIsHalfUnderstood) {
  const auto refused = [&](const char* words, const char* why) {
    EXPECT_THAT(error("dense.json", words), HasSubstr(why)) << words;
  };
  refused("--decode --activations down", "allowed is PRODUCT=ZEROS");
  refused("--decode --activations =bernoulli:0.1", "allowed is PRODUCT=ZEROS");
  refused("--decode --activations gate=bernoulli:0.1", "'gate'");
  refused("--decode --activations down=bernoulli", "lacks a density");
  refused("--decode --activations down=bernoulli:1.5", "1.5");
  refused("--decode --activations down=bernoulli:nan", "nan");
  refused("--decode --activations down=uniform:0.1", "allowed are bernoulli:DENSITY");
  refused("--decode --activations down=file:", "lacks a path");
  refused("--decode --activations down=file:none.npy", "none.npy");
  refused("--decode --activations down=bernoulli:0.1 --activations down=bernoulli:0.2",
          "'down' is given twice");
  refused("--decode --weights all=2:4 --weights down=2:4", "'down' is given twice");
  refused("--decode --weights down=nonsense:0.5", "nonsense");
  refused("--decode --weights down=unstructured", "density");
  refused("--decode --weights down=block:0.5@8", "the block '8'");
  refused("--decode --weights down=block:0.5@0x4", "the block '0x4'");
  refused("--decode --weights down=block:0.5@7x1", "multiple of 7");
  refused("--decode --weights down=2:5", "multiple of 5");
  refused("--decode --window 0", "--window");
  refused("--decode --window 4 --kept 4", "--window and --kept");
  refused("--decode --kept -1", "--kept");
  refused("--decode --experts both", "has no experts");
  refused("--decode --experts spread", "has no experts");
  refused("--decode --seed 2", "nothing of this request is drawn");
  refused("--decode --layers 0", "--layers");
  refused("--decode --set llm.skip=act", "needs zeros of inputs");
  refused("--decode --set llm.skip=act --activations hidden=bernoulli:0.1",
          "needs zeros of inputs");
  refused("--decode --set llm.skip=traffic", "needs zeros between blocks");
  refused("--decode --set llm.skip=all", "act+traffic");
  refused("--prefill 64 --window 8", "--window does not go with --prefill");
  refused("--prefill 64 --seed 2", "--seed");
  refused("--prefill 64 --set llm.skip=act", "llm.skip");
  refused("--prefill 64 --chunk 16 --activations hidden=bernoulli:0.1", "travel between blocks");
  refused("--decode --x-density 0.5", "--x-density does not go with --model");
  refused("--decode --fold off", "--fold does not go with --model");
  refused("--decode --machine wse2", "--machine is given 2 times; allowed: once");
  refused("--decode --context 0", "--context");
  refused("--decode --context 1e3", "1e3");
  refused("--decode --context 4000", "positions would fit");
  refused("--decode --batch 100000", "bytes of a core");
}

TEST_F(DecodeRun, BlocksHaveTheirPlaceOnTheWafer) {
  const Ran wide = run_real("run --machine wse3 --model qwen3-4b --decode --blocks 3x4");
  EXPECT_THAT(wide.err, HasSubstr("take 896 x 1024 cores; the wafer has 755 x 1170: at most 2x4"));
  const Ran high = run_real("run --machine wse3 --model qwen3-4b --prefill 256 --blocks 2x5");
  EXPECT_THAT(high.err, HasSubstr("at most 2x4"));
  // a layer of 8 experts of 14,336 does not fit 256 x 256 cores
  const Ran experts = run_real("run --machine wse3 --model mixtral-8x7b --decode");
  EXPECT_THAT(experts.err, HasSubstr("one layer would fit 256 x 1024 cores"));
  // 2 x 4 where nothing is said; 750 x 994 cores have room for 2 x 3: what is refused is the layer
  const Ran fewer = run_real("run --machine wse2 --model mixtral-8x7b --decode");
  EXPECT_THAT(fewer.err, HasSubstr("one layer would fit 256 x 1024 cores"));
}

}  // namespace
}  // namespace lacuna::test
