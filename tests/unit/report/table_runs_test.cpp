// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_runs.hpp"

#include <gtest/gtest.h>

namespace lacuna::test {
namespace {

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
            "125 cycles on 4 cores, engine event\n"
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

}  // namespace
}  // namespace lacuna::test
