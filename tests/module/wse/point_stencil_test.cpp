// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/tiled_stencil.hpp"

namespace lacuna::wse {
namespace {

/// Cycles of an iteration of the middle core of side x side, when all have settled.
double iteration(std::uint32_t side, bool pairs, unsigned hop, unsigned loop,
                 unsigned ramp_in = 0) {
  TaskParams params;
  params.router.hop = hop;
  params.router.ramp_in = ramp_in;
  CodeCosts costs;
  costs.core = params.core;
  costs.task = params.task;
  costs.scalar.loop = loop;
  const std::size_t middle = std::size_t{side / 2} * side + side / 2;
  const auto end = [&](std::uint32_t iterations) {
    const TaskProgram program = plan_point_stencil({side, side, iterations, pairs}, costs);
    return run_tasks(program, Engine::event, 0, 0, params).cores.at(middle).end;
  };
  return static_cast<double>(end(144) - end(80)) / 64;
}

// The only core within a frame of 3 x 3 waits for nobody: boundary values are there. A product, two
// sums of two words, two sums that each wait a cycle for the last, the loop: 1 + 2 + 4 + 5. One
// word in a sum: 1 + 1 + 3 (1 + 1) + 9.
TEST(PointStencil, ACoreAmongBoundaryValuesTakesItsOwnInstructions) {
  EXPECT_DOUBLE_EQ(iteration(3, true, 1, 5), 12);
  EXPECT_DOUBLE_EQ(iteration(3, false, 2, 9), 17);
}

// Neighbours within wait for each other. A word that is made in t can be taken in t + 1 + 2 ramp +
// hop = t + 6 or t + 7. Of pairs, north and south are taken first at both ends: 6 and what is left
// of the 12 but the product, 6 + 11 = 17; one more if the words of a pair come down the ramp at
// once, one behind the other. One by one, the northern word is taken first and the southern second,
// 2 cycles later: the two ways round take 7 + 16 and 7 + 14, in the mean 22, and one more likewise.
TEST(PointStencil, CoresWithinWaitForEachOther) {
  for (const std::uint32_t side : {4U, 5U, 9U}) {
    EXPECT_GT(iteration(side, true, 1, 5), 16.95) << side;
    EXPECT_LT(iteration(side, true, 1, 5), 18.05) << side;
    EXPECT_GT(iteration(side, false, 2, 9), 21.95) << side;
    EXPECT_LT(iteration(side, false, 2, 9), 23.05) << side;
    // each word a cycle later
    EXPECT_GT(iteration(side, false, 2, 9, 1), 22.95) << side;
    EXPECT_LT(iteration(side, false, 2, 9, 1), 24.05) << side;
  }
}

}  // namespace
}  // namespace lacuna::wse
