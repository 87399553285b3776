// SPDX-License-Identifier: Apache-2.0
// Rows of a trace on wafers that share a store of weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/driver/system_results.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A product of two wafers: its weights come down to both.
TEST(WaferSystemRun, LeavesPassesAndTimesInTheResult) {
  const ProgramBench bench;
  const Ran ran = run_real(
      "run --quiet --layout first --machine cs2x2 --set chip.wafer.columns=8 --set "
      "chip.wafer.rows=8 --gemm 64x64x64 --pattern unstructured:0.5 --out " +
      bench.path("out"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  // half of 64 x 64 weights are 2,048; each is a wavelet of 4 B, value and index, and another ends
  // each of 64 rows in each of 8 columns of cores: 4 x (2,048 + 64 x 8) B come in at the edge
  const CsvTable pass(bench.read("out/passes.csv"));
  EXPECT_EQ(pass.number("down_bytes"), 4 * (2048 + 64 * 8));
  EXPECT_EQ(pass.number("up_bytes"), 0);
  const CsvTable stack(bench.read("out/time_stack.csv"));
  EXPECT_THAT(stack.where({{"use", "work"}}).column("chip"), ElementsAre("0", "1"));
  for (const std::string figure : {"pipeline", "time_stack", "memory"}) {
    EXPECT_TRUE(std::filesystem::exists(bench.path("out/figures/" + figure + ".svg")));
  }
  EXPECT_THAT(
      CsvTable(bench.read("out/figures/pipeline.csv")).where({{"track", "0"}}).column("use"),
      Contains("forward"));
}

std::string wafer_line(const std::string& verb) {
  return verb +
         " --quiet --layout first --set chip.wafer.columns=8 --set chip.wafer.rows=8 --gemm "
         "64x64x64 --pattern unstructured:0.5 ";
}

TEST(WaferSystemRun, SaysPassesEnergyAndTheStoreInJson) {
  const Ran ran = run_real(wafer_line("run") + "--machine cs2x1 --set machines=2 --json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* const words :
       {"\"passes\": [", "\"down_bytes\": 10240", "\"updated_ns\": null",
        "\"quantity\": \"energy_streaming\"", "\"memory\": [", "\"capacity\": 4000000000000"}) {
    EXPECT_THAT(ran.out, HasSubstr(words));
  }
}

/// Fabric bytes of the operation `id`, in JSON.
std::uint64_t fabric_bytes(const std::string& json, const std::string& id) {
  const std::string key = "\"fabric_bytes\": ";
  const std::size_t at = json.find(key, json.find("\"op_id\": \"" + id + "\""));
  return at == std::string::npos ? 0 : std::stoull(json.substr(at + key.size()));
}

// Queries and keys of eight heads are brought to their products on every wafer of a system.
TEST(WaferSystemRun, OperandsMoveBetweenLayoutsAsOnOneWafer) {
  const ProgramBench bench;
  const std::string trace = bench.path("trace.csv");
  std::ofstream(trace) << "# lacuna-trace v1\n"
                          "id,op,m,k,n,batch,dtype,fn,depends_on\n"
                          "bias,eltwise,36,,16,,fp16,bias,\n"
                          "scores,bmm,8,3,8,8,fp16,dot,bias\n"
                          "alone,bmm,8,3,8,8,fp16,dot,-\n";
  std::vector<std::uint64_t> bytes;
  for (const std::string machine : {"wse2", "cs2x2"}) {
    const std::string chip = machine == "wse2" ? "" : "chip.";
    const Ran ran = run_real("run --quiet --json --machine " + machine + " --set " + chip +
                             "wafer.columns=8 --set " + chip + "wafer.rows=6 --trace " + trace);
    EXPECT_EQ(ran.status, 0) << ran.err;
    bytes.push_back(fabric_bytes(ran.out, "scores"));
    EXPECT_GT(bytes.back(), fabric_bytes(ran.out, "alone"));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

// 128 of 256 weights are kept, each 2 bytes and 2 of its place in the store, 2 of its gradient, and
// 8 of its state; 16 numbers of a bias 4, 4 and 8. At the edge a wavelet of 4 B comes in for each
// kept weight and for the end of each of 16 rows in each of 4 columns: 4 x (128 + 64) = 768 B.
// The store updates both: the wafer has no pass for the weights' update. It keeps the 16 x 8
// results of FP16, and has as many gradients beside them, in 16 cores of 48 KiB less 8 of code.
TEST(WaferSystemRun, TheStoreUpdatesWhatTheOptimizerOfATraceWould) {
  const ProgramBench bench;
  const std::string trace = bench.path("trace.csv");
  std::ofstream(trace) << "# lacuna-trace v1\n"
                          "id,op,layer,phase,m,k,n,dtype,pattern,density,pattern_args,fn\n"
                          "fwd.a,gemm,a,fwd,16,16,8,fp16,unstructured,0.5,,\n"
                          "bwd.a_dx,gemm,a,bwd,16,16,8,fp16,ref,,of=fwd.a;transpose=1,\n"
                          "bwd.a_dw,sddmm,a,bwd,16,8,16,fp16,ref,,of=fwd.a,\n"
                          "upd.a,optim,a,upd,16,16,,fp32,ref,,of=fwd.a,adamw\n"
                          "upd.b,optim,b,upd,16,1,,fp32,,,,adam\n";
  const Ran ran = run_real(
      "run --quiet --layout first --machine cs2x1 --set chip.wafer.columns=4 --set "
      "chip.wafer.rows=4 --set steps=2 --trace " +
      trace + " --out " + bench.path("out"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const CsvTable passes(bench.read("out/passes.csv"));
  const auto moves = [&](const char* pass, const char* down, const char* up) {
    const CsvTable both = passes.where({{"pass", pass}});  // of two steps
    EXPECT_THAT(both.column("down_bytes"), ElementsAre(down, down)) << pass;
    EXPECT_THAT(both.column("up_bytes"), ElementsAre(up, up)) << pass;
  };
  moves("fwd.a", "768", "0");
  moves("bwd.a_dx", "768", "0");  // of the same weights, held once
  moves("bwd.a_dw", "768", "256");
  moves("upd.b", "64", "64");
  EXPECT_THAT(passes.where({{"pass", "upd.b"}}).column("work_ns"), ElementsAre("0", "0"));
  EXPECT_THAT(passes.column("pass"), Not(Contains("upd.a")));
  EXPECT_EQ(bench.read("out/memory.csv"),
            "phase,chip,weights,gradients,state,activations,working,code,buffers,cache,"
            "total,capacity\n0,store,576,320,1152,0,0,0,0,0,2048,4000000000000\n"
            "0,wafer,0,0,0,256,256,0,0,0,512,655360\n");
  EXPECT_NEAR(quantities(bench.path("out") + "/metrics.csv").at("energy_chips"),
              joules_without(bench.path("out") + "/summary.csv", "optim"), 1e-12);
}

// A core could not hold its share of 4,096 x 2^20 results: the store is asked first, and both verbs
// say the same. 2,048 of 4,096 weights fit the smallest store.
TEST(WaferSystemRun, AStoreThatIsTooSmallIsAnErrorWithItsBytesBeforeAnythingIsSimulated) {
  const Ran ran = run_real(wafer_line("run") + "--machine cs2x1 --set memoryx.capacity_tb=1e-6");
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* const verb : {"run", "compare"}) {
    const Ran small =
        run_real(verb + std::string(" --quiet --machine cs2x1 --set "
                                    "memoryx.capacity_tb=1e-6 --gemm 4096x4096x1048576 --pattern "
                                    "unstructured:0.5"));
    EXPECT_EQ(small.status, 1);
    EXPECT_THAT(small.err, HasSubstr("the store of weights needs 33554432 B and has 1000000 B"));
  }
}

// 100 W of the store, one node of 10 W, 2 systems of 1,000 W.
TEST(WaferSystemRun, EnergyAddsUpAndStandingPowerIsThereAllTheTime) {
  const ProgramBench bench;
  const std::string line = wafer_line("run") + "--machine cs2x2 --set memoryx.standing_w=100 " +
                           "--set swarmx.node_w=10 --out " + bench.path("out");
  const Ran ran = run_real(line + " --set machine_w=1000 --set steps=3");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto values = quantities(bench.path("out") + "/metrics.csv");
  EXPECT_DOUBLE_EQ(values.at("energy_machines"), 2110 * values.at("step_time"));
  EXPECT_DOUBLE_EQ(values.at("energy"), parts_of(values));
  EXPECT_LT(values.at("energy_low"), values.at("energy"));
  EXPECT_DOUBLE_EQ(values.at("power") * values.at("step_time"), values.at("energy"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Not counted")));
  const Ran silent = run_real(wafer_line("run") + "--machine cs2x2 --set swarmx.node_w=10");
  EXPECT_THAT(silent.out, HasSubstr("Not counted is the standing power of the store "
                                    "(memoryx.standing_w), systems beside"));
}

// What a wafer that waits draws is told by a run that waits longer for its edge.
TEST(WaferSystemRun, AWaferThatWaitsDrawsItsIdlePower) {
  const ProgramBench bench;
  for (const std::string us : {"5", "500"}) {
    const Ran ran = run_real(wafer_line("run") + "--machine cs2x2 --set io_latency_us=" + us +
                             " --out " + bench.path("out") + us);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  const auto base = quantities(bench.path("out") + "5/metrics.csv");
  const auto slow = quantities(bench.path("out") + "500/metrics.csv");
  const double watts = (slow.at("energy_idle") - base.at("energy_idle")) /
                       (2 * (slow.at("step_time") - base.at("step_time")));
  const auto ns = uses(bench.path("out") + "5/time_stack.csv");
  const double waits = ns.at("weights") + ns.at("gradients") + ns.at("idle");
  EXPECT_GT(watts, 0);
  EXPECT_NEAR(base.at("energy_idle"), watts * waits * 1e-9, 1e-6 * base.at("energy_idle"));
}

TEST(WaferSystemRun, AComparisonOfSystemsSaysHowTheyScale) {
  const ProgramBench bench;
  const Ran ran = run_real(wafer_line("compare") + "--machine cs2x1 --machine cs2x4 --out " +
                           bench.path("out"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the same share of a batch for each chip"));
  const CsvTable scaling(bench.read("out/scaling.csv"));
  EXPECT_EQ(scaling.where({{"system", "cs2x4"}}).cell("chips"), "4");
  EXPECT_TRUE(std::filesystem::exists(bench.path("out") + "/figures/scaling.svg"));
}

}  // namespace
}  // namespace lacuna::test
