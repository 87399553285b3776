// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/json_edit.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A shipped configuration with every size made smaller; what it computes is the same.
std::string small_config(const ProgramBench& bench, const std::string& name) {
  std::string text = file_text(source_path("traces/configs/" + name));
  const std::map<std::string, std::string> small = {{"hidden_size", "64"},
                                                    {"intermediate_size", "48"},
                                                    {"moe_intermediate_size", "48"},
                                                    {"num_attention_heads", "4"},
                                                    {"num_key_value_heads", "2"},
                                                    {"head_dim", "32"},
                                                    {"num_hidden_layers", "1"},
                                                    {"num_local_experts", "6"},
                                                    {"num_experts", "6"},
                                                    {"num_experts_per_tok", "2"},
                                                    {"max_position_embeddings", "64"},
                                                    {"vocab_size", "96"}};
  for (const auto& [key, value] : small) {
    if (text.find('"' + key + '"') != text.npos) text = with_member(text, key, value);
  }
  return bench.file(name, text);
}

// Every product, norm, softmax, choice and gather of decode and prefill carries numbers, which
// equal those of the reference, on both machines.
TEST(ExpertLayers, ComputeWhatTheyShouldOnBothMachines) {
  const ProgramBench bench;
  for (const char* name : {"mixtral-8x7b.json", "qwen3-30b-a3b.json", "phi-mini-moe.json"}) {
    const std::string config = small_config(bench, name);
    for (const char* part : {"--part decode --context 12 --sequences 3", "--tokens 12",
                             "--part decode --context 12"}) {
      const std::string trace = bench.path("layer.csv");
      const Ran made =
          run_real("trace import " + config + " --dtype fp16 " + part + " --out " + trace);
      ASSERT_EQ(made.status, 0) << made.err;
      for (const char* machine :
           {"--machine bow --set ipu.tiles=16",
            "--layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8"}) {
        const Ran ran = run_real("run --values --trace " + trace + ' ' + machine);
        EXPECT_EQ(ran.status, 0) << name << ' ' << part << ' ' << machine << '\n' << ran.err;
        EXPECT_THAT(ran.err, HasSubstr("values equal the reference product"));
      }
    }
  }
}

std::string cycles_in(const std::string& json) {
  std::string cycles;
  std::size_t at = 0;
  while ((at = json.find("\"cycles\": ", at)) != std::string::npos) {
    const std::size_t end = json.find_first_of(",\n", at);
    cycles += json.substr(at, end - at) + '\n';
    at = end;
  }
  return cycles;
}

TEST(ExpertLayers, TakeAsLongInBothEngines) {
  const ProgramBench bench;
  const std::string trace = bench.path("layer.csv");
  const std::string config = small_config(bench, "qwen3-30b-a3b.json");
  ASSERT_EQ(run_real("trace import " + config + " --dtype fp16 --tokens 9 --out " + trace).status,
            0);
  for (const char* machine :
       {"--machine bow --set ipu.tiles=16",
        "--layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8"}) {
    const std::string run = "run --json --quiet --trace " + trace + ' ' + machine + " --engine ";
    const Ran event = run_real(run + "event");
    const Ran clocked = run_real(run + "clocked");
    ASSERT_EQ(clocked.status, 0) << clocked.err;
    EXPECT_NE(cycles_in(event.out), "");
    EXPECT_EQ(cycles_in(event.out), cycles_in(clocked.out)) << machine;
  }
}

// Two rounds take twice what one takes.
TEST(ExpertLayers, TakeTheLargestOutAsOftenAsTheySay) {
  const ProgramBench bench;
  const std::string head = "# lacuna-trace v1\nid,op,m,n,repeat\n";
  const auto cycles = [&](const std::string& machine, const char* repeat) {
    const std::string trace = bench.file("t.csv", head + "c,take_max,16,24," + repeat + "\n");
    const Ran ran = run_real("run --json --quiet --trace " + trace + " --machine " + machine);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string all = cycles_in(ran.out);
    return std::stoull(all.substr(all.find(' ') + 1));
  };
  for (const char* machine :
       {"bow --set ipu.tiles=16", "wse2 --set wafer.columns=8 --set wafer.rows=8"}) {
    EXPECT_EQ(cycles(machine, "4"), 4 * cycles(machine, "1")) << machine;
  }
}

// A tile has 6 rows of 4 vectors of 4 halves, and each worker one of them. Its bundles: 37 until it
// has found its share, 8 for the row and one a vector (a load, a maximum) to find the largest; 8
// and two a vector (a comparison, what it lets through) to take it out: 65, each six clocks. The
// supervisor takes 11 to begin the compute set and 12 to launch.
TEST(ExpertLayers, TakingTheLargestOutOfARowIsTwoPasses) {
  const ProgramBench bench;
  const std::string trace = bench.file("t.csv", "# lacuna-trace v1\nid,op,m,n\nc,take_max,12,16\n");
  for (const char* engine : {"event", "clocked"}) {
    const Ran ran =
        run_real("run --json --quiet --trace " + trace +
                 " --machine bow --set ipu.tiles=2 --set ipu.rows=1 --engine " + engine);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(number(ran, "cycles"), 6 * 65 + 23);
  }
}

// The weights of the experts are thinned out like all others, each with a mask of its own.
TEST(ExpertLayers, TakePatternsByName) {
  const ProgramBench bench;
  const std::string config = small_config(bench, "mixtral-8x7b.json");
  const Ran made = run_real("trace import " + config +
                            " --dtype fp16 --tokens 12 --sparse *.e*.ffn2=block16:0.25");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, ContainsRegex("l0.e0.ffn2,fwd,64,48,[0-9]+,,,fp16,block,0.25,16,"));
  EXPECT_THAT(made.out, ContainsRegex("l0.e0.up,fwd,48,64,[0-9]+,,,fp16,,,,"));
}

}  // namespace
}  // namespace lacuna::test
