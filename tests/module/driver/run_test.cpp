// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string line_of(const std::string& text, std::size_t number) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Run, WithoutOutWritesNothingAndPrintsTableAndCycleStack) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("run --machine fake --gemm 64x64x64 --pattern unstructured:0.5");
  EXPECT_EQ(ran.status, 0);
  // 2048 kept x 64 columns over 4 units x 8 MAC: 4096 cycles, and 10 to drain
  EXPECT_THAT(ran.out, HasSubstr("64x64x64, unstructured:0.5 on fake (4 units); seed 1, exact"));
  EXPECT_THAT(printed_row(ran.out, "compute"), ElementsAre("99.8", "mac", "99.8"));
  EXPECT_THAT(printed_row(ran.out, "idle"), ElementsAre("0.2", "drained", "0.2"));
  const Ran more =
      lacuna("run --machine fake --gemm 64x64x64 --pattern unstructured:0.5 --explain");
  EXPECT_THAT(more.out, HasSubstr("4106 cycles on 4 units, engine event"));
  EXPECT_THAT(printed_row(more.out, "compute mac"), ElementsAre("16384", "99.8", "%"));
  EXPECT_THAT(printed_row(more.out, "total"), ElementsAre("16424", "100.0", "%"));
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(lacuna.listing(), IsEmpty());
}

TEST(Run, SummaryHasTheColumnsInOrderAndARowTotal) {
  const ProgramBench lacuna;
  const Ran ran =
      lacuna("run --machine fake --gemm 64x64x64 --pattern block:0.5 --block 16 --out " +
             lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string summary = lacuna.read("out/summary.csv");
  EXPECT_EQ(line_of(summary, 0),
            "run,machine,engine,exact,workload,op_id,op,m,k,n,dtype,pattern,density,block,mode,"
            "residency,x_kept,"
            "seed,cycles,time_s,useful_flop,useful_tflops,dense_tflops,speedup_vs_dense,"
            "utilisation,sram_read_bytes,sram_write_bytes,fabric_bytes,io_bytes,sram_gbps,"
            "fabric_gbps,io_gbps,energy_j,energy_low_j,energy_high_j,power_w,pj_per_useful_flop,"
            "silicon_mm2,gflops_per_mm2,time_low_s,time_high_s,speedup_low,speedup_high,"
            "energy_vs_dense,energy_vs_dense_low,energy_vs_dense_high,trust,"
            "status,reason");
  // 8 blocks of 256, x 64 columns, over 32 MAC per cycle: 4096 cycles, and 10; at 2 GHz
  EXPECT_THAT(
      line_of(summary, 1),
      StartsWith("0,fake,event,true,64x64x64,gemm,gemm,64,64,64,fp16,block,0.5,16,static,,,1,"
                 "4106,2.053e-06,262144,"));
  EXPECT_THAT(line_of(summary, 2), StartsWith("0,fake,event,true,64x64x64,TOTAL,,,,,fp16,block,"));
  EXPECT_EQ(line_of(summary, 3), "");
}

TEST(Run, OutOfMemoryLeavesTheValuesEmptyGivesTheReasonAndExits1) {
  const ProgramBench lacuna;
  const Ran ran =
      lacuna("run --machine fake --gemm 8x8x8 --set fault=memory --out " + lacuna.path("out"));
  EXPECT_EQ(ran.status, 1);
  const CsvTable summary(lacuna.read("out/summary.csv"));
  EXPECT_THAT(summary.column("status"), Each("out_of_memory"));
  EXPECT_THAT(summary.column("reason"), Each(EndsWith("needs 5000 bytes, has 4096")));
  for (const char* const value : {"cycles", "time_s", "useful_flop", "speedup_vs_dense", "io_bytes",
                                  "energy_j", "energy_vs_dense"}) {
    EXPECT_THAT(summary.column(value), Each("")) << value;
  }
}

TEST(Run, UnsupportedAndDeadlockExit1WithTheReason) {
  const ProgramBench lacuna;
  const Ran unsupported = lacuna("run --machine fake --gemm 8x8x8 --set fault=unsupported");
  EXPECT_EQ(unsupported.status, 1);
  EXPECT_THAT(unsupported.out, HasSubstr("gemm: unsupported: a fake machine cannot do this"));
  const Ran deadlock = lacuna("run --machine fake --gemm 8x8x8 --set fault=deadlock");
  EXPECT_EQ(deadlock.status, 1);
  EXPECT_THAT(deadlock.out, HasSubstr("gemm: failed: unit 3 waits for a word that never comes"));
}

TEST(Run, AWrongProductExits3AndARightOneSaysHowManyValuesAgree) {
  const ProgramBench lacuna;
  const Ran right = lacuna("run --machine fake --gemm 8x8x8 --values");
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.err, HasSubstr("64 values equal the reference product"));
  const Ran wrong = lacuna("run --machine fake --gemm 8x8x8 --values --set fault=values");
  EXPECT_EQ(wrong.status, 3);
  EXPECT_THAT(wrong.err, HasSubstr("3 of 64 values differ from the reference product, by 2.5"));
}

TEST(Run, AProductThatWasNotComparedIsADefect) {
  const ProgramBench lacuna;
  EXPECT_EQ(lacuna("run --machine fake --gemm 8x8x8 --values --set fault=not_compared").status, 4);
}

TEST(Run, TheSameCommandGivesTheSameBytesInAllFilesButTheHosts) {
  const ProgramBench lacuna;
  const std::string command =
      "run --machine fake --gemm 32x32x32 --pattern block4:0.25 --event-log";
  for (const char* const out : {" --out ", " --quiet --out "}) {
    ASSERT_EQ(
        lacuna(command + out + lacuna.path(out[1] == '-' && out[3] == 'q' ? "b" : "a")).status, 0);
  }
  for (const char* const file :
       {"summary.csv", "statistics.csv", "cycle_stack.csv", "events.csv", "result.json"}) {
    EXPECT_EQ(lacuna.read(std::string("a/") + file), lacuna.read(std::string("b/") + file)) << file;
    EXPECT_THAT(lacuna.read(std::string("a/") + file), Not(IsEmpty())) << file;
  }
}

TEST(Run, DenseSpeedUpIsThatOfTheSameShapeOnTheSameMachine) {
  const ProgramBench lacuna;
  const Ran ran =
      lacuna("run --machine fake --gemm 64x64x64 --pattern unstructured:0.25 --with-dense --out " +
             lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  // dense: 64^3 / 32 + 10 = 8202 cycles; a quarter: 2058
  // and 2 x 64^3 FLOP in 4.101 us
  const CsvTable summary(lacuna.read("out/summary.csv"));
  EXPECT_THAT(summary.column("run"), ElementsAre("0", "0"));
  for (const char* const row : {"gemm", "TOTAL"}) {
    const CsvTable of_row = summary.where({{"op_id", row}});
    EXPECT_NEAR(of_row.number("dense_tflops"), 2 * 262144 / 4.101e-6 * 1e-12, 1e-10) << row;
    EXPECT_DOUBLE_EQ(of_row.number("speedup_vs_dense"), 8202.0 / 2058) << row;
  }
}

TEST(Compare, RunsMachinesAndPatternsInTheOrderGivenWhateverTheJobs) {
  const ProgramBench lacuna;
  const std::string command =
      "compare --machine slow --machine fake --gemm 32x32x32 --pattern unstructured:0.5 "
      "--pattern dense --seed 7 ";
  ASSERT_EQ(lacuna(command + "--jobs 1 --out " + lacuna.path("one")).status, 0);
  ASSERT_EQ(lacuna(command + "--jobs 4 --out " + lacuna.path("four")).status, 0);
  for (const char* const file :
       {"summary.csv", "statistics.csv", "cycle_stack.csv", "result.json"}) {
    EXPECT_EQ(lacuna.read(std::string("one/") + file), lacuna.read(std::string("four/") + file))
        << file;
  }
  const std::string summary = lacuna.read("one/summary.csv");
  EXPECT_THAT(line_of(summary, 1), StartsWith("0,slow,event,true,32x32x32,gemm,gemm,32,32,32,fp16,"
                                              "unstructured,0.5,,static,,,7,522,5.22e-07,"));
  EXPECT_THAT(line_of(summary, 7), StartsWith("3,fake,event,true,32x32x32,gemm,gemm,32,32,32,fp16,"
                                              "dense,1,,dense,,,7,1034,5.17e-07,"));
}

TEST(Compare, APointWhoseProcessDiesFailsAloneAndExits1) {
  const ProgramBench lacuna;
  const Ran ran =
      lacuna("compare --machine slow --machine fake --gemm 8x8x8 --set fake:fault=crash");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("run 1, gemm: failed: its process was ended by signal 9"));
  EXPECT_THAT(printed_row(ran.out, "0 slow"), Not(IsEmpty()));
}

TEST(Compare, AnInterruptKeepsEveryFinishedPoint) {
  const ProgramBench lacuna;
  const Ran ran = lacuna(
      "compare --machine slow --machine fake --gemm 8x8x8 --jobs 1 --set fake:fault=interrupt "
      "--out " +
      lacuna.path("out"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("interrupted; 1 of 2 points are finished"));
  const CsvTable summary(lacuna.read("out/summary.csv"));
  EXPECT_THAT(summary.where({{"machine", "slow"}}).column("status"), Each("ok"));
  const CsvTable missing = summary.where({{"machine", "fake"}});
  EXPECT_THAT(missing.column("run"), Each("1"));
  EXPECT_THAT(missing.column("status"), Each("interrupted"));
  EXPECT_THAT(missing.column("reason"), Contains(StartsWith("not simulated")));
  EXPECT_THAT(lacuna.listing(), ElementsAre("out", "out.journal"));
}

TEST(Compare, AnInterruptBeforeAnyPointIsFinishedWritesNothing) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("compare --machine fake --gemm 8x8x8 --set fault=interrupt --out " +
                         lacuna.path("out"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(lacuna.listing(), IsEmpty());
}

TEST(Compare, APointOutOfMemoryIsNoFailure) {
  const ProgramBench lacuna;
  EXPECT_EQ(
      lacuna("compare --machine slow --machine fake --gemm 8x8x8 --set fake:fault=memory").status,
      0);
}

TEST(Compare, AWrongProductInAChildExits3) {
  const ProgramBench lacuna;
  EXPECT_EQ(lacuna("compare --machine slow --machine fake --gemm 8x8x8 --values "
                   "--set slow:fault=values")
                .status,
            3);
}

TEST(Json, IsTheOnlyThingOnStandardOutputAndHasTheColumnsOfTheSummary) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("run --machine fake --gemm 8x8x8 --json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, StartsWith("[\n {\n  \"run\": 0,\n  \"machine\": \"fake\",\n"));
  const nlohmann::json rows = nlohmann::json::parse(ran.out);
  EXPECT_EQ(rows.back().at("op_id"), "TOTAL");
  EXPECT_TRUE(rows.back().at("block").is_null());
}

// One row of cores holds 161 elements of a feature: more than a lane of 8 bits counts.
TEST(Run, LanesHoldAllElementsOfAFeature) {
  const std::string request =
      "run --json --machine wse2 --set wafer.columns=12 --set wafer.rows=1 --gemm 192x144x16 "
      "--pattern block4:0.84 --residency resident --layout first --engine ";
  const Ran event = run_real(request + "event");
  const Ran clocked = run_real(request + "clocked");
  EXPECT_EQ(event.status, 0) << event.err;
  EXPECT_EQ(number(event, "cycles"), number(clocked, "cycles"));
}

}  // namespace
}  // namespace lacuna::test
