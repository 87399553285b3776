// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OpRecord an_op(const char* id, Cycle cycles, std::vector<StackPart> stack) {
  OpRecord op;
  op.row.op_id = id;
  op.row.cycles = cycles;
  op.result.cycles = cycles;
  op.result.units = 4;
  op.result.stack = std::move(stack);
  return op;
}

RunRecord a_run() {
  RunRecord record;
  record.machine = "wse2";
  record.kind = "wse";
  record.extent = "2 x 2 cores";
  record.engine = "event";
  record.workload = "w";
  record.pattern = "unstructured:0.1";
  record.ops = {
      an_op("a", 100, {{Layer::stall, "bank", 100}, {Layer::compute, "fma", 300}}),
      an_op("b", 25,
            {{Layer::compute, "fma", 80}, {Layer::stall, "ramp", 20}, {Layer::idle, "never", 0}})};
  return record;
}

TEST(StackTable, AddsUpOperationsInTheOrderOfTheLayersWithTheirShares) {
  EXPECT_EQ(stack_table(a_run()),
            "wse2 (2 x 2 cores), w, unstructured:0.1, seed 1: 125 cycles on 4 cores, engine event, "
            "exact\n"
            "\n"
            "  compute    fma             380   76.0 %\n"
            "  stall      bank            100   20.0 %\n"
            "             ramp             20    4.0 %\n"
            "  total                      500  100.0 %\n");
}

TEST(StackTable, IsNothingForARunWithoutCycles) {
  RunRecord record = a_run();
  record.ops.clear();
  EXPECT_EQ(stack_table(record), "");
}

TEST(CompareStacks, NamesTheLayerThatCostMostBesideComputeAndItsLargestKind) {
  EXPECT_THAT(compare_stacks({a_run()}), HasSubstr("stall: bank"));
}

TEST(RunTable, GivesReasonsBelowTheTable) {
  RunRecord record = a_run();
  record.ops[1].row.status = Status::out_of_memory;
  record.ops[1].row.reason = "needs 2 bytes, has 1";
  EXPECT_THAT(run_table(record), HasSubstr("\n\nb: out_of_memory: needs 2 bytes, has 1\n"));
  EXPECT_THAT(run_table(a_run()), Not(HasSubstr("out_of_memory")));
}

// Three operations cannot be done, two of them for the same reason.
TEST(RunTable, GivesAReasonOfSeveralOperationsOnce) {
  RunRecord record = a_run();
  record.ops.push_back(record.ops[1]);
  record.ops.push_back(record.ops[1]);
  const auto refuse = [&](std::size_t op, const char* id, const char* reason) {
    record.ops[op].row.op_id = id;
    record.ops[op].row.status = Status::unsupported;
    record.ops[op].row.reason = reason;
  };
  refuse(1, "b", "no bf16");
  refuse(2, "c", "too long");
  refuse(3, "d", "no bf16");
  const std::string words = "\n\nb and 1 more: unsupported: no bf16\nc: unsupported: too long\n";
  EXPECT_THAT(run_table(record), HasSubstr(words));
  EXPECT_THAT(compare_table({record}), HasSubstr("run 0, b and 1 more: unsupported: no bf16\n"));
}

}  // namespace
}  // namespace lacuna::test
