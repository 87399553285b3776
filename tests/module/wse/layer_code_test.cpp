// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "models/wse/simulate.hpp"
#include "sim/machines/machine.hpp"
#include "workloads/mapping/wse/layers/line.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {
namespace {

/// A line of cores that adds up a vector of `words`, and nothing else.
TaskProgram reduce_line(std::uint32_t cores, std::uint64_t words, bool back) {
  const CoreLine line(cores, CoreLine::Direction::columns, RouterParams());
  TaskProgram program;
  program.columns = cores;
  program.rows = 1;
  CodeCosts free;
  free.vec.setup_descriptor = free.vec.setup_use = free.vec.setup_next = 0;
  const InferenceParams functions;
  for (std::uint32_t c = 0; c < cores; ++c) {
    CoreCode code(free, functions);
    line.reduce(c, VectorOp::add, Element::fp32, 0, words, code);
    if (back) line.broadcast(c, Element::fp32, 0, words, code);
    add_line_core(line, c, std::move(code), program);
  }
  return program;
}

Cycle cycles_of(const TaskProgram& program) {
  return simulate(TaskParams(), program, RunOptions()).cycles;
}

// A step of a chain takes 2 T_R + 2 = 6 cycles: into the output queue, up the ramp (2), a hop (1),
// down the ramp (2), and the next beat one later than the word was sent on. Of three cores the last
// begins in cycle 0, so the first has its word in cycle 12, and the four words after one another.
TEST(LayerLine, AChainTakesSixCyclesForEachCoreAndOneForEachWord) {
  EXPECT_EQ(cycles_of(reduce_line(3, 1, false)), 13U);
  EXPECT_EQ(cycles_of(reduce_line(3, 4, false)), 16U);
}

// The first core begins to send when its sum is whole: one cycle to retire, then as in a chain, but
// routers pass the word on without the cores: 1 + 2 + 2 hops + 2 to the last core, whose beat ends
// one later. After 13 cycles that is 13 + 0 + 7 + 1.
TEST(LayerLine, TheSumComesBackOverAllRoutersAtOneHopEach) {
  EXPECT_EQ(cycles_of(reduce_line(3, 1, true)), 21U);
}

TEST(LayerLine, ManyCoresAddUpInGroups) {
  // A chain of 100 would take 99 x 6 cycles; ten groups take 9 x 6 and 9 x (5 + 10).
  EXPECT_EQ(best_group(100, RouterParams()), 10U);
  EXPECT_LT(cycles_of(reduce_line(100, 1, false)), 200U);
}

OpResult run_row(const LayerOp& op, const char* columns, const char* rows) {
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  machine->set("wafer.columns", columns, "");
  machine->set("wafer.rows", rows, "");
  return machine->run(op, nullptr, 1, Execution());
}

LayerOp eltwise(const char* fn, std::uint32_t m, std::uint32_t n) {
  LayerOp op;
  op.op = "eltwise";
  op.fn = fn;
  op.m = m;
  op.n = n;
  return op;
}

// Starting the instruction takes three descriptors, 3 + 4 + 2; then two beats of four elements. The
// operands lie four bytes apart modulo eight, so no beat meets a conflict.
TEST(LayerEltwise, ASumTakesABeatForFourElements) {
  const OpResult result = run_row(eltwise("add", 4, 2), "1", "1");
  EXPECT_EQ(result.cycles, 11U);
}

// The datapath finds one FP16 maximum in a cycle, of two descriptors: 8 + 8.
TEST(LayerEltwise, AMaximumTakesACycleForEachElement) {
  EXPECT_EQ(run_row(eltwise("relu", 4, 2), "1", "1").cycles, 16U);
}

// 8 x 4 elements on 2 x 2 cores are 4 x 2 on each.
TEST(LayerEltwise, CoresShareTheElementsAndOnlyOneOfThemIsSimulated) {
  const OpResult result = run_row(eltwise("add", 8, 4), "2", "2");
  EXPECT_EQ(result.cycles, 11U);
  std::string fold;
  for (const auto& [key, text] : result.notes) fold += key == "fold" ? text : "";
  EXPECT_NE(fold.find("1 of 4 cores simulated"), std::string::npos) << fold;
}

// 32 features of one token are 16 on each of the two columns of a row, four beats; 32 numbers of a
// gradient are 8 on each of the four cores, two.
TEST(LayerEltwise, GradientsAreDealtToAllCoresAndActivationsToThoseOfTheirToken) {
  LayerOp op = eltwise("add", 32, 1);
  EXPECT_EQ(run_row(op, "2", "2").cycles, 13U);
  op.phase = Phase::upd;
  EXPECT_EQ(run_row(op, "2", "2").cycles, 11U);
}

// Two tokens of four scores on one core; an instruction starts with a cycle a descriptor and 4 + 2,
// and an operand that is the result has none of its own. The maximum of each: the first two scores
// are copied, 8 + 1, the other six compared, one in a cycle, 8 + 6; those of the second and the
// fourth feature lie at 4 and 6 modulo eight, as the maxima they are compared with, and wait a
// cycle each:
// 4. Less the maximum: 9 + 2 for eight elements, four a beat. Twice: times a large number, 7 + 2,
// and at least -1, 7 + 8. Times the scores, 8 + 2, and times -1, 7 + 2.
// 9 + 18 + 11 + 2 x 24 + 10 + 9.
TEST(LayerTakeMax, IsAMaximumAndSevenInstructionsOverAllScores) {
  LayerOp op;
  op.op = "take_max";
  op.m = 2;
  op.n = 4;
  EXPECT_EQ(run_row(op, "1", "1").cycles, 105U);
}

LayerOp embed(const char* fn, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp op;
  op.id = "row";
  op.op = "embed";
  op.fn = fn;
  op.m = m;
  op.k = k;
  op.n = n;
  return op;
}

// In cycle 0 the microthread gets its instruction, in cycle 1 it sends the one wavelet, which is
// back in the queue in 1 + 1 + 2 x 2 = 6. The block is cleared by the main thread: start, 2 to 9,
// beat, 10. In 10 the wavelet is taken, 4 cycles later its task begins: scalar.imul + 2 dsr_write
// and the dispatch, 8 + 8 + 4 = 20 cycles, 14 to 33, and the beat that copies two halves, 34. So 35
// cycles; then the token's features go to their place: 8 + 1.
TEST(LayerEmbedding, ALookUpOnOneCoreTakesADispatchItsScalarCodeAndABeat) {
  const OpResult result = run_row(embed("gather", 2, 4, 1), "1", "1");
  EXPECT_EQ(result.cycles, 35U + 9U);
}

// A row of the table is found by the filter of the one core that has it: of 2 x 3 wavelets (three
// look-ups in each of two columns) each wakes one task, however many cores a column has.
TEST(LayerEmbedding, OnlyTheCoreThatHasTheRowIsWoken) {
  for (const char* const rows : {"1", "4", "9"}) {
    const OpResult result = run_row(embed("gather", 2, 9, 3), "2", rows);
    std::uint64_t tasks = 0;
    for (const StatEntry& entry : result.statistics) {
      if (entry.name == "tasks_started") tasks = entry.value;
    }
    EXPECT_EQ(tasks, 2U * 3U) << rows;
  }
}

// The 16 bits of an index tell 65536 rows apart; others have a color of their own.
TEST(LayerEmbedding, TablesOfMoreRowsThanAnIndexTellsApartAreSearchedOnTwoColors) {
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  machine->set("wafer.columns", "1", "");
  machine->set("wafer.rows", "40", "");
  for (const char* const fn : {"gather", "scatter_add"}) {
    Execution execution;
    execution.values = true;
    const OpResult result = machine->run(embed(fn, 1, 70000, 30), nullptr, 1, execution);
    ASSERT_TRUE(result.values);
    EXPECT_GE(result.values->compared, 30U);
    EXPECT_EQ(result.values->wrong, 0U) << fn;
  }
}

}  // namespace
}  // namespace lacuna::wse
