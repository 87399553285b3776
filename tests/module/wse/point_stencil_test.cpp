// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

/// A one-point stencil as one of the generations has it.
struct Generation {
  bool pairs;
  unsigned hop;
  unsigned ramp_in;
  unsigned loop;
};
constexpr Generation kSecond = {true, 1, 0, 5};
constexpr Generation kThird = {false, 2, 1, 9};

/// Cycles of an iteration of the middle core of side x side, between `first` and `last` iterations.
double iteration(std::uint32_t side, const Generation& of, std::uint32_t first = 80,
                 std::uint32_t last = 144) {
  TaskParams params;
  params.router.hop = of.hop;
  params.router.ramp_in = of.ramp_in;
  WseParams costs;
  costs.set("scalar.loop", std::to_string(of.loop));
  const std::size_t middle = std::size_t{side / 2} * side + side / 2;
  const auto end = [&](std::uint32_t iterations) {
    const TaskProgram program = shipped("point_stencil",
                                        {{"wide", side},
                                         {"high", side},
                                         {"iterations", iterations},
                                         {"pairs", static_cast<int>(of.pairs)},
                                         {"send", 3}},
                                        costs);
    return run_tasks(program, Engine::event, 0, 0, params).cores.at(middle).end;
  };
  return static_cast<double>(end(last) - end(first)) / (last - first);
}

// The only core within a frame of 3 x 3 waits for nobody: boundary values are there. A product that
// holds the core for 3 cycles, two sums of two words, two sums that each wait a cycle for the last,
// in which the loop counts and tests, and what is left of the loop: 3 + 2 + 4 + (5 - 2). One word
// in a sum, three waits: 3 + 1 + 3 (1 + 1) + (9 - 2).
TEST(PointStencil, ACoreAmongBoundaryValuesTakesItsOwnInstructions) {
  EXPECT_DOUBLE_EQ(iteration(3, kSecond), 12);
  EXPECT_DOUBLE_EQ(iteration(3, kThird), 17);
}

// Neighbours within wait for each other. A word that is made in t can be taken in t + 1 + 2 ramp +
// hop = t + 6, t + 7 or, with a longer ramp inwards, t + 8. Of pairs, north and south are taken
// first at both ends, 3 after the product: 6 + 12 - 3 = 15; one more if the words of a pair come
// down the ramp at once, one behind the other. One by one, the northern word is taken 3 after the
// product and the southern 5: the two ways round take 7 + 17 - 3 and 7 + 17 - 5, in the mean 20,
// and one more likewise.
TEST(PointStencil, CoresWithinWaitForEachOther) {
  const Generation even = {false, 2, 0, 9};
  for (const std::uint32_t side : {4U, 5U, 9U}) {
    EXPECT_GT(iteration(side, kSecond), 14.95) << side;
    EXPECT_LT(iteration(side, kSecond), 16.05) << side;
    EXPECT_GT(iteration(side, even), 19.95) << side;
    EXPECT_LT(iteration(side, even), 21.05) << side;
    // each word a cycle later
    EXPECT_GT(iteration(side, kThird), 20.95) << side;
    EXPECT_LT(iteration(side, kThird), 22.05) << side;
  }
}

// Far from the frame nobody is ahead of others in the first iterations: each core waits for the
// northern word that was made with its own, 8 + 17 - 3 = 22, and four words come down a ramp at
// once. Only when what the frame does has come there are ways round that take 21 in the mean.
TEST(PointStencil, TheFirstIterationsFarFromTheFrameTakeLonger) {
  EXPECT_GE(iteration(15, kThird, 2, 4), 22);
  EXPECT_LE(iteration(15, kThird, 2, 4), 25);
  EXPECT_LT(iteration(15, kThird), 22);
}

}  // namespace
}  // namespace lacuna::wse
