// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {
namespace {

/// What the tiles of a small chip compute before they multiply, of 64 x 64 x 8 with all elements.
std::size_t before_products(unsigned parts, bool ordered) {
  ChipParams chip;
  chip.ipu.tiles = 8U;
  PlannerParams planner;
  planner.static_parts = parts;
  planner.order_elements = ordered;
  const Mask mask = dense_mask(64, 64);
  GemmProblem problem;
  problem.m = problem.k = 64;
  problem.n = 8;
  problem.mask = &mask;
  const Target target = make_target(chip, planner);
  const StaticPlan plan = plan_static(target, kHalf, mask, problem.n);
  EXPECT_EQ(plan.parts.size(), parts);
  return lower_static(chip, target, kHalf, problem, plan).program.computes.front().items.size();
}

// With one part of the columns each of 8 tiles has its run of 512 elements, and orders them. With
// two, each run goes to a tile of both parts: the exchange writes it in its order.
TEST(StaticOrder, ElementsAreOrderedOnTheirTileWhereNoExchangeBringsThem) {
  EXPECT_EQ(before_products(1, true), before_products(1, false) + 8);
  EXPECT_EQ(before_products(2, true), before_products(2, false));
}

}  // namespace
}  // namespace lacuna::ipu
