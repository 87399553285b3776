// SPDX-License-Identifier: Apache-2.0
// Files that are named in another way, or hold something else, than usual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/driver/system/idle.hpp"
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
using ::testing::Not;

class OddFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  const TempFolder own_;
  const fs::path folder_ = own_.path();
};

// Whoever reads it: machines, experiments, layouts.
TEST_F(OddFiles, APackedFileOfWordsIsNamed) {
  const std::string packed = write("m.yaml", "\x1f\x8b\x08");
  const std::string product = " --gemm 8x8x8";
  for (const std::string& line : {"run" + product + " --machine " + packed, "sweep " + packed,
                                  "run --machine bow" + product + " --layout " + packed}) {
    EXPECT_THAT(run_real(line).err,
                HasSubstr(packed + ": found a file packed by gzip; allowed: the unpacked file"))
        << line;
  }
}

// Eight weights by a path from where the program runs; the trace, in a folder of its own, finds
// them.
TEST_F(OddFiles, ATraceFindsWeightsThatWereGivenByARelativePath) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  const std::string size = {static_cast<char>(header.size()), '\0'};
  const std::string weights =
      write("w.npy", std::string("\x93NUMPY\x01") + '\0' + size + header + "abcdefgh");
  fs::create_directory(folder_ / "made");
  const std::string trace = folder_ / "made/rows.csv";
  const std::string relative = fs::path(weights).lexically_relative(fs::current_path());
  ASSERT_FALSE(fs::path(relative).is_absolute());
  const Ran made =
      run_real("trace import " + relative + " --prune --density 0.5 --n 8 --out " + trace);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(file_text(trace), AllOf(HasSubstr("field=file:../"), HasSubstr("/w.npy")));
  EXPECT_EQ(run_real("trace check " + trace).status, 0);
}

TEST_F(OddFiles, SaysThatStoredZerosAreKept) {
  const std::string matrix = write("a.mtx",
                                   "%%MatrixMarket matrix coordinate real general\n"
                                   "4 4 3\n1 1 2\n2 2 0\n3 3 -1\n");
  const std::string run = "run --quiet --machine bow --set ipu.tiles=4 --n 8 --matrix ";
  EXPECT_THAT(run_real(run + matrix).err, HasSubstr("a.mtx: 1 stored zero is kept"));
  EXPECT_EQ(run_real(run + matrix + " --pattern block:2:0.5 --block 2").err.find("stored"),
            std::string::npos);
}

// What is for weights, or for sums of products, changes nothing of a softmax.
TEST_F(OddFiles, RefusesOptionsThatNoRowTakes) {
  const std::string rows = "run --quiet --machine bow --set ipu.tiles=4 --trace " +
                           write("rows.csv", "id,op,m,n\na,softmax,8,8\n");
  EXPECT_EQ(run_real(rows).status, 0);
  for (const char* const words : {"--x-density 0.5", "--x-pattern bernoulli:0.5", "--mode static",
                                  "--residency resident", "--partials fp32"}) {
    const Ran ran = run_real(rows + " " + words);
    EXPECT_EQ(ran.status, 2) << words;
    EXPECT_THAT(ran.err, HasSubstr("allowed: a workload with a product")) << words;
  }
  const std::string product = "run --quiet --machine bow --set ipu.tiles=4 --trace " +
                              write("product.csv", "id,op,m,k,n\na,bmm,8,8,8\n");
  EXPECT_EQ(run_real(product + " --partials fp32").status, 0);
  EXPECT_THAT(run_real(product + " --x-density 0.5").err, HasSubstr("a product with weights"));
}

TEST_F(OddFiles, RefusesAPipeByName) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const char* const machine : {"bow", "pod4"}) {
    const Ran ran = run_real(std::string("run --machine ") + machine + " --trace " + pipe);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("pipe', a pipe or device; allowed: a file")) << machine;
  }
}

// An axis of all machines and one of a machine alone: the first would change nothing there, and
// its points would be called otherwise.
TEST_F(OddFiles, RefusesAParameterThatIsGivenTwiceForAMachine) {
  const std::string head = "machine: bow\ngemm: 8x8x8\nset: {ipu.tiles: 4}\n";
  const std::string both =
      write("both.yaml", head + "grid: {clock: [1, 2], 'bow:clock': [1, 2]}\n");
  EXPECT_THAT(run_real("sweep --quiet " + both).err,
              HasSubstr("'clock' is given twice for bow; first in "));
  const std::string one = write("one.yaml", head + "grid: {'bow:clock': [1, 2]}\n");
  EXPECT_EQ(run_real("sweep --quiet " + one).status, 0);
  EXPECT_THAT(run_real("sweep --quiet --set clock=2 " + one).err,
              HasSubstr("'clock' is given twice for bow; first in --set"));
  const std::string none = write("none.yaml", head + "grid: {dtype: [fp16, fp32]}\n");
  const Ran named = run_real("sweep --quiet --json --set bow:clock=1 " + none);
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_EQ(named.out, run_real("sweep --quiet --json --set clock=1 " + none).out);
}

// Four chips that add up 64 x 64 numbers over their links: nothing is in streaming memory or goes
// between domains, and one domain has all chips.
TEST_F(OddFiles, SaysWhichPartsOfAPodNothingWentOver) {
  const std::string trace = write("sum.csv",
                                  "# lacuna-trace v1\nid,op,m,k,n,dtype,args\n"
                                  "a,gemm,64,64,64,fp16,\n"
                                  "sum,allreduce,64,,64,fp16,between=chips;ranks=4\n");
  const auto said = [&](const std::string& setting) {
    const Ran ran = run_real("run --quiet --machine pod4 --set chip.ipu.tiles=32 --trace " + trace +
                             " --set " + setting);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(
      said("gateway.ddr_gbps=10"),
      HasSubstr("gateway.ddr_gbps acts on nothing here: nothing went over streaming memory"));
  EXPECT_THAT(said("gateway.hop_ns=10"), HasSubstr("the links between gateways"));
  EXPECT_THAT(said("sync.gateway_ns=10"), HasSubstr("4 chips are one domain of 64"));
  EXPECT_EQ(said("links.rail_links=1"), "");
}

// Beside each other: 4 chips are one domain, 128 are two.
TEST_F(OddFiles, SaysOfComparedPodsWhatChangesNothingOnAnyOfThem) {
  const std::string trace = write("one.csv",
                                  "# lacuna-trace v1\nid,op,m,k,n,dtype,args\n"
                                  "a,gemm,64,64,64,fp16,\n");
  const auto said = [&](const std::string& setting) {
    const Ran ran = run_real("compare --quiet --machine pod4 --machine pod128 --trace " + trace +
                             " --set chip.ipu.tiles=32 --set " + setting);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(said("gateway.ddr_gbps=10"), HasSubstr("gateway.ddr_gbps acts on nothing here"));
  EXPECT_EQ(said("sync.gateway_ns=10"), "");
}

TEST(IdleParts, OfAModelAreThoseOfStreams) {
  EXPECT_THAT(idle_parts_of_model({"gateway.ddr_gbps=10", "links.hop_ns=5"}),
              AllOf(HasSubstr("gateway.ddr_gbps acts with inference.weights or inference.cache"),
                    Not(HasSubstr("links.hop_ns"))));
  EXPECT_EQ(idle_parts_of_model({"gateway.ddr_gbps=10", "inference.cache=streaming"}), "");
  EXPECT_THAT(idle_parts_of_model({"gateway.update_ms=1", "inference.cache=streaming"}),
              HasSubstr("gateway.update_ms acts on nothing of --model"));
}

// The store keeps two moments in FP32 unless memoryx.state_bytes says otherwise.
TEST(IdleWords, OfATreeAreThoseThatTheStoreDoesNotKnow) {
  system::TrainingParams training;
  EXPECT_EQ(idle_words_on_tree(training, 8), "");
  training.set("optimizer", "sgd", "");
  EXPECT_THAT(idle_words_on_tree(training, 8), HasSubstr("training.optimizer = sgd keeps 0 B"));
  EXPECT_EQ(idle_words_on_tree(training, 0), "");
  training.set("code_kib", "128", "");
  training.set("state", "streaming", "");
  EXPECT_THAT(idle_words_on_tree(training, 0), AllOf(HasSubstr("training.code_kib is of the tiles"),
                                                     HasSubstr("training.state = streaming")));
}

/// What `describe --json` says of a parameter; an exception if it does not list it.
nlohmann::ordered_json entry_of(const std::string& json, const std::string& path) {
  for (const auto& kind : nlohmann::ordered_json::parse(json)) {
    for (const auto& entry : kind.at("parameters")) {
      if (entry.at("path") == path) return entry;
    }
  }
  throw std::out_of_range(path);
}

TEST(DescribeSystems, NamesParametersOfThoseJoinedByLinks) {
  const Ran all = run_real("describe parameters --machine pod4");
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(printed_row(all.out, "links.hop_ns"), Contains("ns"));
  EXPECT_THAT(printed_row(run_real("describe links.topology --machine pod64").out, "pod64"),
              Contains("torus"));
  EXPECT_THAT(printed_row(run_real("describe gateway --machine pod4").out, "gateway.ddr_gbps"),
              Contains("GB/s"));
  const std::string of_pod = run_real("describe parameters --machine pod4 --json").out;
  EXPECT_EQ(member_of(of_pod, "machine"), "pod4");
  EXPECT_EQ(entry_of(of_pod, "links.hop_ns").at("unit"), "ns");
  // a group of them too, with the pod's values or without, as of a chip
  const std::string links = run_real("describe links --machine pod4 --json").out;
  EXPECT_EQ(entry_of(links, "links.topology").at("value"), "ladder");
  const std::string any_links = run_real("describe links --json").out;
  EXPECT_EQ(member_of(any_links, "kind"), "system of chips");
  EXPECT_TRUE(member_of(any_links, "value").is_null());
  // a subject stays one where a group has its name
  EXPECT_EQ(member_of(run_real("describe machines --json").out, "subject"), "machines");
  const std::string json = run_real("describe parameters --json").out;
  for (const char* const path : {"links.hop_ns", "training.accumulation", "inference.tensor"}) {
    EXPECT_EQ(entry_of(json, path).at("path"), path);
  }
  EXPECT_THAT(run_real("describe statistics --machine pod4").err,
              HasSubstr("statistics are of its chips: --machine gc200"));
  EXPECT_THAT(run_real("describe training.accumulation").out, HasSubstr("of training steps"));
  EXPECT_THAT(run_real("describe inference.tensor").out, HasSubstr("of language models on IPUs"));
}

}  // namespace
}  // namespace lacuna::test
