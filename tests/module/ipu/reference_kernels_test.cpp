// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reference_kernels.hpp"

#include <gtest/gtest.h>

#include "models/ipu/ipu_chip.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::ipu {
namespace {

ChipParams two_tiles() {
  ChipParams chip;
  chip.set("ipu.tiles", "2");
  chip.set("tile.launch", "0");
  return chip;
}

struct Outcome {
  Cycle cycles = 0;
  std::uint64_t read = 0;  // 64-bit accesses of both tiles, instructions left out
  std::uint64_t written = 0;
};

Outcome simulate(const Program& program, Engine engine, const ChipParams& chip = two_tiles()) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  IpuChip one("chip", clock, chip, program, engine);
  Outcome outcome;
  outcome.cycles = one.run();
  outcome.read = one.work_stats().sram_reads_input.value();
  outcome.written = one.work_stats().sram_writes_output.value();
  return outcome;
}

// Six workers take turns: 12 bundles at the entry and 4 a turn, 6 clocks each: 6 * (12 + 400).
TEST(ReferenceKernels, ATurnOfTheAssemblyTriadIsFourBundlesOfEachWorker) {
  const Program program = loop_program(two_tiles(), *find_loop("triad assembly fp32"), 100, 6);
  for (const Engine engine : {Engine::event, Engine::clocked}) {
    const Outcome outcome = simulate(program, engine);
    EXPECT_EQ(outcome.cycles, 2472U);
    EXPECT_EQ(outcome.read, 2U * 2 * 600);  // two 64-bit loads a turn, two tiles
    EXPECT_EQ(outcome.written, 2U * 600);
  }
}

// A worker alone still has one slot of six: 6 * (12 + 100 * 8).
TEST(ReferenceKernels, OneWorkerHasOneIssueSlotOfSix) {
  const Program program = loop_program(two_tiles(), *find_loop("triad naive fp16"), 100, 1);
  EXPECT_EQ(simulate(program, Engine::event).cycles, 4872U);
}

// Two workers in a pipeline of six stages: each issues every sixth clock, four slots stay empty. In
// one of two stages they fill every slot: 2 * (12 + 400).
TEST(ReferenceKernels, FewWorkersLeaveTheSlotsOfADeepPipelineEmpty) {
  ChipParams chip = two_tiles();
  chip.set("tile.workers", "2");
  for (const auto& [interval, cycles] : {std::pair("6", 2472U), std::pair("1", 824U)}) {
    chip.set("tile.issue_interval", interval);
    const Program program = loop_program(chip, *find_loop("triad assembly fp32"), 100, 2);
    for (const Engine engine : {Engine::event, Engine::clocked}) {
      EXPECT_EQ(simulate(program, engine, chip).cycles, cycles) << interval;
    }
  }
}

TEST(ReferenceKernels, EnginesAgreeOnACopyThatMovesEveryByteOnce) {
  const Program program = copy_program(two_tiles(), 8192);
  const Outcome event = simulate(program, Engine::event);
  EXPECT_EQ(event.cycles, simulate(program, Engine::clocked).cycles);
  EXPECT_EQ(event.read, 2U * 1024);  // 8 KiB in accesses of 8 B, on two tiles
}

TEST(ReferenceKernels, UnknownLoopsAreNone) { EXPECT_EQ(find_loop("triad"), nullptr); }

}  // namespace
}  // namespace lacuna::ipu
