// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Experiments with a small model.
class ModelSweepRun : public ::testing::Test {
 protected:
  void SetUp() override {
    write("small.json",
          R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 128,
            "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
            "num_hidden_layers": 4, "vocab_size": 512, "max_position_embeddings": 1048576,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true,
            "torch_dtype": "bfloat16"})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Ran sweep(const std::string& text, const std::string& words = "--no-cache",
            const std::string& verb = "sweep") const {
    write("study.yaml", "model: small.json\n" + text);
    return run_real(verb + " --quiet " + (folder_ / "study.yaml").string() + " " + words);
  }
  std::string wafer_step(const std::string& words) const {
    return run_real(
               "run --no-cache --json --machine wse3 --blocks 1x2 --block-cores 16x16 "
               "--model " +
               (folder_ / "small.json").string() + " --decode " + words)
        .out;
  }

  TempFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

constexpr const char* kDecodingWafer =
    "machine: wse3\ndecode: true\nblocks: 1x2\nblock_cores: 16x16\ncontext: 64\n";

// Of three points the second share of two has one; the others are simulated when it goes on, and
// what is finished is not simulated again.
TEST_F(ModelSweepRun, SharesAreKeptAndGoOn) {
  const std::string text = std::string(kDecodingWafer) + "grid:\n  batch: [1, 2, 3]\n";
  const std::string out = (folder_ / "out").string();
  const std::string whole = sweep(text, "--no-cache --out " + (folder_ / "whole").string()).out;
  const Ran share = sweep(text, "--no-cache --shard 2/2 --out " + out);
  ASSERT_EQ(share.status, 0) << share.err;
  EXPECT_EQ(share.out, "");
  EXPECT_FALSE(fs::exists(out));
  const std::string line =
      "sweep " + (folder_ / "study.yaml").string() + " --no-cache --resume --out " + out;
  const Ran rest = run_real(line);
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("1 of 3 points were finished before"));
  EXPECT_EQ(rest.out, whole);
  EXPECT_EQ(file_text(out + "/points.csv"), file_text((folder_ / "whole/points.csv").string()));
  EXPECT_THAT(run_real(line).err, HasSubstr("the sweep is finished"));
}

// A point is the run with the same words; words that are not said change nothing.
TEST_F(ModelSweepRun, PointsAreRunsOfTheSameWords) {
  const Ran ran = sweep(std::string(kDecodingWafer) +
                            "zip:\n  activations: [none, \"down=bernoulli:0.1\"]\n"
                            "  llm.skip: [none, act]\n",
                        "--no-cache --json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string dense = wafer_step("--context 64");
  const std::string zeros =
      wafer_step("--context 64 --activations down=bernoulli:0.1 --set llm.skip=act");
  EXPECT_EQ(ran.out, "[\n" + dense.substr(0, dense.size() - 1) + ",\n" +
                         zeros.substr(0, zeros.size() - 1) + "\n]\n");
}

// Jobs, and what was kept before, change no byte of a folder; a line for each machine over what
// both machines have in words of their own.
TEST_F(ModelSweepRun, FoldersAreTheSameWhateverTheJobs) {
  const std::string study =
      "decode: true\ncontext: 64\nmachine: [wse3, pod4]\nwse3:blocks: 1x2\nwse3:block_cores: "
      "16x16\n"
      "set: {pod4:inference.tensor: 2}\nzip:\n  wse3:weights: [none, \"all=tile:2:4\"]\n"
      "  pod4:weights: [none, \"all=block16:0.5\"]\n";
  const auto folder = [&](const std::string& name, const std::string& words) {
    const Ran ran = sweep(study, words + " --out " + (folder_ / name).string());
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string points = file_text((folder_ / name / "points.csv").string());
    return std::pair(points, file_text((folder_ / name / "summary.csv").string()) + ran.out);
  };
  const std::string cache = "--cache " + (folder_ / "kept").string();
  const auto one = folder("one", "--no-cache --jobs 1");
  EXPECT_EQ(folder("two", cache + " --jobs 2"), one);
  EXPECT_EQ(folder("kept_folder", cache + " --jobs 1"), one);
  const auto weights = [&](const char* point, const char* machine) {
    const CsvTable row = CsvTable(one.first).where({{"point", point}, {"machine", machine}});
    EXPECT_EQ(row.cell("why_not"), "");
    return std::pair(row.cell("wse3:weights"), row.cell("pod4:weights"));
  };
  EXPECT_THAT(weights("0", "wse3"), ::testing::Pair("none", ""));
  EXPECT_THAT(weights("3", "pod4"), ::testing::Pair("", "all=block16:0.5"));
  EXPECT_TRUE(fs::exists(folder_ / "one" / "figures" / "tokens_per_s_weights.svg"));
}

TEST_F(ModelSweepRun, WhatDoesNotFitIsAPointWithAReason) {
  const Ran ran = sweep(
      "machine: wse3\ndecode: true\nblocks: 1x2\nblock_cores: 16x16\n"
      "context: [64, 1000000]\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("point 1:"), HasSubstr("positions would fit")));
  EXPECT_THAT(words_of(ran.out), Contains("tokens_per_s"));
}

// Each kind of run has a number of time in the table of its points.
TEST_F(ModelSweepRun, TablesShowATimeOfWhateverIsRun) {
  const std::string wafer = "machine: wse3\nblocks: 1x2\nblock_cores: 16x16\n";
  EXPECT_THAT(words_of(sweep(wafer + "kv_in: [32, 64]\n").out), Contains("move_cycles"));
  EXPECT_THAT(words_of(sweep(wafer + "prefill: [32, 64]\nchunk: 16\n").out),
              Contains("tokens_per_s"));
  EXPECT_THAT(words_of(sweep(wafer + "decode: true\ncontext: [32, 64]\n").out),
              Contains("tokens_per_s"));
}

// Of thirty points a screen has the fastest, in the order of the file; --wide has all.
TEST_F(ModelSweepRun, TheFirstScreenHasTheFastestPoints) {
  const std::string text =
      "machine: wse3\nblocks: 1x2\nblock_cores: 16x16\nkv_in: {from: 2, to: 31, step: 1}\n";
  const std::string first = sweep(text).out;
  EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 24) << first;
  EXPECT_THAT(first, HasSubstr("fastest points of 30"));
  EXPECT_FALSE(printed_row(first, "0 2").empty());
  EXPECT_FALSE(printed_row(sweep(text, "--no-cache --wide").out, "29 31").empty());
}

TEST_F(ModelSweepRun, ASearchFindsTheSoonestThatFulfilsConditions) {
  const std::string study =
      "machine: wse3\ndecode: true\nblock_cores: 16x16\ncontext: 64\n"
      "space:\n  blocks: [1x1, 1x2, 1x4]\n";
  const auto best = [&](const std::string& more) {
    const Ran ran = sweep(study + more, "--no-cache --json", "search");
    return ran.status == 0 ? ran.out : "";
  };
  EXPECT_FALSE(member_of(best("minimise: energy\n"), "joules_per_token").is_null());
  EXPECT_EQ(best("minimise: energy\nsubject_to: tokens_per_s < 1\n"), "");
  EXPECT_THAT(sweep(study + "minimise: area\n", "--no-cache", "search").err,
              HasSubstr("allowed for a model: time, energy, energy_delay"));
}

TEST_F(ModelSweepRun, RefusesWhatIsHalfUnderstood) {
  const auto refused = [&](const std::string& text, const char* why) {
    const Ran ran = sweep(text);
    EXPECT_EQ(ran.status, 2) << text;
    EXPECT_THAT(ran.err, HasSubstr(why)) << text;
  };
  const std::string plain(kDecodingWafer);
  refused("machine: wse3\n", "say what it does");
  refused("decode: true\n", "machine: give a wafer");
  refused(plain + "gemm: 16x16x16\n", "'gemm' does not go with model");
  refused(plain + "set: {llm.skips: act}\n", "no machine of this experiment has 'llm.skips'");
  refused(plain + "pod4:weights: all=2:4\n", "no machine of this experiment has 'pod4:weights'");
  refused(plain + "prefill: [64, 128]\n", "say what it does");
  refused(plain + "windows: 4\n", "there is no 'windows' here");
  EXPECT_THAT(sweep(plain, "--resume").err, HasSubstr("--resume: needs --out"));
  EXPECT_THAT(sweep(plain, "--fold off").err, HasSubstr("--fold does not go with"));
  write("other.yaml", "gemm: 16x16x16\ncontext: 64\n");
  EXPECT_THAT(run_real("sweep " + (folder_ / "other.yaml").string()).err,
              HasSubstr("'context' needs the word model"));
}

TEST(ModelSweep, SharesThatWordsSay) {
  EXPECT_EQ(share_said("none"), 1);
  EXPECT_EQ(share_said("all=2:4"), 0.5);
  EXPECT_EQ(share_said("all=tile:nm:2:8"), 0.25);
  EXPECT_EQ(share_said("down=bernoulli:0.1"), 0.1);
  EXPECT_EQ(share_said("all=bernoulli:0.5@8x1"), 0.5);
  EXPECT_EQ(share_said("down=bernoulli:0.1 up=bernoulli:0.1"), 0.1);
  EXPECT_EQ(share_said("down=bernoulli:0.1 up=bernoulli:0.2"), std::nullopt);
  EXPECT_EQ(share_said("down=file:x.npy"), std::nullopt);
}

}  // namespace
}  // namespace lacuna::test
