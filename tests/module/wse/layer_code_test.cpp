// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sim/machines/machine.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {
namespace {

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
// and an operand that is the result has none of its own. The maximum of each: two are set to the
// least there is, 7 + 1, and all scores compared with them, one in a cycle, 8 + 8; those of the
// second and the fourth feature lie at 4 and 6 modulo eight, as the maxima they are compared with,
// and wait a cycle each:
// 4. Less the maximum: 9 + 2 for eight elements, four a beat. Twice: times a large number, 7 + 2,
// and at least -1, 7 + 8. Times the scores, 8 + 2, and times -1, 7 + 2.
// 8 + 20 + 11 + 2 x 24 + 10 + 9.
TEST(LayerTakeMax, IsAMaximumAndSevenInstructionsOverAllScores) {
  LayerOp op;
  op.op = "take_max";
  op.m = 2;
  op.n = 4;
  EXPECT_EQ(run_row(op, "1", "1").cycles, 106U);
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
