// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/report/view_page.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/driver/system_results.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/report/view_bytes.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A file in a folder of its own, gone at the end.
class TrainingFile {
 public:
  explicit TrainingFile(const std::string& more = "") {
    std::ofstream(path()) << "system: pod4\nmodel: bert-tiny\ntokens: 32\npredictions: 4\n"
                             "micro_batch: 2\naccumulation: 4\npipeline: 2\nreplicas: 2\n"
                             "rts_state: 2\n"
                          << more;
  }

  std::string path() const { return folder_ + "/training.yaml"; }
  std::string out() const { return folder_ + "/out"; }

 private:
  const TempFolder own_;
  const std::string folder_ = own_.path().string();
};

std::string run_line(const TrainingFile& file) {
  return "run --quiet --set chip.ipu.tiles=96 --set gateway.update_ms=0.01 --system-config " +
         file.path();
}

TEST(SystemRun, SaysTimeStackStagesAndMemory) {
  const TrainingFile file;
  const Ran ran = run_real(run_line(file) + " --wide");
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* const words :
       {"pod4 (4 chips gc200 in 1 machines)", "step_time", "16.00  sequences", "bubble",
        "embedding", "head", "gradients", "links and gateways"}) {
    EXPECT_THAT(ran.out, HasSubstr(words));
  }
}

TEST(SystemRun, BothEnginesGiveTheSameNumbers) {
  const TrainingFile file;
  const std::string line =
      run_line(file) + " --json --set training.tokens=8 --set training.accumulation=2";
  const Ran event = run_real(line);
  const Ran clocked = run_real(line + " --engine clocked");
  EXPECT_EQ(event.status, 0) << event.err;
  EXPECT_EQ(event.out, clocked.out);
}

/// Of each data set its numbers, as a browser would inflate them.
std::vector<std::string> seen(const std::string& page) {
  std::vector<std::string> numbers;
  for (const ViewData& data : read_views("", page)) numbers.push_back(test::bytes_of(data));
  return numbers;
}

TEST(SystemRun, HasAPageOfItsChipsWhichIsThatOfBothEngines) {
  const TrainingFile file;
  const std::string run =
      run_line(file) + " --set training.tokens=8 --set training.accumulation=2 --view --out ";
  ASSERT_EQ(run_real(run + file.out()).status, 0);
  const std::string page = file_text(file.out() + "/view.html");
  ASSERT_EQ(seen(page).size(), 1U);
  EXPECT_THAT(page, HasSubstr("training on pod4"));
  EXPECT_THAT(page, HasSubstr("replica 1 of 2"));
  ASSERT_EQ(run_real(run + file.out() + "2 --engine clocked").status, 0);
  EXPECT_EQ(file_text(file.out() + "2/view.html"), page);
}

TEST(SystemCompare, HasThePagesOfAllSystemsInOne) {
  const TrainingFile file;
  const std::string compare =
      "compare --quiet --machine pod4 --machine pod16 --set chip.ipu.tiles=96 --system-config " +
      file.path() + " --out ";
  ASSERT_EQ(run_real(compare + file.out() + " --view").status, 0);
  EXPECT_EQ(seen(file_text(file.out() + "/view.html")).size(), 2U);
  const Ran refused = run_real(compare + file.out() + "2 --timeline");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--timeline does not go with systems beside each other"));
}

TEST(SystemRun, RefusesMoreChipsThanThereAreAndWordsThatAreNone) {
  const TrainingFile file;
  const Ran many =
      run_real(run_line(file) + " --set training.replicas=4 --set training.rts_state=4");
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, HasSubstr("1 x 2 x 4 = 8 chips; it has 4"));
  const TrainingFile wrong("pipelin: 3\n");
  const Ran unknown = run_real(run_line(wrong));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'pipeline'"));
  EXPECT_THAT(unknown.err, HasSubstr("training.yaml:10:1"));
  EXPECT_EQ(run_real("run --machine pod4").status, 2);
}

TEST(SystemRun, SaysWhereAnUnknownSystemOrModelStands) {
  const std::string config = "run --system-config ";
  const TrainingFile file;
  const auto refused = [&](const std::string& text, const std::string& words) {
    std::ofstream(file.path()) << text;
    const Ran ran = run_real(config + file.path());
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr(words));
  };
  refused("model: bert-tiny\nsystem: pod5\n",
          "or a file; did you mean 'pod4' or 'bow_pod4'? (" + file.path() + ":2:1)");
  refused("model: bert-tny\n", "did you mean 'bert-tiny'? (" + file.path() + ":1:1)");
}

TEST(SystemRun, NamesWhatIsMeantWhereANameIsWrongOrAnOptionHasNoPlace) {
  const TrainingFile file;
  const auto refused = [](const std::string& line, const std::vector<std::string>& words) {
    const Ran ran = run_real(line);
    EXPECT_EQ(ran.status, 2) << line;
    for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
  };
  refused("run --system-config bert_larg_phase1_pod4", {"did you mean 'bert_large_phase1_pod4'?"});
  refused(run_line(file) + " --machine pod5",
          {"'pod5' is no system", "did you mean 'pod4' or 'bow_pod4'?"});
  refused("run --machine cs2x4 --system-config " + file.path(),
          {"training.pipeline: found '2' on cs2x4", "--set training.pipeline=1"});
  refused(run_line(file) + " --gemm 64x64x64", {"--gemm is for machines of one chip"});
  refused("describe fit --system-config kge_biokg_4_chips", {"describe fit is of models"});
  refused("run --set chip=wse2 --system-config " + file.path(), {"found chip = 'wse2'", "an IPU"});
}

TEST(SystemRun, WhatDoesNotFitSaysBytesAndALayoutThatDoes) {
  const TrainingFile file;
  const Ran ran = run_real(run_line(file) + " --set chip.tile.memory.kib=400");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("chip 0 of a replica needs"));
  EXPECT_THAT(ran.err, HasSubstr("the nearest layout that fits: tensor=1 pipeline="));
}

// 2 replicas with 4 micro-batches each on 4 chips are 8 with 1 on 16; 32 of them would be too many.
TEST(SystemCompare, SaysHowATrainingScales) {
  const TrainingFile file;
  const std::string line = "compare --quiet --set chip.ipu.tiles=96 --system-config " + file.path();
  const Ran ran = run_real(line + " --machine pod4 --machine pod16 --out " + file.out());
  EXPECT_EQ(ran.status, 0) << ran.err;
  const CsvTable scaling(file_text(file.out() + "/scaling.csv"));
  const auto cut = [&](const char* system) {
    const CsvTable row = scaling.where({{"system", system}});
    return std::vector<std::string>{row.cell("chips"), row.cell("replicas"),
                                    row.cell("accumulation")};
  };
  EXPECT_THAT(cut("pod4"), ElementsAre("4", "2", "4"));
  EXPECT_THAT(cut("pod16"), ElementsAre("16", "8", "1"));
  const Ran uneven = run_real(line + " --machine pod4 --machine pod64");
  EXPECT_EQ(uneven.status, 2);
  EXPECT_THAT(uneven.err, HasSubstr("8 micro-batches do not come out even over 32 replicas"));
}

// The state of 12 bytes for each weight of BERT-Large fits eight chips and not four.
TEST(SystemFit, BertLargeNeedsStreamingMemoryOnFourChipsAndNotOnEight) {
  const Ran eight = run_real("describe fit --system-config bert_large_p8_pod16");
  EXPECT_EQ(eight.status, 0) << eight.err;
  EXPECT_THAT(printed_row(eight.out, "1 8 2"), Contains("chip"));
  const Ran four = run_real(
      "run --system-config bert_large_phase1_pod16 --set training.state=chip --set "
      "training.rts_state=1");
  EXPECT_EQ(four.status, 1);
  EXPECT_THAT(four.err, HasSubstr("and has 940572672 B"));
  EXPECT_THAT(four.err, HasSubstr("fits: tensor=1 pipeline=4 replicas=4 state=streaming"));
}

TEST(SystemFit, GptOf175BillionNeedsPhases) {
  const Ran ran =
      run_real("describe fit --system-config gpt3_175b_pod256 --set training.attention_parts=1");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(printed_row(ran.out, "16 2 8"), Contains("streaming"));
}

// 200 W of each of four machines and 300 W of their hosts.
TEST(SystemRun, EnergyAddsUpAndStandingPowerIsThereAllTheTime) {
  const TrainingFile file;
  const Ran ran =
      run_real(run_line(file) + " --machine pod16 --set hosts_w=300 --out " + file.out());
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto values = quantities(file.out() + "/metrics.csv");
  EXPECT_DOUBLE_EQ(values.at("energy_machines"), 4 * 200 * values.at("step_time"));
  EXPECT_DOUBLE_EQ(values.at("energy_hosts"), 300 * values.at("step_time"));
  EXPECT_DOUBLE_EQ(values.at("energy"), parts_of(values));
  EXPECT_LT(values.at("energy_low"), values.at("energy"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Not counted")));
  EXPECT_THAT(run_real(run_line(file) + " --wide").out,
              HasSubstr("Not counted is the standing power of hosts (hosts_w)"));
}

// A bit over a hop costs 8 pJ, in streaming memory 20 pJ. What a chip that waits draws is told by a
// run that waits longer for its memory.
TEST(SystemRun, WaitingAndTrafficCostTheirTimeAndTheirBytes) {
  const TrainingFile file("state: streaming\n");
  for (const std::string ns : {"1000", "1000000"}) {
    const Ran ran =
        run_real(run_line(file) + " --set training.tokens=8 --set gateway.ddr_ns=" + ns +
                 " --out " + file.out() + ns);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  const auto base = quantities(file.out() + "1000/metrics.csv");
  const auto slow = quantities(file.out() + "1000000/metrics.csv");
  const double watts = (slow.at("energy_idle") - base.at("energy_idle")) /
                       (4 * (slow.at("step_time") - base.at("step_time")));
  const auto ns = uses(file.out() + "1000/time_stack.csv");
  const double waits = ns.at("links") + ns.at("streaming") + ns.at("all_reduce") + ns.at("host") +
                       ns.at("sync") + ns.at("imbalance") + ns.at("bubble");
  EXPECT_NEAR(base.at("energy_idle"), watts * waits * 1e-9, 1e-6 * base.at("energy_idle"));
  double links = 0;
  double memory = 0;
  for (const auto& [name, bytes] : quantities(file.out() + "1000/resources.csv")) {
    (name.find("ddr") != std::string::npos ? memory : links) += bytes;
  }
  EXPECT_GT(memory, 0);
  EXPECT_NEAR(base.at("energy_links"), links * 8 * 8e-12, 1e-9 * base.at("energy_links"));
  EXPECT_NEAR(base.at("energy_streaming"), memory * 8 * 20e-12, 1e-9 * base.at("energy_streaming"));
}

// What recomputing costs is the same in each micro-batch: twice as much for twice as many.
TEST(SystemRun, RecomputedWorkCostsItsEnergyInEachMicroBatch) {
  const TrainingFile file;
  const auto joules = [&](const std::string& more) {
    const Ran ran = run_real(run_line(file) + " --json --set training.tokens=8 " + more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string key = "\"energy_chips\": ";
    return std::strtod(ran.out.c_str() + ran.out.find(key) + key.size(), nullptr);
  };
  const auto again = [&](const std::string& accumulation) {
    return joules("--set training.accumulation=" + accumulation) -
           joules("--set training.activations=stored --set training.accumulation=" + accumulation);
  };
  const double two = again("2");
  EXPECT_GT(two, 0);
  EXPECT_NEAR(again("4"), 2 * two, 1e-6 * two);
}

// Weights and gradients take 4 bytes of what 256 chips of 941 MB have: 60 x 10^9 at most. The 32
// heads of the 6.7B model let 32 chips share a matrix, the 40 of the 13B model 8, which leaves less
// room.
TEST(SystemFit, APod256HoldsTensOfBillionsOfParametersOnItsChips) {
  const auto billions = [](const std::string& model) {
    const Ran ran = run_real(
        "describe fit --system-config gpt3_175b_pod256 --set training.attention_parts=1 "
        "--set training.model=" +
        model);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::size_t at = ran.out.find("The largest of this width held on the chips");
    const std::size_t number = ran.out.find("layers, ", at);
    EXPECT_NE(number, std::string::npos) << ran.out;
    return number == std::string::npos ? 0 : std::strtod(ran.out.c_str() + number + 8, nullptr);
  };
  const double eight = billions("gpt3-13b");
  const double more = billions("gpt3-6.7b");
  EXPECT_GT(eight, 20);
  EXPECT_GT(more, eight);
  EXPECT_LT(more, 60);
}

TEST(SystemFit, ATrillionParametersFitTheStreamingMemoryOfAPod256) {
  const Ran ran = run_real("describe fit --system-config gpt_1t_pod256");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("gpt-1t on pod256"));
  EXPECT_THAT(ran.out, Not(HasSubstr("layouts that fit\n\nnone")));
}

// Simulated over published times of ten updates of BERT-Large: -15.4 to -2.2 %.
TEST(SystemRun, OfBertLargeOnAPodSaysHowSureItsTimeIs) {
  const std::string line = "run --quiet --json --system-config bert_large_mlperf_v1_0_pod16";
  const Ran ran = run_real(line);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto number = [](const Ran& of, const std::string& name) {
    const std::size_t at = of.out.find("\"" + name + "\": ");
    return at == std::string::npos ? -1.0
                                   : std::strtod(of.out.c_str() + at + name.size() + 4, nullptr);
  };
  EXPECT_NEAR(number(ran, "step_time_low"), number(ran, "step_time") / (1 - 0.022), 1e-9);
  EXPECT_NEAR(number(ran, "step_time_high"), number(ran, "step_time") / (1 - 0.154), 1e-9);
  // and so does the figure of several systems, of the rate
  const ProgramBench bench;
  const std::string out = bench.path("out");
  const Ran both = run_real(
      "compare --quiet --machine pod16 --machine pod4 --system-config bert_large_mlperf_v1_0_pod16 "
      "--out " +
      out);
  ASSERT_EQ(both.status, 0) << both.err;
  const std::string drawn = file_text(out + "/figures/scaling.csv");
  const auto at = [&](const std::string& series, std::size_t column) {
    std::istringstream cells(drawn.substr(drawn.find("\n" + series + ",") + 1));
    std::string cell;
    for (std::size_t i = 0; i <= column; ++i) std::getline(cells, cell, i < 4 ? ',' : '\n');
    return std::stod(cell);
  };
  EXPECT_NEAR(at("simulated,16", 3), at("simulated,16", 2) * (1 - 0.154), 1e-6);
  EXPECT_NEAR(at("simulated,16", 4), at("simulated,16", 2) * (1 - 0.022), 1e-6);
  EXPECT_EQ(at("simulated,4", 3), at("simulated,4", 2)) << "four chips were not measured";
  // another chip than that of the pod
  const Ran other = run_real(line + " --set chip.tile.workers=5");
  EXPECT_EQ(number(other, "step_time_low"), -1) << other.err;
}

/// Seconds of a trace of these rows on two of the chips of a pod.
double seconds_of(const ProgramBench& bench, const std::string& rows) {
  const std::string trace =
      bench.file("rows.csv", "# lacuna-trace v1\nid,op,m,k,n,repeat,args,fn\n" +
                                 std::string("mul,gemm,64,64,64,,,\n") + rows);
  const Ran ran = run_real("run --machine pod4 --json --set training.replicas=2 --trace " + trace);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::string key = "\"step_time\": ";
  return std::stod(ran.out.substr(ran.out.find(key) + key.size()));
}

// 2^20 halves are 2 MiB. Two chips of a pair add them up in two steps, in each of which each chip
// sends half of them to the other over four links of 16 GB/s, of which 0.85 arrive: 2^20 B
// over 54.4 GB/s are 19.28 us. Gathering them is one such step. Beside that a step has a hop and a
// barrier, less than 0.3 us. 2^20 halves to a host: 2 MiB from each chip over its own 15.75 GB/s,
// but 12.5 GB/s for the machine: 335.5 us; to that come latencies of 2.5 us and the chunks of 64
// KiB that are under way on PCIe, 4.2 us each, when the host's link begins and when it ends. Of two
// chips one gives the other half of a vector before they gather it, or gets half when each has its
// half of the sum: two steps, too, the first of a broadcast one way, as is the last of a reduction.
TEST(SystemTrace, RowsBetweenChipsTakeTheTimeOfTheirLinks) {
  const ProgramBench bench;
  const double step = 1048576 / 54.4e9;
  const double none = seconds_of(bench, "");
  const double once = seconds_of(bench, "sum,allreduce,1048576,,,1,ranks=2,\n");
  const double thrice = seconds_of(bench, "sum,allreduce,1024,,1024,3,ranks=2,\n");
  EXPECT_NEAR(once - none, 2 * step, 0.6e-6);
  EXPECT_NEAR(thrice - once, 2 * (once - none), 1e-8);
  EXPECT_NEAR(seconds_of(bench, "all,allgather,1048576,,,1,ranks=2,\n") - none, step, 0.3e-6);
  for (const std::string one : {"broadcast", "reduce"}) {
    EXPECT_NEAR(seconds_of(bench, "one," + one + ",1048576,,,1,ranks=2,\n") - none, 2 * step,
                0.6e-6);
  }
  EXPECT_NEAR(seconds_of(bench, "out,io,1048576,,1,1,,d2h\n") - none,
              4194304 / 12.5e9 + 2.5e-6 + 2 * 65536 / 15.75e9, 0.1e-6);
}

TEST(SystemTrace, RefusesWhatIsNotBetweenTheseChips) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& rows, const std::string& more = "") {
    const std::string trace = bench.file("rows.csv", "# lacuna-trace v1\nid,op,m,n,args\n" + rows);
    const Ran ran = run_real("run --machine pod4 --trace " + trace + more);
    EXPECT_NE(ran.status, 0) << rows;
    return ran.err;
  };
  EXPECT_THAT(refused("s,allreduce,64,,ranks=2\n"), HasSubstr("4 chips run these rows"));
  EXPECT_THAT(refused("s,p2p,64,,ranks=4\n"), HasSubstr("does not say from which chip to which"));
  EXPECT_THAT(refused("s,allreduce,64,,ranks=4 between=cores\n"), HasSubstr("between=cores"));
  EXPECT_THAT(refused("s,allreduce,64,,ranks=4\n", " --pattern block16:0.1"),
              HasSubstr("--pattern is for machines of one chip"));
  EXPECT_THAT(refused("s,allreduce,64,,ranks=4\n", " --set training.replicas=5"),
              HasSubstr("pod4 has 4 chips"));
  EXPECT_THAT(refused("s,allreduce,64,,ranks=4\n", " --system-config kge_biokg_4_chips"),
              HasSubstr("a system runs one of them"));
}

}  // namespace
}  // namespace lacuna::test
