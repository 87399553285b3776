// SPDX-License-Identifier: Apache-2.0
// What a user does with finished results: compare, price anew, make again, write over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/driver/program_bench.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// All of a result that two runs must agree in.
std::string bytes(const ProgramBench& lacuna, const std::string& folder) {
  std::string all;
  for (const char* const name : {"summary.csv", "result.json", "statistics.csv", "cycle_stack.csv",
                                 "report.html", "figures/cycle_stack.svg"}) {
    all += lacuna.read(folder + "/" + name);
  }
  return all;
}

/// The command in a result.json, as arguments.
std::vector<std::string> command_of(const std::string& result) {
  const std::size_t begin = result.find("\"command\": [");
  const std::string list = result.substr(begin + 12, result.find(']', begin) - begin - 12);
  std::vector<std::string> words;
  for (std::size_t open = list.find('"'); open != std::string::npos;) {
    const std::size_t close = list.find('"', open + 1);
    words.push_back(list.substr(open + 1, close - open - 1));
    open = list.find('"', close + 1);
  }
  return words;
}

TEST(CompareResults, TellsWhichParametersAndPartsDifferAndByHowMuch) {
  const ProgramBench lacuna;
  const std::string run = "run --machine fake --gemm 64x64x64 --quiet --out ";
  ASSERT_EQ(lacuna(run + lacuna.path("a")).status, 0);
  ASSERT_EQ(lacuna(run + lacuna.path("b") + " --set unit.macs=16").status, 0);
  const Ran ran = lacuna("compare " + lacuna.path("a") + " " + lacuna.path("b"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  // 64^3 over 4 x 8 or 4 x 16 MAC, and 10 to drain: 8202 and 4106
  EXPECT_THAT(printed_row(ran.out, "unit.macs"), ElementsAre("MAC/cycle", "8", "16", "0"));
  EXPECT_THAT(printed_row(ran.out, "cycles 8202"), ElementsAre("4106", "-4096", "-49.94"));
  EXPECT_THAT(printed_row(ran.out, "compute.mac"), ElementsAre("8192", "4096", "-4096", "-50.00"));
  EXPECT_THAT(ran.out, Not(HasSubstr("idle.drained")));
}

TEST(CompareResults, OfTheSameResultSaysThatNothingDiffers) {
  const ProgramBench lacuna;
  ASSERT_EQ(lacuna("run --machine fake --gemm 8x8x8 --quiet --out " + lacuna.path("a")).status, 0);
  const Ran ran = lacuna("compare " + lacuna.path("a") + " " + lacuna.path("a"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("No setting differs."),
                             HasSubstr("1 of 1 runs are the same in both")));
}

TEST(CompareResults, PairsRunsByWhatTheyAreIfTheirNumbersDiffer) {
  const ProgramBench lacuna;
  const std::string compare = "compare --gemm 8x8x8 --machine fake --quiet --out ";
  ASSERT_EQ(lacuna(compare + lacuna.path("a") + " --machine slow").status, 0);
  ASSERT_EQ(lacuna(compare + lacuna.path("b")).status, 0);
  const Ran ran = lacuna("compare " + lacuna.path("a") + " " + lacuna.path("b"));
  EXPECT_THAT(ran.out, HasSubstr("only in " + lacuna.path("a") + ": run 1: slow, 8x8x8\n"));
}

TEST(CompareResults, RefusesWhatWouldMakeAnotherRun) {
  const ProgramBench lacuna;
  EXPECT_THAT(lacuna("compare out/a out/b --machine fake").err,
              HasSubstr("--machine: goes with a workload"));
  EXPECT_THAT(lacuna("compare out/a").err, HasSubstr("two result folders or more are needed"));
}

class EnergyTableTest : public ::testing::Test {
 protected:
  EnergyTableTest() {
    std::ifstream shipped(source_path("sim/config/energy_table.csv"));
    std::string line;
    while (std::getline(shipped, line) && line.rfind("event,", 0) != 0) {
    }
    // one price alone, a hundred times as high at 7 nm
    table_ = lacuna_.file("prices.csv",
                          line +
                              "\nmac_fp16_acc32,pJ/op,logic,0.925,1.332,2.405,50,72,130,0.36,"
                              "0.5184,0.936,R,a test\n");
  }
  ProgramBench lacuna_;
  std::string table_;
};

TEST_F(EnergyTableTest, AResultPricedAnewIsThatOfARunWithThesePrices) {
  const std::string run = "run --machine fake --gemm 16x16x16";
  ASSERT_EQ(lacuna_(run + " --out " + lacuna_.path("old")).status, 0);
  const Ran ran = lacuna_(run + " --energy-table " + table_ + " --out " + lacuna_.path("new"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("priced as shipped"));
  const Ran plot = lacuna_("plot " + lacuna_.path("old") + " --energy-table " + table_ + " --out " +
                           lacuna_.path("again"));
  ASSERT_EQ(plot.status, 0) << plot.err;
  EXPECT_EQ(bytes(lacuna_, "again"), bytes(lacuna_, "new"));
  EXPECT_NE(lacuna_.read("new/summary.csv"), lacuna_.read("old/summary.csv"));
}

TEST_F(EnergyTableTest, PricedAnewWithTheSamePricesItIsTheSameNumbers) {
  const std::string prices = " --energy-table " + source_path("sim/config/energy_table.csv");
  ASSERT_EQ(
      lacuna_("run --machine fake --gemm 16x16x16 --quiet --out " + lacuna_.path("old") + prices)
          .status,
      0);
  const Ran ran =
      lacuna_("plot " + lacuna_.path("old") + prices + " --out " + lacuna_.path("again"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(lacuna_.read("again/summary.csv"), lacuna_.read("old/summary.csv"));
}

TEST(ResultFolder, RunAgainByItsOwnCommandHasTheSameBytes) {
  const ProgramBench lacuna;
  ASSERT_EQ(lacuna("compare --machine fake --machine slow --gemm 64x64x64 --pattern dense "
                   "--pattern unstructured:0.25 --seed 7 --quiet --out " +
                   lacuna.path("a"))
                .status,
            0);
  std::vector<std::string> again = command_of(lacuna.read("a/result.json"));
  again.insert(again.end(), {"--out", lacuna.path("b"), "--jobs", "1", "--quiet"});
  const Ran ran = lacuna(again);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(bytes(lacuna, "b"), bytes(lacuna, "a"));
}

TEST(ResultFolder, ReplacedItKeepsWhatTheUserPutThereAndNothingOld) {
  const ProgramBench lacuna;
  const std::string run = "run --machine fake --gemm 8x8x8 --quiet --out " + lacuna.path("a");
  ASSERT_EQ(lacuna(run + " --event-log").status, 0);
  lacuna.file("a/notes.md", "mine");
  lacuna.file("a/figures/paper.tex", "mine too");
  std::filesystem::create_directories(lacuna.path("a/drafts"));
  lacuna.file("a/drafts/one.txt", "and this");
  ASSERT_EQ(lacuna(run).status, 0);
  EXPECT_EQ(lacuna.read("a/notes.md"), "mine");
  EXPECT_EQ(lacuna.read("a/figures/paper.tex"), "mine too");
  EXPECT_EQ(lacuna.read("a/drafts/one.txt"), "and this");
  EXPECT_FALSE(std::filesystem::exists(lacuna.path("a/events.csv")));
  EXPECT_THAT(lacuna.listing(), ElementsAre("a"));
}

TEST(ResultFolder, WrittenByTwoAtOnceItIsThatOfOneOfThem) {
  const ProgramBench lacuna;
  const std::string out = " --quiet --out " + lacuna.path("a");
  for (int round = 0; round < 3; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(lacuna("run --machine fake --gemm 8x8x8" + out).status);
    const Ran here = lacuna("run --machine fake --gemm 16x8x8" + out);
    int there = 0;
    waitpid(child, &there, 0);
    // one holds the journal, and the other begins when it is gone or is told so
    if (here.status != 0) {
      EXPECT_EQ(here.status, 2);
      EXPECT_THAT(here.err, HasSubstr("another process is at work on"));
      EXPECT_EQ(there, 0);
    }
    const std::string found =
        lacuna.read("a/result.json").find("\"16x8x8\"") != std::string::npos ? "16x8x8" : "8x8x8";
    for (const char* const file : {"summary.csv", "report.html"}) {
      EXPECT_THAT(lacuna.read(std::string("a/") + file), HasSubstr(found));
    }
    EXPECT_THAT(lacuna.listing(), ElementsAre("a"));
  }
}

}  // namespace
}  // namespace lacuna::test
