// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

/// A prompt of one layer on a block of so many cores.
std::string prompt(const TempFile& model, const std::string& cores, const std::string& tokens) {
  return "run --machine wse3 --blocks 1x1 --layers 1 --json --model " + model.path() +
         " --block-cores " + cores + " --prefill " + tokens;
}

const char* const kSmallModel =
    R"({"model_type":"qwen3","hidden_size":256,"intermediate_size":512,"num_attention_heads":8,)"
    R"("num_key_value_heads":4,"head_dim":32,"num_hidden_layers":2,"vocab_size":1024,)"
    R"("hidden_act":"silu","rms_norm_eps":1e-6,"max_position_embeddings":4096})";

// Buffers grow with the tokens of a chunk, of which each column of cores has its share. What is
// said to fit does, and a column of tokens more does not.
TEST(ModelRun, APromptThatDoesNotFitSaysWhichChunksDo) {
  const TempFile model(kSmallModel, ".json");
  const std::string line = prompt(model, "16x16", "300");
  const std::string said = run_real(line).err;
  const std::string before = "chunks of ";
  const std::size_t at = said.rfind(before);
  ASSERT_NE(at, std::string::npos) << said;
  const int fits = std::stoi(said.substr(at + before.size()));
  EXPECT_EQ(fits % 16, 0);
  EXPECT_EQ(run_real(line + " --chunk " + std::to_string(fits)).status, 0);
  EXPECT_NE(run_real(line + " --chunk " + std::to_string(fits + 16)).status, 0);
}

// A shorter prompt is one chunk: none of its tokens is padding unless a chunk is given.
TEST(ModelRun, AShortPromptIsOneChunk) {
  const TempFile model(kSmallModel, ".json");
  const std::string line = prompt(model, "32x32", "20");
  EXPECT_EQ(number(run_real(line), "padded_tokens"), 0);
  EXPECT_EQ(number(run_real(line + " --chunk 32"), "padded_tokens"), 12);
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
  EXPECT_THAT(error("--decode --chunk 64"), HasSubstr("--chunk: needs --prefill"));
  EXPECT_THAT(error("--prefill 0"), HasSubstr("found '0'"));
  EXPECT_THAT(run_real("run --model llama3-8b --machine wse3 --prefill 256").err,
              HasSubstr("bytes of a core"));
}

/// The options of `lacuna run` as its help lists them: the name, and what follows it, if anything.
std::vector<std::pair<std::string, std::string>> options_of_run() {
  std::vector<std::pair<std::string, std::string>> options;
  std::istringstream help(run_real("run --help all").out);
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    std::string name;
    std::string value;
    words >> name;
    if (name.rfind("--", 0) != 0 || name.back() == ',') continue;  // a list in the text of a group
    const bool takes = line.size() > name.size() + 3 && line[name.size() + 2] == ' ' &&
                       line[name.size() + 3] != ' ';
    if (takes) words >> value;
    options.emplace_back(name, value);
  }
  return options;
}

// Whatever is not part of such a request would change nothing of it, and is refused by its name.
TEST(ModelRun, RefusesEveryOptionThatItDoesNotKnow) {
  const std::set<std::string> known = {
      "--machine", "--set",        "--model",     "--decode",       "--context",     "--batch",
      "--prefill", "--chunk",      "--blocks",    "--block-cores",  "--engine",      "--json",
      "--wide",    "--quiet",      "--layers",    "--cache",        "--activations", "--weights",
      "--window",  "--kept",       "--experts",   "--seed",         "--no-cache",    "--requests",
      "--pattern", "--density",    "--block",     "--energy-table", "--out",         "--layout",
      "--view",    "--view-steps", "--view-path", "--view-cores",   "--kv-in",       "--kv-out",
      "--streams", "--why",        "--sqlite",    "--resume"};
  std::set<std::string> there;
  for (const auto& [name, value] : options_of_run()) there.insert(name);
  for (const std::string& name : known) EXPECT_EQ(there.count(name), 1U) << name;
  std::size_t refused = 0;
  for (const auto& [name, value] : options_of_run()) {
    if (known.count(name) != 0) continue;
    ++refused;
    const Ran ran = run_real("run --model qwen3-1.7b --machine wse3 --decode " + name +
                             (value.empty() ? "" : "=1"));
    EXPECT_EQ(ran.status, 2) << name;
    EXPECT_THAT(ran.err, HasSubstr(name + " does not go with --model"));
  }
  EXPECT_GE(refused, 23U);
  EXPECT_THAT(run_real("run --model qwen3-1.7b --machine wse3 --decode --layout best").err,
              HasSubstr("--layout: found 'best' with --model"));
  EXPECT_THAT(run_real("run --machine wse3 --gemm 8x8x8 --context 64").err,
              HasSubstr("--context: needs --model"));
}

TEST(ModelRun, ASystemRefusesEveryOptionThatItDoesNotKnow) {
  const std::set<std::string> known = {"--machine",  "--set",  "--system-config", "--trace",
                                       "--engine",   "--seed", "--out",           "--energy-table",
                                       "--timeline", "--json", "--wide",          "--quiet",
                                       "--no-cache", "--why"};
  for (const auto& [name, value] : options_of_run()) {
    if (known.count(name) != 0) continue;
    const Ran ran =
        run_real("run --system-config bert_base_dense " + name + (value.empty() ? "" : "=1"));
    EXPECT_EQ(ran.status, 2) << name;
    EXPECT_THAT(ran.err, HasSubstr(name)) << name;
  }
}

// What changes nothing of a part of a model is not read over.
TEST(TraceMake, RefusesWhatIsOfAnotherPart) {
  const auto error = [](const std::string& words) {
    const Ran ran = run_real("trace make gpt2 --layers 1 " + words);
    EXPECT_EQ(ran.status, 2) << words;
    return ran.err;
  };
  EXPECT_THAT(error("--context 64"), HasSubstr("nothing but with part decode"));
  EXPECT_THAT(error("--part decode --context 64 --tokens 7"), HasSubstr("of one token each"));
  for (const char* const option : {"--optimizer sgd", "--recompute", "--replicas 4"}) {
    EXPECT_THAT(error(option), HasSubstr("nothing but with part training")) << option;
  }
  EXPECT_EQ(run_real("trace make gpt2 --layers 1 --part training --optimizer sgd").status, 0);
  for (const char* const option : {"--causal", "--attention window:w=64"}) {
    EXPECT_THAT(error("--part weights " + std::string(option)),
                HasSubstr("nothing with part weights"))
        << option;
  }
}

// What a model has not, or another word says otherwise, gives no trace of something else.
TEST(TraceMake, RefusesWordsThatContradict) {
  const auto error = [](const std::string& words) {
    const Ran ran = run_real("trace make " + words);
    EXPECT_EQ(ran.status, 2) << words;
    return ran.err;
  };
  EXPECT_THAT(error("bert-tiny --part decode --context 64"), HasSubstr("bert-tiny is an encoder"));
  EXPECT_THAT(error("bert-tiny --heads --tokens 128 --predictions 129"),
              HasSubstr("at most the 128 tokens of a sequence"));
  EXPECT_EQ(run_real("trace make bert-tiny --heads --tokens 128 --predictions 128").status, 0);
  EXPECT_THAT(error("gpt2 --layers 1 --part training --recipe ipu-mixed --dtype fp32"),
              HasSubstr("fp16, the type of weights in recipe ipu-mixed"));
}

// Parameters of what such a request does not run are remarked on.
TEST(ModelRun, SaysWhichSettingsActOnNothing) {
  const Ran idle = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set llm.groups=4");
  EXPECT_THAT(idle.err, HasSubstr("llm.groups acts on language models (--model) and rows beside "
                                  "products with weights alone, and there are none here"));
  const TempFile norm("# lacuna-trace v1\nid,op,m,k,n,dtype\na,rmsnorm,8,,8,fp16\n");
  const Ran acts =
      run_real("run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --trace " +
               norm.path() + " --set llm.groups=4");
  EXPECT_EQ(acts.status, 0) << acts.err;
  EXPECT_THAT(acts.err, Not(HasSubstr("llm.groups")));
  const Ran alone = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set ws.buses=1 --set ws.exchange=product --set ws.groups=1");
  EXPECT_THAT(alone.err, HasSubstr("ws.buses acts unless ws.groups = 1, which it is on wse2"));
  EXPECT_THAT(alone.err, HasSubstr("ws.exchange acts unless ws.groups = 1"));
  // with nothing said of groups the rule chooses how many there are
  const Ran free = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set ws.lie=interleaved");
  EXPECT_EQ(free.err, "");
  const Ran two = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set ws.buses=1 --set ws.groups=2");
  EXPECT_EQ(two.err, "");
  const Ran model = run_real(
      "run --json --model qwen3-1.7b --machine wse3 --prefill 256 --set ws.lookahead=4 --set "
      "llm.groups=4 --set ws.reduce=chain");
  EXPECT_EQ(model.status, 0) << model.err;
  EXPECT_THAT(model.err, HasSubstr("ws.lookahead acts on nothing of --model"));
  EXPECT_THAT(model.err, HasSubstr("ws.reduce acts on nothing of --model"));
  EXPECT_THAT(model.err, ::testing::Not(HasSubstr("llm.groups")));
}

// A cold token of this model takes half a minute, and its child is killed half a second after it
// began: what is asked for is that it ends within a second, and a busy machine is given ten.
TEST(ModelRun, CtrlCEndsItAtOnceWithASentence) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const Ran ran = run_real("run --model qwen3-4b --machine wse3 --decode --no-cache");
    const bool said =
        ran.err.find("interrupted; nothing is kept with --no-cache") != std::string::npos;
    _exit(said && ran.out.empty() ? ran.status : 99);
  }
  usleep(500000);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace lacuna::test
