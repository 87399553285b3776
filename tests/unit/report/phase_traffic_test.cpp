// SPDX-License-Identifier: Apache-2.0
#include "sim/report/phase_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/csv_table.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// 100 cycles of 1 GHz, twice: 60 multiply, 10 wait, 30 exchange. Memories can move 8 bytes in a
/// cycle and the fabric 4; there is no edge.
RunRecord two_executions() {
  RunRecord run;
  run.machine = "bow";
  run.workload = "w";
  OpRecord op;
  op.row.op_id = "q";
  op.repeat = 2;
  op.result.cycles = 200;
  op.result.clock_ghz = 1;
  op.result.peaks.sram_bytes_per_cycle = 8;
  op.result.peaks.fabric_bytes_per_cycle = 4;
  op.result.phases = {{"multiply", 60, 120, 0, 0}, {"sync", 10, 0, 0, 0}, {"sums", 30, 60, 90, 0}};
  run.ops.push_back(op);
  return run;
}

// multiply: 240 bytes in 120 cycles of 1 ns are 2 GB/s of 8; sums: 120 in 60 are 2 of 8, and 180 of
// the fabric 3 of 4
TEST(PhaseTraffic, IsBytesAndTheirShareOfWhatCouldHaveMovedInThePhase) {
  EXPECT_EQ(phases_csv({two_executions()}),
            "run,op_id,phase,cycles,sram_bytes,sram_gbps,sram_share,fabric_bytes,fabric_gbps,"
            "fabric_share,io_bytes,io_gbps,io_share\n"
            "0,q,multiply,120,240,2,0.25,0,0,0,0,0,\n"
            "0,q,sync,20,0,0,0,0,0,0,0,0,\n"
            "0,q,sums,60,120,2,0.25,180,3,0.75,0,0,\n");
}

TEST(PhaseTraffic, OfOperationsThatDoNotKnowTheirPhasesIsNoFile) {
  RunRecord run = two_executions();
  run.ops[0].result.phases.clear();
  EXPECT_EQ(phases_csv({run}), "");
  EXPECT_EQ(phases_table(run.ops[0]), "");
  EXPECT_TRUE(phase_figures({run}).empty());
}

// a second operation multiplies for 40 cycles and moves 200 bytes: 440 of 8 x 160 are 34.375 %
TEST(PhaseTraffic, OfSeveralOperationsIsDrawnTogetherByName) {
  RunRecord run = two_executions();
  OpRecord other = run.ops[0];
  other.repeat = 1;
  other.result.cycles = 40;
  other.result.phases = {{"multiply", 40, 200, 0, 0}};
  run.ops.push_back(other);
  const std::vector<Figure> figures = phase_figures({run});
  ASSERT_EQ(figures.size(), 1U);
  const CsvTable drawn(figures[0].csv);
  const CsvTable memory = drawn.where({{"way", "tile or core memory"}, {"phase", "multiply"}});
  EXPECT_EQ(memory.number("percent_of_peak"), 34.375);
  EXPECT_EQ(memory.number("bytes"), 440);
  EXPECT_EQ(memory.number("peak_bytes"), 1280);
  EXPECT_EQ(memory.number("cycles"), 160);
  const CsvTable fabric = drawn.where({{"way", "fabric"}, {"phase", "sums"}});
  EXPECT_EQ(fabric.number("percent_of_peak"), 75);
  EXPECT_EQ(fabric.number("bytes"), 180);
  EXPECT_EQ(fabric.number("peak_bytes"), 240);
  EXPECT_EQ(fabric.number("cycles"), 60);
  EXPECT_THAT(drawn.column("phase"), Not(Contains("sync")));
  EXPECT_THAT(figures[0].script,
              HasSubstr("multiply (67 %%)"));  // 160 of 240 cycles; %% is a percent sign of a mark
  EXPECT_THAT(figures[0].script, Not(HasSubstr("edge of the chip")));
}

}  // namespace
}  // namespace lacuna::test
