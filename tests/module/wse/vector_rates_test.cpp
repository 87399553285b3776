// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

/// Eight halves or four words a beat, 16 B read and 16 B written in a cycle.
TaskParams measured(double write_share) {
  TaskParams params;
  params.mem.read_bits = 128;
  params.mem.write_bits = 128;
  params.mem.write_share = write_share;
  params.mem.conflict_bytes = 16;
  params.mem.row_bytes = 16;
  params.mem.fma32_stalls = 0;
  params.simd.fma16 = 8;
  params.simd.add32 = 4;
  params.simd.to_register = 2;
  return params;
}

/// Cycles of the last 4800 of 9600 elements.
Cycle probe_cycles(const char* kind, const char* type, const TaskParams& params,
                   std::uint32_t stride = 1, std::uint32_t offset = 0) {
  const auto run = [&](std::uint32_t length) {
    const TaskProgram program = shipped("vector", {{"kind", kind},
                                                   {"type", type},
                                                   {"length", length},
                                                   {"stride", stride},
                                                   {"offset", offset}});
    return run_tasks(program, Engine::event, 0, 0, params).cycles;
  };
  return run(9600) - run(4800);
}

TEST(VectorRates, OfOverlappingReadsAndWritesAreThoseOfTheReadPort) {
  const TaskParams simulator = measured(0);
  // 600 beats of eight halves, 1200 of four words: 16 B in, 16 B out
  EXPECT_EQ(probe_cycles("copy", "fp16", simulator), 600U);
  EXPECT_EQ(probe_cycles("copy", "fp32", simulator), 1200U);
  EXPECT_EQ(probe_cycles("fill", "fp16", simulator), 600U);
  // two sources share the port: two cycles a beat
  EXPECT_EQ(probe_cycles("fma", "fp16", simulator), 1200U);
  EXPECT_EQ(probe_cycles("add", "fp16", simulator), 1200U);
  EXPECT_EQ(probe_cycles("add", "int16", simulator), 1200U);
  // rows of 16 B: eight elements of stride 2 and 3 lie in two and three of them
  EXPECT_EQ(probe_cycles("copy", "fp16", simulator, 2), 1200U);
  EXPECT_EQ(probe_cycles("copy", "fp16", simulator, 3), 1800U);
  // each sum waits for the last; a move does not
  EXPECT_EQ(probe_cycles("sum", "fp16", simulator), 9600U);
  EXPECT_EQ(probe_cycles("to_register", "fp16", simulator), 4800U);
}

TEST(VectorRates, OfAWriteShareTakeThatShareOfEachWriteFromTheReadPort) {
  const TaskParams chip = measured(2.0 / 3);
  // (16 + 2/3 16) / 16 = 5/3 cycles a beat: 1000 for 600 beats, 2000 for 1200
  EXPECT_EQ(probe_cycles("copy", "fp16", chip), 1000U);
  EXPECT_EQ(probe_cycles("copy", "fp32", chip), 2000U);
  // (32 + 2/3 16) / 16 = 8/3 cycles a beat of eight: 1600
  EXPECT_EQ(probe_cycles("fma", "fp16", chip), 1600U);
  // without reads there is nothing to share
  EXPECT_EQ(probe_cycles("fill", "fp16", chip), 600U);
}

TEST(VectorRates, OfSinglePrecisionHaveOneSlowClassOfFourOffsets) {
  for (const double share : {0.0, 2.0 / 3}) {
    const TaskParams params = measured(share);
    EXPECT_EQ(probe_cycles("fma", "fp32", params, 1, 0), 9600U);
    for (const std::uint32_t offset : {4U, 8U, 12U, 20U}) {
      EXPECT_EQ(probe_cycles("fma", "fp32", params, 1, offset), 4800U) << offset;
    }
    EXPECT_EQ(probe_cycles("fma", "fp32", params, 1, 16), 9600U);
  }
}

TEST(VectorRates, OfAColumnInPlaceWaitForTheWriteOfTheElementBefore) {
  TaskParams params;
  params.mem.fma32_stalls = 0;
  // stride 4 words: each element lies in the banks of the last; offset 4 B, no conflict of reads
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 4, 4), 4800U);
  params.mem.write_lag = 1;
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 4, 4), 9600U);
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 2, 4), 4800U);
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 1, 4), 4800U);
  // two elements apart, every second one is: that of stride 2 now meets its write, 1 does not
  params.mem.write_lag = 2;
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 2, 4), 9600U);
  EXPECT_EQ(probe_cycles("fma", "fp32", params, 1, 4), 4800U);
}

}  // namespace
}  // namespace lacuna::wse
