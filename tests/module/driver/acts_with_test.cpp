// SPDX-License-Identifier: Apache-2.0
// Parameters that act with a value of another alone, and what is said of one that waits for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

TEST(ActsWith, NamesParametersAndValuesThatExist) {
  for (const ActsWith& condition : conditions()) {
    bool found = false;
    for (const MachineKind& kind : standard_machines()) {
      const auto machine = kind.make(kind.kind);
      if (machine->parameters().find(condition.other) == nullptr) continue;
      found = true;
      EXPECT_NO_THROW(machine->set(condition.other, condition.value, ""));
    }
    EXPECT_TRUE(found) << condition.other;
  }
}

TEST(ActsWith, SaysWhatAGivenParameterWaitsFor) {
  const Ran idle = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set io.column_fifo=32");
  EXPECT_THAT(idle.err, HasSubstr("io.column_fifo acts with io.stream = row_ordered alone, and on "
                                  "wse2 that is per_column"));
  const Ran acting = run_real(
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--set io.column_fifo=32 --set io.stream=row_ordered");
  EXPECT_EQ(acting.err, "");
}

// An experiment's settings are remarked on if they act on none of its points.
TEST(ActsWith, SaysSoOfASettingOfAnExperimentThatActsNowhere) {
  const ProgramBench bench;
  const auto remarks = [&](const std::string& axis) {
    const std::string file = bench.file(
        "e.yaml", "machine: wse2\ngemm: 8x8x8\nset: {wafer.columns: 4, wafer.rows: 4}\ngrid:\n  " +
                      axis + "\n");
    return run_real("sweep --quiet " + file + " --set io.column_fifo=32").err;
  };
  EXPECT_THAT(remarks("io.share: [0.5, 1]"), HasSubstr("io.column_fifo acts with io.stream = "));
  EXPECT_EQ(remarks("io.stream: [per_column, row_ordered]"), "");
}

TEST(ActsWith, SaysWhichRowsAKernelsParameterIsOf) {
  const std::string wafer =
      "run --quiet --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 ";
  EXPECT_THAT(run_real(wafer + "--set kernel.iterations=3").err,
              HasSubstr("kernel.iterations acts on rows of op stencil alone, and there are none"));
  EXPECT_THAT(run_real(wafer + "--density 0.5 --set kernel.gemm=mesh").err,
              HasSubstr("kernel.gemm acts on dense products with weights alone"));
  EXPECT_EQ(run_real(wafer + "--set kernel.gemm=mesh").err, "");
  EXPECT_THAT(run_real(wafer + "--density 0.5 --set wse2:kernel.spmm_format=coo").err,
              HasSubstr("kernel.spmm_format acts on products in mode dynamic alone"));
  EXPECT_EQ(run_real(wafer + "--density 0.5 --mode dynamic --set kernel.spmm_format=coo").err, "");
}

TEST(ActsWith, SaysThatStagesOfRowsChangeNothing) {
  const ProgramBench bench;
  const std::string trace = bench.file("t.csv", "id,op,m,n,stage\na,softmax,8,8,1\n");
  EXPECT_THAT(run_real("run --quiet --machine bow --set ipu.tiles=4 --trace " + trace).err,
              HasSubstr("column 'stage' changes nothing"));
}

// A system has its chips' parameters under another name than a chip by itself.
TEST(ActsWith, SaysWhereASettingIsCalledOtherwise) {
  const std::string both = "compare --quiet --machine wse2 --machine cs2x4 --gemm 8x8x8 ";
  const std::string small = "--set chip.wafer.columns=4 --set wafer.columns=4 ";
  const Ran one = run_real(both + small + "--set wafer.rows=4 --set cs2x4:chip.wafer.rows=4");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.err, "");
  const Ran alone = run_real(both + small + "--set wafer.rows=4");
  EXPECT_THAT(alone.err, HasSubstr("wafer.rows is not set on cs2x4, where it is chip.wafer.rows"));
  const Ran system = run_real(both + small + "--set chip.wafer.rows=4");
  EXPECT_THAT(system.err, HasSubstr("chip.wafer.rows is not set on wse2, where it is wafer.rows"));
}

// An IPU has no rows that stand for each other: --fold is for wafers.
TEST(ActsWith, FoldsNothingWithoutAWafer) {
  const char* const remark = "--fold acts on wafers alone, and there is none here";
  const std::string chip = " --machine bow --set ipu.tiles=4 --gemm 8x8x8 --quiet";
  EXPECT_THAT(run_real("run" + chip + " --fold off").err, HasSubstr(remark));
  EXPECT_EQ(run_real("run" + chip).err, "");
  const std::string wafer = " --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --fold off";
  EXPECT_EQ(run_real("compare" + chip + wafer).err, "");
  const ProgramBench bench;
  const std::string points =
      bench.file("e.yaml",
                 "machine: bow\ngemm: 8x8x8\nset: {ipu.tiles: 4}\ngrid:\n  density: [1, "
                 "0.5]\n");
  EXPECT_THAT(run_real("sweep --quiet " + points + " --fold off").err, HasSubstr(remark));
  const Ran axis = run_real("sweep --quiet " + bench.file("f.yaml",
                                                          "machine: bow\n"
                                                          "gemm: 8x8x8\n"
                                                          "set: {ipu.tiles: 4}\n"
                                                          "grid:\n  fold: [on, off]\n"));
  EXPECT_EQ(axis.status, 2);
  EXPECT_THAT(axis.err, HasSubstr("'fold' acts on wafers alone, and no machine here is one"));
}

}  // namespace
}  // namespace lacuna::test
