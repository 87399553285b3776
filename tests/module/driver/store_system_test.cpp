// SPDX-License-Identifier: Apache-2.0
// Systems of chips of any machine: those that share a store of weights, and what goes between
// chips.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `what` of a pass, in ns, of a passes.csv.
std::int64_t of_pass(const std::string& csv, const std::string& pass, const std::string& what) {
  std::istringstream head(csv.substr(0, csv.find('\n')));
  std::istringstream row(csv.substr(csv.find("\n" + pass + ",") + 1));
  std::string name;
  std::string cell;
  while (std::getline(head, name, ',') && std::getline(row, cell, ',')) {
    if (name == what) return std::stoll(cell);
  }
  return -1;
}

// 1,024 numbers of FP32 are one chunk of 4,096 B, 27 ns of 150 GB/s. Up: 5,000 ns from the wafer to
// its link, 27 ns on the link, and those after it 27 ns in the store, of which the last is that of
// the sum, in which the way down begins: 5,053 ns. Down the same. With a level of the tree a second
// link of 27 ns and 500 ns, each way.
TEST(SystemTrace, ATreeAddsUpWhatIsBetweenChipsAndGivesItBack) {
  const ProgramBench bench;
  for (const auto& [op, engine] :
       {std::pair("allreduce", "event"), std::pair("allgather", "event"),
        std::pair("reducescatter", "event"), std::pair("allreduce", "clocked")}) {
    for (const auto& [chips, ns] : {std::pair(1, 10106), std::pair(2, 11160)}) {
      const std::string trace =
          bench.file("rows.csv",
                     fmt::format("# lacuna-trace v1\nid,op,m,k,n,dtype,args\nmul,gemm,8,8,8,fp16,\n"
                                 "sum,{},1024,,,fp32,ranks={};between=chips\n",
                                 op, chips));
      const std::string out = fmt::format("out{}{}{}", op, engine, chips);
      const Ran ran = run_real(fmt::format(
          "run --quiet --machine cs2x{} --set chip.wafer.columns=4 --set chip.wafer.rows=4 "
          "--engine {} --trace {} --out {}",
          chips, engine, trace, bench.path(out)));
      ASSERT_EQ(ran.status, 0) << ran.err;
      const std::string passes = bench.read(out + "/passes.csv");
      EXPECT_EQ(of_pass(passes, "sum up", "up_bytes"), 4096);
      EXPECT_EQ(of_pass(passes, "sum down", "down_bytes"), 4096);
      EXPECT_EQ(of_pass(passes, "sum down", "begin_ns") - of_pass(passes, "sum up", "begin_ns"), ns)
          << op << " of " << chips << ", " << engine;
    }
  }
}

// What each of two wafers sends to all, 64 numbers of FP16, is in a vector of both: 256 B. What one
// has, or one takes, is a vector as any: 128 B.
TEST(SystemTrace, ATreeCarriesWhatGoesToOthersByGivingAllOfItToAll) {
  const ProgramBench bench;
  for (const auto& [op, bytes] :
       {std::pair("alltoall", 256), std::pair("broadcast", 128), std::pair("reduce", 128)}) {
    const std::string trace = bench.file(
        "rows.csv", fmt::format("# lacuna-trace v1\nid,op,m,k,n,dtype,args\nmul,gemm,8,8,8,fp16,\n"
                                "s,{},64,,,fp16,ranks=2;between=chips\n",
                                op));
    const Ran ran = run_real(fmt::format(
        "run --quiet --machine cs2x2 --set chip.wafer.columns=4 --set chip.wafer.rows=4 --trace {} "
        "--out {}",
        trace, bench.path(op)));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string passes = bench.read(op + std::string("/passes.csv"));
    EXPECT_EQ(of_pass(passes, "s up", "up_bytes"), bytes) << op;
    EXPECT_EQ(of_pass(passes, "s down", "down_bytes"), bytes) << op;
  }
}

TEST(SystemTrace, ATreeRefusesWhatItCannotCarry) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& row) {
    const std::string trace = bench.file(
        "rows.csv", "# lacuna-trace v1\nid,op,m,k,n,args\nmul,gemm,8,8,8,\n" + row + "\n");
    const Ran ran = run_real(
        "run --quiet --machine cs2x2 --set chip.wafer.columns=4 --set chip.wafer.rows=4 --trace " +
        trace);
    EXPECT_NE(ran.status, 0) << row;
    return ran.out + ran.err;
  };
  EXPECT_THAT(refused("s,p2p,64,,,ranks=2;between=chips"),
              HasSubstr("does not say from which chip to which"));
  EXPECT_THAT(refused("s,allreduce,64,,,ranks=4;between=chips"),
              HasSubstr("ranks=4, and 2 chips run these rows (machines)"));
}

// A parameter that the system has not, one of its chips, and a chip that it cannot have.
TEST(WaferSystemRun, ParametersOfOthersAreRefusedWithTheirPlace) {
  const auto refused = [](const std::string& line) {
    const Ran ran = run_real("run --gemm 64x64x64 " + line);
    EXPECT_EQ(ran.status, 2) << line;
    return ran.err;
  };
  EXPECT_THAT(refused("--machine wse2 --set swarmx.link_gbps=2"),
              HasSubstr("there is no parameter 'swarmx.link_gbps'"));
  EXPECT_THAT(refused("--machine cs2x2 --set wafer.rows=4"), HasSubstr("set as chip.wafer.rows"));
  EXPECT_THAT(refused("--machine cs2x2 --set chip=bow"),
              HasSubstr("takes no weights from a store"));
  const Ran links = run_real("describe area --machine pod4");
  EXPECT_EQ(links.status, 2);
  EXPECT_THAT(links.err, HasSubstr("joined by links"));
  const ProgramBench bench;
  const std::string old = bench.file("old.yaml", "base: wse2\nsys:\n  wafers: 3\n");
  EXPECT_THAT(refused("--machine " + old), HasSubstr("old.yaml:3:3"));
  EXPECT_THAT(run_real("describe memoryx.read_gbps").out, HasSubstr("share a store of weights"));
  const std::string own = bench.file("own.yaml", "base: cs2x1\nmachines: 3\nnetwork: ring\n");
  EXPECT_THAT(refused("--machine " + own),
              HasSubstr("found network = 'ring'; allowed: links, tree"));
}

// Chips of a system that runs rows are any machine: a pair of wafers adds up 2 MiB over its links
// in the time that a pair of IPUs does.
TEST(SystemTrace, ChipsOfAPodMayBeWafers) {
  const ProgramBench bench;
  const auto seconds = [&](const std::string& rows) {
    const std::string trace =
        bench.file("rows.csv", "# lacuna-trace v1\nid,op,m,k,n,args\nmul,gemm,64,64,64,\n" + rows);
    const Ran ran = run_real(
        "run --machine pod4 --json --set training.replicas=2 --set chip=wse2 --set "
        "sync.chip_ns=100 --set chip.wafer.columns=8 --set chip.wafer.rows=8 --trace " +
        trace);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string key = "\"step_time\": ";
    return std::stod(ran.out.substr(ran.out.find(key) + key.size()));
  };
  EXPECT_NEAR(seconds("sum,allreduce,1048576,,,ranks=2\n") - seconds(""), 2 * 1048576 / 54.4e9,
              0.6e-6);
}

// How long a barrier of the tiles takes is the IPU's: of another chip it is said.
TEST(SystemTrace, TheBarrierOfAChipThatIsNoIpuIsAskedFor) {
  const ProgramBench bench;
  const std::string trace =
      bench.file("rows.csv", "# lacuna-trace v1\nid,op,m,k,n\na,gemm,8,8,8\n");
  const std::string own = bench.file("own.yaml", "base: pod4\nchip: wse2\nsync:\n  chip_ns: 90\n");
  const std::string small =
      " --set chip.wafer.columns=4 --set chip.wafer.rows=4 --quiet --trace " + trace;
  const Ran ran = run_real("run --machine pod4 --set chip=wse2" + small);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("sync.chip_ns = 113 is the barrier of the tiles of an IPU"));
  EXPECT_EQ(run_real("run --machine pod4 --set chip=wse2 --set sync.chip_ns=90" + small).status, 0);
  EXPECT_EQ(run_real("run --machine " + own + small).status, 0);
}

// One trace on systems of either kind, beside each other: what each takes by itself.
TEST(SystemTrace, SystemsOfAllKindsAreComparedOnOneTrace) {
  const ProgramBench bench;
  const std::string trace = bench.file("rows.csv",
                                       "# lacuna-trace v1\nid,op,m,k,n,args\nmul,gemm,64,64,64,\n"
                                       "sum,allreduce,1024,,,ranks=4;between=chips\n");
  const std::string line = " --quiet --trace " + trace;
  const Ran both =
      run_real("compare --machine pod4 --machine cs2x4 --out " + bench.path("both") + line);
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("the same share of a batch for each chip"));
  const CsvTable both_rows(bench.read("both/scaling.csv"));
  EXPECT_THAT(both_rows.column("system"), ElementsAre("pod4", "cs2x4"));
  for (const char* const machine : {"pod4", "cs2x4"}) {
    const Ran alone =
        run_real(fmt::format("run --machine {} --out {}{}", machine, bench.path(machine), line));
    ASSERT_EQ(alone.status, 0) << alone.err;
    const CsvTable metrics(bench.read(machine + std::string("/metrics.csv")));
    const CsvTable row = both_rows.where({{"system", machine}});
    EXPECT_EQ(row.cell("chips"), "4");
    EXPECT_EQ(row.cell("step_time"), metrics.where({{"quantity", "step_time"}}).cell("value"));
  }
  const Ran turned =
      run_real("compare --machine cs2x4 --machine pod4 --out " + bench.path("turned") + line);
  ASSERT_EQ(turned.status, 0) << turned.err;
  EXPECT_THAT(CsvTable(bench.read("turned/scaling.csv")).column("system"),
              ElementsAre("cs2x4", "pod4"));
  const Ran chip = run_real("compare --machine wse2 --machine pod4" + line);
  EXPECT_EQ(chip.status, 2);
  EXPECT_THAT(chip.err, HasSubstr("wse2: is no system of chips"));
}

// The timeline is that of the system; what units of its chips did is in a file of another name.
TEST(SystemTrace, ATimelineOfUnitsIsBesideThatOfTheSystem) {
  const ProgramBench bench;
  const Ran ran = run_real(
      "run --quiet --machine cs2x1 --set chip.wafer.columns=4 --set chip.wafer.rows=4 --gemm 8x8x8 "
      "--timeline --out " +
      bench.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto says = [&](const char* file, const char* words) {  // without printing all of it
    return bench.read(file).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("out/timeline.json", "on the way to the store"));
  EXPECT_TRUE(says("out/chip_timeline.json", "r0.c0"));
}

// A way up ends in the store: what the timeline draws of it is what the passes say.
TEST(SystemTrace, ATreeHasATimelineOfItsPasses) {
  const ProgramBench bench;
  const std::string trace =
      bench.file("rows.csv",
                 "# lacuna-trace v1\nid,op,m,k,n,dtype,args\nmul,gemm,8,8,8,fp16,\n"
                 "sum,allreduce,1024,,,fp32,ranks=1;between=chips\n");
  const Ran ran = run_real(
      "run --quiet --machine cs2x1 --set chip.wafer.columns=4 --set chip.wafer.rows=4 --trace " +
      trace + " --out " + bench.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  // 5,053 ns up, of which the wafer has none
  const nlohmann::json timeline = nlohmann::json::parse(bench.read("out/timeline.json"));
  std::vector<double> ways_up;
  for (const nlohmann::json& event : timeline.at("traceEvents")) {
    if (event.at("ph") == "X" && event.at("name") == "sum up") ways_up.push_back(event.at("dur"));
  }
  EXPECT_THAT(ways_up, Contains(5.053));
}

}  // namespace
}  // namespace lacuna::test
