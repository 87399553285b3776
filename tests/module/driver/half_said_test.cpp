// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

/// Requests of which a part could pass without a word.
class HalfSaid : public ::testing::Test {
 protected:
  void SetUp() override { model("small", "float16"); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  /// A Llama of two layers, with more keys.
  void model(const std::string& name, const std::string& type, const std::string& more = "") const {
    write(name + ".json",
          R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
              "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "vocab_size": 256, "hidden_act": "silu", "max_position_embeddings": 4096, )" +
              more + "\"torch_dtype\": \"" + type + "\"}");
  }
  Ran run(const std::string& name, const std::string& words) const {
    return run_real("run --quiet --model " + (folder_ / (name + ".json")).string() +
                    " --decode --context 16 " + words);
  }
  Ran on_wafer(const std::string& name, const std::string& words = "") const {
    return run(name, "--machine wse3 --blocks 2x1 --block-cores 8x8 " + words);
  }
  const TempFolder own_;
  const fs::path folder_ = own_.path();
};

// On each chip a row that is repeated three times is three rows: as long, as many FLOP and joules.
TEST_F(HalfSaid, RowsOfAPodAreRepeated) {
  const std::string head = "# lacuna-trace v1\nid,op,m,k,n,dtype,repeat\n";
  const std::string once = "gemm,64,64,64,fp16,1\n";
  const std::string words = "run --quiet --json --machine pod4 --set chip.ipu.tiles=32 --trace ";
  const Ran repeated = run_real(words + write("one.csv", head + "a,gemm,64,64,64,fp16,3\n"));
  const Ran apart =
      run_real(words + write("three.csv", head + "a," + once + "b," + once + "c," + once));
  ASSERT_EQ(repeated.status, 0) << repeated.err;
  for (const char* const name : {"tflops", "energy_chips"}) {
    EXPECT_NEAR(number(repeated, name) / number(apart, name), 1, 1e-3) << name;
  }
  // a nanosecond of each row is rounded up
  EXPECT_NEAR(number(repeated, "step_time"), number(apart, "step_time"), 3e-9);
}

TEST_F(HalfSaid, WordsOfATrainingStandBesideNothingElse) {
  const std::string trace = write("rows.csv",
                                  "# lacuna-trace v1\nid,op,m,k,n,dtype\n"
                                  "a,gemm,64,64,64,fp16\n");
  EXPECT_THAT(run_real("run --machine pod4 --set training.tokens=64 --trace " + trace).err,
              HasSubstr("training.tokens=64: says how a model is trained (--system-config)"));
  EXPECT_THAT(run("small", "--machine pod4 --set training.nonsense=1").err,
              HasSubstr("training.nonsense=1: says how a model is trained"));
  EXPECT_THAT(run_real("run --machine pod4 --layout best --trace " + trace).err,
              HasSubstr("found 'best' with a system of chips"));
}

TEST_F(HalfSaid, WhatPricesAModelIsNotSaidToDoNothing) {
  const Ran plain = on_wafer("small", "--json");
  ASSERT_EQ(plain.status, 0) << plain.err;
  const Ran dear = on_wafer("small", "--json --set energy.calibration=2");
  EXPECT_EQ(dear.err, "");
  EXPECT_DOUBLE_EQ(number(dear, "joules_per_token"), 2 * number(plain, "joules_per_token"));
  EXPECT_THAT(on_wafer("small", "--set core.cmd_cycles=9").err,
              HasSubstr("core.cmd_cycles acts on nothing of --model"));
  EXPECT_THAT(on_wafer("small", "--set inference.context_step=64").err,
              HasSubstr("inference.context_step needs --requests"));
}

TEST_F(HalfSaid, AModelIsItsFileOrARemark) {
  model("wide", "float32");
  const std::string half = "half as many bytes as the fp32 of";
  EXPECT_THAT(on_wafer("wide", "--wide").out, HasSubstr(half));
  EXPECT_THAT(run("wide", "--wide --machine pod4 --set chip.ipu.tiles=32").out, HasSubstr(half));
  EXPECT_THAT(on_wafer("small", "--wide").out, Not(HasSubstr("as the fp")));
  model("biased", "float16", "\"mlp_bias\": true, ");
  EXPECT_THAT(on_wafer("biased").err, HasSubstr("has biases of its feed-forward block"));
}

}  // namespace
}  // namespace lacuna::test
