// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/experiment.hpp"

#include <gtest/gtest.h>

#include "tests/support/driver/fake_machine.hpp"

namespace lacuna::test {
namespace {

LayerOp a_product(const char* id, std::uint32_t m, const char* pattern) {
  LayerOp op;
  op.id = id;
  op.m = m;
  op.k = op.n = 16;
  op.pattern.name = pattern;
  if (op.pattern.name != "dense") op.pattern.density = Decimal{5, 1};
  return op;
}

// Rows of a workload share a chip and get operands from each other: a partner is the same row of
// the same workload, dense.
TEST(MissingDensePoints, AreTheWholeWorkloadOnceForEachMachine) {
  const FakeMachine a("a");
  const FakeMachine b("b");
  WorkloadTrace workload;
  workload.ops = {a_product("x", 16, "unstructured"), a_product("y", 16, "unstructured"),
                  a_product("z", 32, "dense")};
  const std::vector<Point> missing =
      missing_dense_points({{0, &a, "", workload}, {1, &b, "", workload}, {2, &a, "", workload}});
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0].run, 3U);
  EXPECT_EQ(missing[1].run, 4U);
  for (const Point& point : missing) {
    ASSERT_EQ(point.workload.ops.size(), 3U);
    EXPECT_EQ(point.workload.ops[1].id, "y");
    EXPECT_EQ(point.workload.ops[1].pattern.name, "dense");
    EXPECT_EQ(point.workload.ops[2].id, "z");
  }
}

TEST(MissingDensePoints, LeaveOutWorkloadsThatAreDenseAlready) {
  const FakeMachine machine("a");
  WorkloadTrace sparse;
  sparse.ops = {a_product("x", 16, "unstructured")};
  WorkloadTrace dense;
  dense.ops = {a_product("x", 16, "dense")};
  EXPECT_TRUE(missing_dense_points({{0, &machine, "", sparse}, {1, &machine, "", dense}}).empty());
  // weights that are to stay are compared with dense ones that stay
  sparse.ops[0].residency = Residency::resident;
  EXPECT_EQ(missing_dense_points({{0, &machine, "", sparse}, {1, &machine, "", dense}}).size(), 1U);
}

OpRecord a_record(const char* id, const char* pattern, double seconds, const char* residency) {
  OpRecord op;
  op.row.op_id = id;
  op.row.op = "gemm";
  op.row.m = op.row.k = op.row.n = 16;
  op.row.pattern = pattern;
  op.row.cycles = 1;
  op.row.time_s = seconds;
  op.result.mac_algorithmic = 16 * 16 * 16;
  op.request = {{"residency", residency}, {"partials", "auto"}};
  return op;
}

RunRecord a_run(const std::vector<OpRecord>& ops, double seconds) {
  RunRecord run;
  run.machine = "a";
  run.workload = "w";
  run.ops = ops;
  run.total.time_s = seconds;
  return run;
}

TEST(CompareWithDense, TakesTheSameRowOfTheDenseWorkloadThenTheShape) {
  // y has its operands further away than x, and as many products
  std::vector<RunRecord> runs = {
      a_run({a_record("x", "dense", 4, "auto"), a_record("y", "dense", 6, "auto")}, 10),
      a_run({a_record("x", "unstructured", 2, "auto"), a_record("y", "unstructured", 2, "auto")},
            4)};
  compare_with_dense(runs, {});
  EXPECT_EQ(runs[0].ops[1].row.speedup_vs_dense, 1);  // 1.5 of the other row
  EXPECT_EQ(runs[1].ops[0].row.speedup_vs_dense, 2);
  EXPECT_EQ(runs[1].ops[1].row.speedup_vs_dense, 3);
  EXPECT_EQ(runs[1].total.speedup_vs_dense, 2.5);
  // of a workload in part dense, those of the shape
  std::vector<RunRecord> mixed = {
      a_run({a_record("x", "dense", 4, "auto"), a_record("y", "unstructured", 2, "auto")}, 6)};
  compare_with_dense(mixed, {});
  EXPECT_EQ(mixed[0].ops[1].row.speedup_vs_dense, 2);
}

TEST(CompareWithDense, LeavesWeightsWhereTheyAreAskedFor) {
  std::vector<RunRecord> runs = {a_run({a_record("x", "dense", 8, "streamed")}, 8),
                                 a_run({a_record("x", "dense", 2, "resident")}, 2),
                                 a_run({a_record("x", "unstructured", 4, "resident")}, 4)};
  compare_with_dense(runs, {});
  EXPECT_EQ(runs[2].ops[0].row.speedup_vs_dense, 0.5);  // 2 of those that are streamed
  EXPECT_EQ(runs[1].ops[0].row.speedup_vs_dense, 1);
}

TEST(CompareWithDense, LeavesLayoutsWithWhatIsLaidOutSo) {
  std::vector<RunRecord> runs = {a_run({a_record("x", "dense", 8, "auto")}, 8),
                                 a_run({a_record("x", "dense", 2, "auto")}, 2),
                                 a_run({a_record("x", "unstructured", 1, "auto")}, 1)};
  for (RunRecord& run : runs) run.varying = {"layout"};
  runs[0].total.varying = {"planned"};
  runs[1].total.varying = runs[2].total.varying = {"best"};
  compare_with_dense(runs, {});
  EXPECT_EQ(runs[2].total.speedup_vs_dense, 2);  // 8 of planned ones
}

TEST(MaskStore, MakesAMaskOnceForAllMachinesAndAnotherForAnotherPatternOrRow) {
  WorkloadTrace workload;
  workload.ops = {a_product("x", 16, "unstructured"), a_product("y", 16, "unstructured"),
                  a_product("d", 16, "dense")};
  MaskStore masks(1);
  const Mask* const first = masks.mask(workload.ops[0], workload);
  EXPECT_EQ(masks.mask(workload.ops[0], workload), first);
  EXPECT_NE(masks.mask(workload.ops[1], workload), first);
  EXPECT_FALSE(*masks.mask(workload.ops[1], workload) == *first) << "rows draw from own streams";
  EXPECT_EQ(masks.mask(workload.ops[2], workload), nullptr);
  LayerOp thinner = workload.ops[0];
  thinner.pattern.density = Decimal{25, 2};
  EXPECT_NE(masks.mask(thinner, workload), first);
}

TEST(MaskStore, SharesTheMaskOfARowThatRefersToAnother) {
  WorkloadTrace workload;
  workload.ops = {a_product("x", 16, "unstructured"), a_product("y", 16, "ref")};
  workload.ops[1].pattern.density.reset();
  workload.ops[1].pattern.args = {{"of", "x"}};
  MaskStore masks(1);
  const Mask* const first = masks.mask(workload.ops[0], workload);
  EXPECT_EQ(masks.mask(workload.ops[1], workload), first);
  workload.ops[1].pattern.args.emplace_back("transpose", "1");
  EXPECT_EQ(*masks.mask(workload.ops[1], workload), first->transposed());
}

}  // namespace
}  // namespace lacuna::test
