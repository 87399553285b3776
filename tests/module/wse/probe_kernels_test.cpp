// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

Cycle line_cycles(std::uint32_t words, std::uint32_t hops, unsigned ramp_in) {
  TaskParams params;
  params.router.hop = 2;
  params.router.ramp_in = ramp_in;
  const TaskProgram program =
      shipped("line", {{"words", words}, {"receivers", hops}, {"last_only", 1}, {"stamps", 0}});
  return run_tasks(program, Engine::event, 0, 0, params).cycles;
}

// Two descriptors, 2 + 4 + 4: the first beat is that of cycle 10. Its word is on the ramp from 11,
// in the router in 13, in the next one's in 15, in the queue in 17, where a receive waits for it;
// the cycles counted are one more. Every hop is 2, every further word 1, and the ramp into the core
// is passed once, however far and many the words are.
TEST(ProbeKernels, AWordPassesTheRampIntoTheCoreOnce) {
  for (const unsigned ramp_in : {0U, 1U, 3U}) {
    EXPECT_EQ(line_cycles(1, 1, ramp_in), 18 + ramp_in);
    EXPECT_EQ(line_cycles(1, 4, ramp_in), 18 + 3 * 2 + ramp_in);
    EXPECT_EQ(line_cycles(32, 4, ramp_in), 18 + 3 * 2 + 31 + ramp_in);
  }
}

Cycle vector_cycles(const char* kind, const char* scalar) {
  WseParams costs;
  costs.set("vec.setup_scalar", scalar);
  return run_tasks(shipped("vector", {{"kind", kind}, {"length", 64}}, costs)).cycles;
}

// A multiply-accumulate has two descriptors and a number, a copy two descriptors, a sum three.
TEST(ProbeKernels, OnlyASourceThatIsANumberIsBroughtIntoARegister) {
  EXPECT_EQ(vector_cycles("fma", "5"), vector_cycles("fma", "0") + 5);
  for (const char* const kind : {"copy", "fill", "add", "sum", "to_register"}) {
    EXPECT_EQ(vector_cycles(kind, "5"), vector_cycles(kind, "0"));
  }
}

// Of a stage 4 to the dispatch and 4 to the first beat, as its descriptors were loaded before, and
// 1 + 2 + 2 + 2 on the way: 15, and a cycle a word; with a longer ramp inwards 16, as published
// (16.1).
TEST(ProbeKernels, AStageOfAChainStoresThenForwards) {
  const auto chain = [](std::uint32_t stages, std::uint32_t words) {
    TaskParams params;
    params.router.hop = 2;
    params.router.ramp_in = 1;
    const TaskProgram program =
        shipped("store_and_forward", {{"stages", stages}, {"words", words}});
    return run_tasks(program, Engine::event, 0, 0, params).cycles;
  };
  for (const std::uint32_t words : {64U, 512U}) {
    EXPECT_EQ(chain(8, words) - chain(1, words), 7 * (16 + words));
  }
}

}  // namespace
}  // namespace lacuna::wse
