// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <sstream>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A column of a summary, without the rows TOTAL.
std::vector<std::string> column_of(const std::string& csv, const std::string& name) {
  std::vector<std::string> cells;
  for (const CsvRow& row : CsvTable(csv).rows()) {
    if (row.at("op_id") != "TOTAL") cells.push_back(row.at(name));
  }
  return cells;
}

const char* const kGrid =
    "machine: fake\n"
    "gemm: 64x64x64\n"
    "pattern: unstructured\n"
    "grid:\n"
    "  density: [0.5, 0.25]\n"
    "  unit.macs: {from: 8, to: 32, factor: 2}\n";

TEST(Sweep, RunsEveryCombinationInTheOrderOfTheFileTheLastTheFastest) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml", kGrid);
  const Ran ran = lacuna("sweep " + file + " --jobs 3 --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string summary = lacuna.read("out/summary.csv");
  EXPECT_THAT(column_of(summary, "run"), ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_THAT(column_of(summary, "unit.macs"), ElementsAre("8", "16", "32", "8", "16", "32"));
  // kept 2048 or 1024, x 64 columns over 4 units x MACs, and 10 to drain
  EXPECT_THAT(column_of(summary, "cycles"),
              ElementsAre("4106", "2058", "1034", "2058", "1034", "522"));
  EXPECT_THAT(lacuna.listing(), ElementsAre("out", "study.yaml"));
}

TEST(Sweep, IsTheSameBytesWhateverTheNumberOfJobs) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml", kGrid);
  ASSERT_EQ(lacuna("sweep " + file + " --jobs 1 --out " + lacuna.path("a")).status, 0);
  ASSERT_EQ(lacuna("sweep " + file + " --jobs 4 --out " + lacuna.path("b")).status, 0);
  for (const char* const name : {"summary.csv", "result.json", "statistics.csv"}) {
    EXPECT_EQ(lacuna.read(std::string("a/") + name), lacuna.read(std::string("b/") + name));
  }
}

// What is zipped moves along an axis: one line of three points, whose axis names both.
TEST(Sweep, DrawsZippedAxes) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml",
                                       "machine: fake\n"
                                       "gemm: 64x64x64\n"
                                       "pattern: unstructured:0.5\n"
                                       "zip: {unit.count: [1, 2, 4], unit.macs: [8, 16, 32]}\n");
  const Ran ran = lacuna("sweep " + file + " --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string drawn = lacuna.read("out/figures/throughput_against_unit_count.csv");
  // a line for all: its name has neither
  EXPECT_EQ(drawn.find("macs="), std::string::npos);
  EXPECT_THAT(CsvTable(drawn).column("unit.count (with unit.macs)"), ElementsAre("1", "2", "4"));
}

TEST(Sweep, ZipsStepTogetherAndConditionsLeaveOut) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml",
                                       "machine: fake\n"
                                       "gemm: 64x64x64\n"
                                       "pattern: unstructured:0.5\n"
                                       "zip: {unit.count: [1, 2, 4], unit.macs: [8, 4, 2]}\n"
                                       "grid: {seed: {from: 1, to: 3, step: 1}}\n"
                                       "where: [unit.count * seed < 6, seed != 2]\n");
  const Ran ran = lacuna("sweep " + file + " --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string summary = lacuna.read("out/summary.csv");
  EXPECT_THAT(column_of(summary, "unit.count"), ElementsAre("1", "1", "2", "4"));
  EXPECT_THAT(column_of(summary, "unit.macs"), ElementsAre("8", "8", "4", "2"));
  EXPECT_THAT(column_of(summary, "seed"), ElementsAre("1", "3", "1", "1"));
}

TEST(Sweep, DenseWeightsTakeNoDensityAndUnstructuredOnesInBlocksAreBlocks) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml",
                                       "machine: [fake, slow]\n"
                                       "gemm: 64x64x64\n"
                                       "grid:\n"
                                       "  pattern: [dense, unstructured]\n"
                                       "  density: [0.5, 0.25]\n"
                                       "  block: [1, 16]\n");
  const Ran ran = lacuna("sweep " + file + " --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string summary = lacuna.read("out/summary.csv");
  EXPECT_THAT(column_of(summary, "pattern"),
              ElementsAre("dense", "unstructured", "block", "unstructured", "block",  //
                          "dense", "unstructured", "block", "unstructured", "block"));
  // the machine's own dense run is among the points: 1000/1000 at its own
  EXPECT_EQ(column_of(summary, "speedup_vs_dense")[0], "1");
  EXPECT_EQ(column_of(summary, "speedup_vs_dense")[5], "1");
}

TEST(Sweep, AWordThatNoPointTakesIsRefused) {
  const ProgramBench lacuna;
  const auto error = [&](const std::string& pattern) {
    const std::string file = lacuna.file(
        "e.yaml",
        "machine: fake\ngemm: 8x8x8\ngrid:\n  density: [0.5]\n  pattern: " + pattern + "\n");
    return lacuna("sweep --quiet " + file).err;
  };
  EXPECT_THAT(error("[dense]"), HasSubstr("e.yaml:4:3: 'density' acts on no point"));
  EXPECT_EQ(error("[dense, unstructured]"), "");
  const Ran none = lacuna("compare --machine fake --gemm 8x8x8 --pattern dense --density 0.1,0.2");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("none of the patterns takes one: dense"));
}

TEST(Sweep, ADensePartnerIsOneOfTheSameParameters) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml",
                                       "machine: fake\n"
                                       "gemm: 64x64x64\n"
                                       "pattern: unstructured:0.5\n"
                                       "with_dense: true\n"
                                       "grid: {unit.macs: [8, 32]}\n");
  const Ran ran = lacuna("sweep " + file + " --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  // dense: 64^3 over 4 x 8 or 4 x 32 MAC, and 10: 8202 and 2058; sparse: 4106 and 1034
  const std::vector<std::string> gains =
      column_of(lacuna.read("out/summary.csv"), "speedup_vs_dense");
  ASSERT_EQ(gains.size(), 2U);
  EXPECT_DOUBLE_EQ(std::stod(gains[0]), 8202.0 / 4106);
  EXPECT_DOUBLE_EQ(std::stod(gains[1]), 2058.0 / 1034);
}

TEST(Sweep, APointThatDiesIsReportedAndTheOthersAreDone) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("study.yaml",
                                       "machine: fake\n"
                                       "gemm: 8x8x8\n"
                                       "grid: {fault: [none, crash, memory, deadlock, stack]}\n");
  const Ran ran = lacuna("sweep " + file + " --out " + lacuna.path("out"));
  EXPECT_EQ(ran.status, 4);  // `stack` is a defect; without it 1
  const std::string summary = lacuna.read("out/summary.csv");
  EXPECT_THAT(column_of(summary, "status"),
              ElementsAre("ok", "failed", "out_of_memory", "failed", "failed"));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("point 1 failed: gemm: its process was ended by signal"),
                             HasSubstr("point 4 failed: gemm: internal inconsistency: ")));
}

TEST(Sweep, RefusesMistakesOfTheFileWithLineAndColumn) {
  const ProgramBench lacuna;
  const auto refusal = [&](const std::string& text) {
    const Ran ran = lacuna("sweep " + lacuna.file("study.yaml", text));
    EXPECT_EQ(ran.status, 2) << text;
    return ran.err;
  };
  const std::string head = "machine: fake\ngemm: 8x8x8\n";
  EXPECT_THAT(refusal(head + "grids: {}\n"),
              HasSubstr("study.yaml:3:1: there is no 'grids' here; allowed: machine, trace, "));
  // before the density is missed, which the word was to be
  EXPECT_THAT(refusal(head + "pattern: unstructured\ngrid: {densty: [0.1, 0.2]}\n"),
              HasSubstr("study.yaml:4:8: no machine of this experiment has a parameter 'densty'; "
                        "did you mean 'density' or "));
  EXPECT_THAT(refusal(head + "grid: {unit.mac: [1, 2]}\n"),
              HasSubstr("study.yaml:3:8: no machine of this experiment has a parameter 'unit.mac'; "
                        "did you mean 'unit.macs'?"));
  EXPECT_THAT(refusal(head + "grid: {unit.macs: [1, 65]}\n"), HasSubstr("study.yaml:3:8"));
  EXPECT_THAT(refusal(head + "grid: {unit.macs: []}\n"), HasSubstr("'unit.macs' has no value"));
  EXPECT_THAT(refusal(head + "grid: {unit.macs: [1, 1]}\n"), HasSubstr("has '1' twice"));
  EXPECT_THAT(refusal(head + "grid: {seed: {from: 1, to: 3}}\n"),
              HasSubstr("a range has from, to, and one of step and factor"));
  EXPECT_THAT(refusal(head + "grid: {seed: {from: 1, to: 3, step: -1}}\n"),
              HasSubstr("the range from 1 to 3 does not end with step -1"));
  EXPECT_THAT(refusal(head + "zip: {seed: [1, 2], unit.macs: [1, 2, 4]}\n"),
              HasSubstr("zip: 'unit.macs' has 3 values, 'seed' has 2"));
  EXPECT_THAT(refusal(head + "seed: 1\nseed: 2\n"), HasSubstr("'seed' is given twice"));
  EXPECT_THAT(refusal(head + "seed: '1\n\n2'\n"), HasSubstr("goes on over several lines"));
  EXPECT_THAT(refusal(head + "where: seed > 2\nseed: 1\n"),
              HasSubstr("no combination meets the conditions"));
  EXPECT_THAT(refusal(head + "where: seed > 2\nseed: 1\nset: {unit.macs: 2}\n"),
              HasSubstr("no combination meets the conditions"));
  EXPECT_THAT(refusal(head + "pattern: unstructured\ngrid: {density: [0.5, 1.5]}\n"),
              HasSubstr("at density = 1.5: --density: error E205"));
  EXPECT_THAT(refusal("machine: fake\ngrid: {seed: [1, 2]}\n"), HasSubstr("no workload is given"));
  EXPECT_THAT(refusal("machine: [fake\n"), HasSubstr("is not YAML"));
}

class SweepJournalTest : public ::testing::Test {
 protected:
  std::string sweep(const std::string& out) const {
    return "sweep " + file_ + " --jobs 2 --quiet --out " + lacuna_.path(out);
  }

  /// What a user sees of a finished sweep; the bytes of everything but host.json.
  std::string result(const std::string& out) const {
    return lacuna_.read(out + "/summary.csv") + lacuna_.read(out + "/statistics.csv") +
           lacuna_.read(out + "/result.json");
  }

  /// Starts it and kills it with all that it started, after some time.
  void start_and_kill(const std::string& line, unsigned microseconds) const {
    const pid_t child = fork();
    if (child == 0) {
      lacuna_(line);
      _exit(0);
    }
    usleep(microseconds);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

  /// The same as soon as its journal has something; returns that. It may have been faster: then it
  /// is started again, and nothing is returned if it always was.
  std::string start_and_kill_at_work(const std::string& line) const {
    const std::string journal = lacuna_.path("out.journal");
    for (int attempt = 0; attempt < 100; ++attempt) {
      const pid_t child = fork();
      if (child == 0) {
        lacuna_(line);
        _exit(0);
      }
      std::error_code none;
      while (waitpid(child, nullptr, WNOHANG) == 0) {
        const auto bytes = std::filesystem::file_size(journal, none);
        if (none || bytes == 0) continue;
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        break;
      }
      if (std::filesystem::exists(journal)) return lacuna_.read("out.journal");
      std::filesystem::remove_all(lacuna_.path("out"));
    }
    return "";
  }

  ProgramBench lacuna_;
  std::string file_ = lacuna_.file("study.yaml",
                                   "machine: fake\n"
                                   "gemm: 16x16x16\n"
                                   "pattern: unstructured:0.5\n"
                                   "grid:\n"
                                   "  unit.macs: {from: 1, to: 6, step: 1}\n"
                                   "  seed: {from: 1, to: 4, step: 1}\n");
};

TEST_F(SweepJournalTest, KilledAtRandomMomentsAndResumedItIsAsIfNothingHadHappened) {
  ASSERT_EQ(lacuna_(sweep("whole")).status, 0);
  std::mt19937 chance(17);  // its numbers are specified, and the moments differ anyway
  for (int kill = 0; kill < 6; ++kill)
    start_and_kill(sweep("out") + " --resume", static_cast<unsigned>(chance() % 30000));
  const Ran ran = lacuna_(sweep("out") + " --resume");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(result("out"), result("whole"));
}

TEST_F(SweepJournalTest, CutOffAtAnyByteItLosesThePointThatWasCutAndNoOther) {
  ASSERT_EQ(lacuna_(sweep("whole")).status, 0);
  const std::string journal = start_and_kill_at_work(sweep("out"));
  ASSERT_FALSE(journal.empty());
  for (std::size_t part = 0; part <= 3; ++part) {
    lacuna_.file("out.journal", journal.substr(0, journal.size() * part / 3));
    const Ran ran = lacuna_(sweep("out") + " --resume");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(result("out"), result("whole"));
    std::filesystem::remove_all(lacuna_.path("out"));
  }
}

TEST_F(SweepJournalTest, AChangedExperimentIsRefusedWithWhatChanged) {
  const std::string before = "machine: fake\ngemm: 16x16x16\nset: {fault: interrupt_after}\n";
  lacuna_.file("study.yaml", before + "grid: {seed: [1, 2]}\n");
  lacuna_.file("config/interrupt_after", "1");
  ASSERT_EQ(lacuna_("sweep " + file_ + " --jobs 1 --quiet --out " + lacuna_.path("other")).status,
            1);
  lacuna_.file("study.yaml", before + "grid: {seed: [1, 3]}\n");
  const Ran ran = lacuna_(sweep("other") + " --resume");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("\n  seed: was '1, 2', is '1, 3'\n"));
  const Ran set = lacuna_(sweep("other") + " --resume --set clock=1");
  EXPECT_THAT(set.err, HasSubstr("--set clock: was not there, is '1'"));
  const Ran plain = lacuna_(sweep("other"));
  EXPECT_EQ(plain.status, 2);
  EXPECT_THAT(plain.err, HasSubstr("unfinished work, 1 parts of it done, is in"));
}

TEST_F(SweepJournalTest, ResumingWhatIsFinishedDoesNothing) {
  ASSERT_EQ(lacuna_(sweep("out")).status, 0);
  const Ran again = lacuna_(sweep("out") + " --resume");
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, HasSubstr("the sweep is finished"));
  EXPECT_THAT(lacuna_(std::string("sweep ") + file_ + " --resume").err,
              HasSubstr("--resume: needs --out"));
}

// 6 x 4 points: of five shares the last has the points 4, 9, 14 and 19.
TEST_F(SweepJournalTest, SharesThatAreSimulatedApartMakeTheSameResult) {
  ASSERT_EQ(lacuna_(sweep("whole")).status, 0);
  for (const char* const share : {"5/5", "1/5", "2/5", "3/5"}) {
    const Ran ran = lacuna_(sweep("out") + " --shard " + share);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(lacuna_.path("out")));
    if (share[0] == '5') {
      EXPECT_THAT(ran.err, HasSubstr("share 5/5: 4 of 24 points are kept"));
    }
  }
  const Ran unasked = lacuna_(sweep("out"));
  EXPECT_EQ(unasked.status, 2);
  EXPECT_THAT(unasked.err, HasSubstr("out.shard1of5.journal'; --resume takes it"));
  ASSERT_EQ(lacuna_(sweep("out") + " --resume").status, 0);  // and simulates the fourth share
  EXPECT_EQ(result("out"), result("whole"));
  EXPECT_FALSE(std::filesystem::exists(lacuna_.path("out.shard1of5.journal")));
  EXPECT_THAT(lacuna_(sweep("other") + " --shard 6/5").err, HasSubstr("--shard: I: found '6'"));
  EXPECT_THAT(lacuna_("sweep " + file_ + " --shard 1/5").err, HasSubstr("--shard: needs --out"));
}

}  // namespace
}  // namespace lacuna::test
