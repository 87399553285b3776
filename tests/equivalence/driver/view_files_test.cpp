// SPDX-License-Identifier: Apache-2.0
// --view, as the program is asked for it: the page is the same with both engines and folded or not,
// and what cannot be is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "sim/base/cycle.hpp"
#include "sim/report/view_page.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/json_member.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kWafer =
    "--layout first --machine wse2 --set wafer.columns=6 --set wafer.rows=7 --gemm 30x40x50 "
    "--pattern unstructured:0.3 --quiet --view --view-steps 9 ";
const std::string kChip = "--machine bow --set ipu.tiles=16 --gemm 64x64x48 --quiet --view ";

std::string page_of(const ProgramBench& bench, const std::string& arguments,
                    const std::string& name) {
  const Ran ran = run_real("run " + arguments + " --out " + bench.path(name));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return file_text(bench.path(name + "/view.html"));
}

TEST(ViewFiles, AreTheSameWithBothEngines) {
  const ProgramBench bench;
  for (const std::string& machine : {kWafer, kChip}) {
    const std::string event = page_of(bench, machine, "event");
    EXPECT_THAT(event, HasSubstr("data-view=\"data-0\""));
    EXPECT_EQ(page_of(bench, machine + "--engine clocked", "clocked"), event);
  }
}

TEST(ViewFiles, HaveTheSuperstepsOfAChipByName) {
  const ProgramBench bench;
  const std::vector<ViewData> data = read_views("", page_of(bench, kChip, "chip"));
  ASSERT_EQ(data.size(), 1U);
  EXPECT_THAT(data[0].head, HasSubstr("superstep 0 "));
  std::vector<std::string> names;
  for (const auto& channel : member_of(data[0].head, "channels"))
    names.push_back(channel.at("name"));
  EXPECT_THAT(names, ::testing::Contains("energy"));
}

TEST(ViewFiles, OfSeveralRunsStandInOnePage) {
  const ProgramBench bench;
  const Ran both = run_real("compare --pattern dense --pattern block8:0.5 " + kChip + " --out " +
                            bench.path("both"));
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(read_views("", file_text(bench.path("both/view.html"))).size(), 2U);
  page_of(bench, kWafer, "one");
  const Ran joined = run_real("plot --view " + bench.path("both") + " " + bench.path("one") +
                              " --out " + bench.path("joined"));
  ASSERT_EQ(joined.status, 0) << joined.err;
  const auto data = read_views("", file_text(bench.path("joined/view.html")));
  ASSERT_EQ(data.size(), 3U);
  EXPECT_THAT(data[2].head, HasSubstr("one: run 0: wse2"));
}

TEST(ViewFiles, ThatCannotBeAreRefusedByName) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Ran ran = run_real(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(words)) << arguments;
  };
  const std::string out = " --out " + bench.path("x");
  refused("run " + kWafer, "--view: needs --out");
  refused("run --gemm 64x64x48 --view-steps 4" + out, "--view-steps: needs --view");
  refused("run --gemm 64x64x48 --view --view-steps 0" + out, "--view-steps: found '0'");
  refused("run " + kChip + "--view-steps 4" + out, "the steps of a chip are its supersteps");
  refused("run " + kWafer + "--view-path 5:5" + out, "--view-path: found '5:5'; allowed: FROM:TO");
  refused("run " + kWafer + "--view-path 0:10001" + out, "at most 10000 cycles");
  refused("run " + kWafer + "--view-cores 0-3x0-3" + out, "--view-cores: needs --view-path");
  refused("run " + kWafer + "--view-path 0:9 --view-cores 0-64x0-3" + out, "at most 64 of each");
  refused("run " + kChip + "--view-path 0:9" + out, "has its critical path in any case");
  refused("run --gemm 64x64x48 --timeline-limit 4" + out, "--timeline-limit: needs --timeline");
  const std::string model = "run --model qwen3-4b --machine ";
  refused(model + "wse3 --decode --view", "--view: needs --out");
  refused(model + "pod16 --decode --view --view-steps 9" + out,
          "--view-steps: the steps of a chip are its supersteps; it is for wafers");
  refused(model + "wse3 --decode --view --view-path 9:9" + out, "--view-path: found '9:9'");
  refused("plot --view " + bench.path("none") + out, "has no view.html");
  refused("plot --view " + bench.path("none") + " --only speedup" + out,
          "--only is for figures, not for --view");
}

/// The critical path of a page: all of its JSON object.
std::string path_of(const std::string& page) {
  const std::size_t at = page.find("\"window_path\":");
  if (at == std::string::npos) return "";
  int depth = 0;
  for (std::size_t i = page.find('{', at); i < page.size(); ++i) {
    depth += page[i] == '{' ? 1 : (page[i] == '}' ? -1 : 0);
    if (depth == 0) return page.substr(at, i + 1 - at);
  }
  return "";
}

// Steps of the path follow each other from the begin of the window to its end, whichever engine ran
// and whether rows were folded; gradients and programs of tasks have one too.
TEST(ViewFiles, HaveTheCriticalPathOfAWindow) {
  const ProgramBench bench;
  const std::string gradient = bench.file("gradient.csv",
                                          "# lacuna-trace v1\nid,op,m,k,n\n"
                                          "grad,sddmm,16,24,16\n");
  const std::string wafer = "--layout first --machine wse2 --set wafer.columns=6 --set wafer.rows=";
  const std::string path = "--quiet --view --view-steps 9 --view-path 100:900 ";
  for (const std::string& what : {"7 --gemm 30x40x50 --pattern unstructured:0.3 " + path,
                                  "6 --gemm 36x36x36 --dtype fp32 --mode dynamic " + path,
                                  "7 --trace " + gradient + " " + path}) {
    const std::string event = page_of(bench, wafer + what, "event");
    ASSERT_NE(path_of(event), "") << what;
    EXPECT_EQ(event.find("before the records"), std::string::npos) << what;
    EXPECT_EQ(page_of(bench, wafer + what + "--engine clocked", "clocked"), event) << what;
    const std::string unfolded = page_of(bench, wafer + what + "--fold off", "unfolded");
    EXPECT_EQ(path_of(unfolded), path_of(event)) << what;
  }
}

// The stages of a layer follow each other: what its cores did adds up to its cycle stack, folded or
// not, and the page says which stages.
TEST(ViewFiles, HaveTheStagesOfALayer) {
  const ProgramBench bench;
  const std::string trace = bench.file("trace.csv",
                                       "# lacuna-trace v1\nid,op,m,k,n\n"
                                       "soft,softmax,16,,24\n");
  const std::string run =
      "--layout first --machine wse2 --set wafer.columns=6 --set wafer.rows=7 --trace " + trace +
      " --quiet --view --view-steps 9 ";
  const std::string folded = page_of(bench, run, "layer");
  EXPECT_THAT(folded, HasSubstr(" Stages: "));
  EXPECT_EQ(page_of(bench, run + "--fold off", "unfolded"), folded);
  EXPECT_EQ(page_of(bench, run + "--engine clocked", "clocked"), folded);
}

/// Steps of a path, [place, row, column, what, from, to], follow each other over a window.
void expect_steps(const std::string& path, Cycle from, Cycle to) {
  for (std::size_t open = path.find('['); open != std::string::npos;
       open = path.find('[', open + 1)) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(&path[open], "[%*u,%*u,%*u,%*u,%llu,%llu]", &begin, &end) != 2) continue;
    EXPECT_EQ(begin, from);
    from = end;
  }
  EXPECT_EQ(from, to);
}

// The window has the ends of some stages in it: the path goes on with the stage before. What a
// stage waits for is within it, so that no word comes from before its records.
TEST(ViewFiles, HaveTheCriticalPathOfALayer) {
  const ProgramBench bench;
  const std::string trace = bench.file("trace.csv",
                                       "# lacuna-trace v1\nid,op,m,k,n\n"
                                       "soft,softmax,16,,24\n");
  const std::string run =
      "--layout first --machine wse2 --set wafer.columns=6 --set wafer.rows=7 --trace " + trace +
      " --quiet --view --view-steps 9 --view-path 10:400 ";
  const std::string folded = page_of(bench, run, "layer");
  const std::string path = path_of(folded);
  EXPECT_THAT(path, HasSubstr("runs its program"));
  EXPECT_THAT(path, HasSubstr("a word comes over a link"));
  EXPECT_EQ(path.find("before the records"), std::string::npos);
  expect_steps(path, 10, 400);
  EXPECT_EQ(path_of(page_of(bench, run + "--fold off", "unfolded")), path);
  EXPECT_EQ(page_of(bench, run + "--engine clocked", "clocked"), folded);
}

/// A decoder that two blocks of 16 x 16 cores hold.
std::string small_model(const ProgramBench& bench) {
  return bench.file("dense.json",
                    R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 128,
      "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
      "num_hidden_layers": 4, "vocab_size": 512, "max_position_embeddings": 4096,
      "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true,
      "torch_dtype": "bfloat16"})");
}

/// What the title of a data set says of a program.
std::string title_of(const ViewData& data) {
  const std::string begin = " on wse3: ";
  const std::size_t at = data.head.find(begin) + begin.size();
  return data.head.substr(at, data.head.find('"', at) - at);
}

// Each program of a step is there once, the layer first, with the phase of its first core in each
// step; its cores add up to the cycle stack of the program, or the run ends with status 4.
TEST(ViewFiles, HaveTheProgramsOfALanguageModel) {
  const ProgramBench bench;
  const std::string run = "--machine wse3 --blocks 1x2 --block-cores 16x16 --model " +
                          small_model(bench) +
                          " --decode --context 64 --quiet --view --view-steps 40 "
                          "--view-path 500:900 --view-cores 0-15x0-15 ";
  const std::string event = page_of(bench, run, "event");
  const std::vector<ViewData> data = read_views("", event);
  std::vector<std::string> titles;
  for (const ViewData& each : data) titles.push_back(title_of(each));
  EXPECT_THAT(titles, ElementsAre("layer, the first of a block: waits for the hidden vector",
                                  "layer, behind another in its block",
                                  "tail: the choice, in the row of the roots",
                                  "tail: one column of the product with the vocabulary",
                                  "head: a row of the table", "pipe to the next row of blocks",
                                  "hand-over to the next block, one row of cores"));
  const std::string& layer = data.at(1).head;
  EXPECT_EQ(member_of(layer, "columns"), 16);
  EXPECT_EQ(member_of(layer, "rows"), 16);
  EXPECT_EQ(member_of(layer, "step_names").front(), "first core in norm");
  EXPECT_EQ(member_of(layer, "step_names").back(), "first core in ffn_residual");
  expect_steps(path_of(layer), 500, 900);
  EXPECT_EQ(page_of(bench, run + "--engine clocked", "clocked"), event);
  // a prompt has its parts, in their order
  const std::string prompt =
      page_of(bench,
              "--machine wse3 --blocks 1x2 --block-cores 16x16 --model " + small_model(bench) +
                  " --prefill 32 --chunk 32 --quiet --view --view-steps 8 ",
              "prompt");
  EXPECT_EQ(title_of(read_views("", prompt).at(0)), "norm");
}

// Four layers in two stages of two chips: first the chips over time, each of which has all of the
// time in every step; then each distinct row on the tiles of a chip, keys and values one of them.
TEST(ViewFiles, HaveTheChipsOfALanguageModelAndItsRows) {
  const ProgramBench bench;
  const std::string run =
      "--machine pod4 --set chip.ipu.tiles=32 --set inference.tensor=2 --set inference.pipeline=2 "
      "--model " +
      small_model(bench) + " --decode --context 64 --quiet --view ";
  const std::string event = page_of(bench, run, "event");
  const std::vector<ViewData> data = read_views("", event);
  ASSERT_GT(data.size(), 10U);
  const std::string& chips = data[0].head;
  EXPECT_THAT(chips, HasSubstr("dense on pod4: the chips that have a part of the model"));
  EXPECT_EQ(member_of(chips, "columns"), 2);
  EXPECT_EQ(member_of(chips, "rows"), 2);
  EXPECT_EQ(member_of(chips, "tick"), "ns");
  EXPECT_THAT(member_of(chips, "row_notes"),
              ElementsAre("stage 0: layers 0 to 1", "stage 1: layers 2 to 3"));
  for (const char* const step : {"embedding", "layer 4 of 4", "hand-over", "head", "tokens"}) {
    EXPECT_THAT(chips, HasSubstr('"' + std::string(step) + '"'));
  }
  EXPECT_THAT(data[1].head, HasSubstr("embedding: tokens, on each chip that has it; once in a"));
  EXPECT_THAT(event, HasSubstr("attention: k, v, on each chip that has it; 8 times in a pass"));
  EXPECT_THAT(event, HasSubstr("ffn: gate, up, ffn2, on each chip that has it; 12 times in"));
  EXPECT_EQ(page_of(bench, run + "--engine clocked", "clocked"), event);
}

// The longest request fills 24 + 3 - 1 = 26 positions: the next multiple of 16 is 32, on a wafer
// and on a chip, and the page is that of a step at that context, with all slots. On a wafer a
// program of requests has exponentials of no more places than these need.
TEST(ViewFiles, OfRequestsHaveTheirLongestStep) {
  const ProgramBench bench;
  const std::string asked = bench.file("r.csv", "arrival,prompt,output\n0,16,4\n0.001,24,3\n");
  const std::string words = " --batch 2 --quiet --view ";
  const std::string requests = "--set inference.context_step=16 --requests " + asked;
  for (const std::string machine :
       {"--machine wse3 --blocks 1x2 --block-cores 16x16 --set llm.exp_positions=0 --view-steps 8 "
        "--model ",
        "--machine pod4 --set chip.ipu.tiles=32 --set inference.tensor=2 --model "}) {
    const std::string run = machine + small_model(bench) + words;
    const std::string served = page_of(bench, run + requests, "served");
    const std::string step = page_of(bench, run + "--decode --context 32", "step");
    EXPECT_GT(served.size(), 20000U);
    EXPECT_TRUE(served == step) << machine;  // pages are long
  }
}

}  // namespace
}  // namespace lacuna::test
