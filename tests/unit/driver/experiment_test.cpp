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

TEST(MissingDensePoints, AreOneForEachMachineAndOneOperationForEachShape) {
  const FakeMachine a("a");
  const FakeMachine b("b");
  WorkloadTrace workload;
  workload.ops = {a_product("x", 16, "unstructured"), a_product("y", 16, "unstructured"),
                  a_product("z", 32, "unstructured")};
  const std::vector<Point> missing =
      missing_dense_points({{0, &a, "", workload}, {1, &b, "", workload}});
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0].run, 2U);
  EXPECT_EQ(missing[1].run, 3U);
  for (const Point& point : missing) {
    ASSERT_EQ(point.workload.ops.size(), 2U);
    EXPECT_EQ(point.workload.ops[0].id, "x");
    EXPECT_EQ(point.workload.ops[0].pattern.name, "dense");
    EXPECT_EQ(point.workload.ops[1].id, "z");
  }
}

TEST(MissingDensePoints, LeaveOutShapesThatAreDenseAlready) {
  const FakeMachine machine("a");
  WorkloadTrace sparse;
  sparse.ops = {a_product("x", 16, "unstructured"), a_product("z", 32, "unstructured")};
  WorkloadTrace dense;
  dense.ops = {a_product("x", 16, "dense")};
  const std::vector<Point> missing =
      missing_dense_points({{0, &machine, "", sparse}, {1, &machine, "", dense}});
  ASSERT_EQ(missing.size(), 1U);
  ASSERT_EQ(missing[0].workload.ops.size(), 1U);
  EXPECT_EQ(missing[0].workload.ops[0].id, "z");
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
