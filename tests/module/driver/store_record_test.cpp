// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What a trace of these rows comes to on wafers of 16 x 8 cores that share a store.
WaferSystemRun run_on(const std::string& machine, const WorkloadTrace& trace,
                      RunRecord* kept = nullptr) {
  const std::vector<std::string> settings = {"chip.wafer.columns=16", "chip.wafer.rows=8"};
  const auto machines = make_machines(standard_machines(), {machine}, settings);
  const Pricing pricing(config_folder());
  Point point;
  point.machine = machines[0].get();
  point.workload = trace;
  MaskStore masks(1);
  const RunRecord record = run_point(point, {}, masks, pricing);
  if (kept != nullptr) *kept = record;
  return run_wafer_system(*machines[0], trace, costs_of(record), {}, pricing);
}

WorkloadTrace rows(const std::string& text) {
  const TempFile file("# lacuna-trace v1\nid,op,phase,layer,m,k,n,dtype,pattern,density,args,fn\n" +
                      text);
  return read_trace(file.path());
}

// What a wafer takes in at its edge comes over its link, in the type of the weights.
TEST(StoreRecord, ALinkCarriesWhatTheWaferTakesIn) {
  const auto down = [](const char* type, const char* pattern) {
    RunRecord record;
    const WaferSystemRun run = run_on(
        "cs2x1", rows(std::string("a,gemm,fwd,x,128,128,16,") + type + "," + pattern + ",,\n"),
        &record);
    EXPECT_GE(run.passes.at(0).down_bytes, record.ops.at(0).result.io_bytes) << type << pattern;
    return run.passes.at(0).down_bytes;
  };
  EXPECT_GE(down("fp16", "dense,"), 2U * 128 * 128);
  EXPECT_GE(down("fp32", "dense,"), 4U * 128 * 128);
  EXPECT_LT(down("fp16", "dense,"), 4U * 128 * 128);
  down("fp32", "unstructured,0.5");
}

// Both of these rows do 2 x 128 x 128 x 16 = 524,288 FLOP, the second what the first has done: of
// use is one of them, on a wafer as on a system of four.
TEST(StoreRecord, WhatIsDoneAgainIsOfUseOnce) {
  const WorkloadTrace trace = rows(
      "fwd.a,gemm,fwd,x,128,128,16,fp16,dense,,,\n"
      "bwd.a_again,gemm,fwd,x,128,128,16,fp16,dense,,,\n");
  constexpr std::uint64_t kOnce = 524288;
  for (const auto& [machine, wafers] : {std::pair("cs2x1", 1U), std::pair("cs2x4", 4U)}) {
    RunRecord record;
    EXPECT_EQ(run_on(machine, trace, &record).flop, static_cast<double>(wafers * kOnce));
    EXPECT_EQ(record.total.useful_flop, wafers * kOnce) << machine;
    for (const OpRecord& op : record.ops) EXPECT_EQ(op.row.useful_flop, kOnce) << op.row.op_id;
  }
}

// The store has values in their type, and 2 B for the place of each kept one.
TEST(StoreRecord, TheStoreHoldsTheFormOfTheWeights) {
  EXPECT_EQ(run_on("cs2x4", rows("a,gemm,fwd,x,128,128,16,fp32,dense,,,\n"))
                .memory.at(0)
                .use.of(system::Held::weights),
            4U * 128 * 128);
  EXPECT_EQ(run_on("cs2x4", rows("a,gemm,fwd,x,128,128,16,fp16,unstructured,0.5,,\n"))
                .memory.at(0)
                .use.of(system::Held::weights),
            (2U + 2) * 128 * 64);
}

// What stays on a wafer is there for each time of a row, in the form of the store: three layers of
// 128 x 128 halves, and half as many, each with its place.
TEST(StoreRecord, AWaferHoldsTheWeightsOfEachTimeOfARow) {
  const TempFile file(
      "# lacuna-trace v1\nid,op,phase,layer,m,k,n,dtype,pattern,density,residency,repeat\n"
      "a,gemm,fwd,x,128,128,16,fp16,dense,,resident,3\n"
      "b,gemm,fwd,y,128,128,16,fp16,unstructured,0.5,resident,1\n");
  const WaferSystemRun run = run_on("cs2x1", read_trace(file.path()));
  EXPECT_EQ(run.memory.at(1).use.of(system::Held::weights), 3U * 2 * 128 * 128 + 4U * 128 * 64);
}

// A tenth of 128 x 128 halves: 1638 of them go up and come down.
TEST(StoreRecord, ACollectiveOfAPatternMovesWhatItKeeps) {
  const std::string row = "a,gemm,fwd,x,128,128,16,fp16,dense,,,\n";
  const std::string args = "ranks=4;between=chips,ring\n";
  const auto up = [&](const std::string& pattern) {
    return run_on("cs2x4", rows(row + "s,allreduce,fwd,y,128,,128,fp16," + pattern + "," + args))
        .passes.at(1)
        .up_bytes;
  };
  EXPECT_EQ(up("dense,"), 2U * 128 * 128);
  EXPECT_EQ(up("unstructured,0.1"), 2U * 1638);
}

// The sum of gradients is made on their way to the store: an all-reduce of them takes no pass.
TEST(StoreRecord, AGradientIsReducedOnce) {
  const Pairs settings = {{"layers", "1"},
                          {"part", "training"},
                          {"tokens", "32"},
                          {"pattern", "unstructured:0.1"},
                          {"replicas", "4"}};
  const WorkloadTrace trace = generate_workload("bert-tiny", settings);
  const WaferSystemRun run = run_on("cs2x4", trace);
  for (const system::WaferPass& pass : run.passes) {
    EXPECT_NE(pass.use, system::Use::exchange) << pass.name;
  }
}

// 256 x 256 halves go up and come down: 131,072 B twice over links of 1 GB/s, and the chips wait.
TEST(StoreRecord, ATraceOfCollectivesAloneTakesTheTimeOfItsPasses) {
  const TempFile file(
      "# lacuna-trace v1\nid,op,phase,layer,m,k,n,dtype,args,fn\n"
      "s,allreduce,bwd,y,256,,256,fp16,ranks=4;between=chips,ring\n",
      ".csv");
  const auto numbers = numbers_of({"run", "--machine", "cs2x4", "--trace", file.path(), "--set",
                                   "swarmx.link_gbps=1", "--set", "chip.wafer.columns=16", "--set",
                                   "chip.wafer.rows=8"});
  const auto& total = numbers.at(0).values;
  EXPECT_GT(total.at("time_s").value_or(0), 2 * 131'072e-9);
  EXPECT_LT(total.at("time_s").value_or(1), 4 * 131'072e-9);
  EXPECT_GT(total.at("energy_j").value_or(0), 0);
}

// Waiting for a collective is no wait for weights.
TEST(StoreRecord, WaitsForSumsAreCalledSo) {
  const WaferSystemRun run = run_on(
      "cs2x4", rows("a,gemm,fwd,x,64,64,16,fp16,dense,,,\n"
                    "s,allreduce,fwd,y,1024,,1024,fp16,dense,,ranks=4;between=chips,ring\n"));
  const auto sums = static_cast<std::size_t>(system::Use::sums);
  EXPECT_GT(run.result.chips[0][sums], run.result.ns / 2);
}

// Over links of 0.05 GB/s a step takes the time of its bytes: 131,072 B of 256 x 256 dense halves
// and 4 B for the end of each of 256 rows in each of 16 columns of cores are 147,456; a tenth are
// 6,553 of 4 B, its place with it, 42,596 with the ends. Half of the weights are as many bytes as
// all of them, so that 1.000 is right there.
TEST(StoreRecord, OverSlowLinksTimeIsThatOfTheBytes) {
  const auto seconds = [](const std::string& pattern) {
    const auto numbers =
        numbers_of({"run", "--layout", "first", "--machine", "cs2x4", "--gemm", "256x256x16",
                    "--pattern", pattern, "--set", "chip.wafer.columns=16", "--set",
                    "chip.wafer.rows=8", "--set", "swarmx.link_gbps=0.05"});
    return numbers.at(0).values.at("time_s").value_or(0);
  };
  const double dense = seconds("dense");
  EXPECT_NEAR(dense, 147'456 / 0.05e9, 0.01 * dense);
  EXPECT_NEAR(seconds("unstructured:0.5"), dense, 0.001 * dense);
  EXPECT_NEAR(seconds("unstructured:0.1"), 42'596 / 0.05e9, 0.01 * seconds("unstructured:0.1"));
}

// A comparison of patterns of one system is none of systems.
TEST(StoreRecord, ThePatternsOfOneSystemHaveTheSpeedUpOfTheirSteps) {
  const Ran ran = run_real(
      "compare --quiet --machine cs2x4 --set swarmx.link_gbps=0.5 --set chip.wafer.columns=16 "
      "--set "
      "chip.wafer.rows=8 --gemm 256x256x16 --pattern dense --pattern unstructured:0.1");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("efficiency")));
}

// A wafer of a system lays a row out by the rule of the wafer alone, 1,233 cycles of this product;
// the first layout, 2,307, is there for who asks for it.
TEST(StoreRecord, AWaferOfASystemLaysRowsOutAsAlone) {
  const auto cycles = [](const std::string& machine, const std::string& cores) {
    const Ran ran =
        run_real("run --quiet --json --gemm 64x64x64 --pattern unstructured:0.25 --set " + cores +
                 "wafer.columns=16 --set " + cores + "wafer.rows=16 " + machine);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string key = "\"cycles\": ";
    return std::stoull(ran.out.substr(ran.out.find(key) + key.size()));
  };
  const auto alone = cycles("--machine wse2", "");
  EXPECT_EQ(cycles("--machine cs2x1", "chip."), alone);
  EXPECT_GT(cycles("--machine cs2x1 --layout first", "chip."), 3 * alone / 2);
}

// Links of 1 and of 150 GB/s are not alike, and a point of a sweep is the run of the system.
TEST(StoreRecord, ASweepIsOfTheSystem) {
  const TempFile file(
      "machine: cs2x4\ngemm: 256x256x64\nset: {chip.wafer.columns: 16, chip.wafer.rows: 8}\n"
      "grid:\n  swarmx.link_gbps: [1, 150]\n",
      ".yaml");
  const auto swept = numbers_of({"sweep", file.path()});
  ASSERT_EQ(swept.size(), 2U);
  EXPECT_GT(swept[0].values.at("time_s").value_or(0), swept[1].values.at("time_s").value_or(1));
  const auto slow = numbers_of({"run", "--machine", "cs2x4", "--gemm", "256x256x64", "--set",
                                "chip.wafer.columns=16", "--set", "chip.wafer.rows=8", "--set",
                                "swarmx.link_gbps=1"});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0], swept[0]);
}

}  // namespace
}  // namespace lacuna::test
