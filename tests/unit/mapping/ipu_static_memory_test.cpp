// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {
namespace {

LoweredGemm lower_beside(const Mask& mask, unsigned plain_kib) {
  ChipParams chip;
  chip.ipu.tiles = 4U;
  chip.tile.memory.element.plain_kib = plain_kib;
  GemmProblem problem;
  problem.m = problem.k = 64;
  problem.n = 4;
  problem.mask = &mask;
  const Target target = make_target(chip, PlannerParams());
  return lower_static(chip, target, kHalf, problem, plan_static(target, kHalf, mask, problem.n));
}

// A quarter of the 4096 elements on each tile: 4 B each for value and offset, 2 B for each of 16
// rows if they are not cut, and 72 B for the workers: 4200 B.
TEST(StaticMemory, ElementsWithTheirOffsetsMustFitTheMemoryThatIsNotInterleaved) {
  const Mask mask = dense_mask(64, 64);
  EXPECT_NO_THROW(lower_beside(mask, 5));
  try {
    lower_beside(mask, 4);
    FAIL() << "4096 B were enough";
  } catch (const OutOfMemoryError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("values and their offsets on a tile that has 4096"));
  }
}

TEST(StaticMemory, BlocksHaveTheirOffsetsInAnyMemory) {
  const Mask mask = dense_mask(64, 64).blocked(16, 16);
  EXPECT_NO_THROW(lower_beside(mask, 1));
}

// 3 * 10^10 elements of 2 B; no mask of 10^10 weights is made to find out.
TEST(StaticMemory, OperandsThatExceedTheChipAreRefusedAtOnce) {
  GemmProblem problem;
  problem.m = problem.k = problem.n = 100'000;
  for (const Mode mode : {Mode::static_, Mode::dynamic}) {
    try {
      plan_gemm(ChipParams(), PlannerParams(), problem, mode);
      FAIL() << "it fits";
    } catch (const OutOfMemoryError& error) {
      EXPECT_THAT(error.what(),
                  ::testing::HasSubstr("60000000000 bytes on a chip that has 940572672"));
    }
  }
}

}  // namespace
}  // namespace lacuna::ipu
