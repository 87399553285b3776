// SPDX-License-Identifier: Apache-2.0
// Lines of cores that hand words on, in lanes against the same lines unit by unit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "models/wse/lanes/lane_wafer.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/line_move.hpp"

namespace lacuna::wse {
namespace {

unsigned in(Random& random, unsigned least, unsigned most) {
  return least + static_cast<unsigned>(random.bounded(most - least + 1));
}

TaskParams random_hardware(Random& random) {
  TaskParams hardware;
  hardware.router.ramp = in(random, 1, 9);
  hardware.router.hop = in(random, 1, 9);
  hardware.router.entries = in(random, 1, 5);
  const Arbiter arbiters[] = {Arbiter::round_robin, Arbiter::fixed, Arbiter::oldest};
  hardware.router.arbiter = arbiters[in(random, 0, 2)];
  if (in(random, 0, 1) == 0) hardware.router.multicast = Multicast::lockstep;
  const Sched orders[] = {Sched::main_first, Sched::ut_first, Sched::round_robin};
  hardware.core.sched = orders[in(random, 0, 2)];
  hardware.queue.in = fmt::format("{},6", in(random, 1, 9));
  hardware.queue.out = fmt::format("2,2,{}", in(random, 1, 9));
  if (in(random, 0, 3) == 0) hardware.mem.model = MemoryModel::none;
  hardware.mem.write_bits = 16U << in(random, 0, 2);  // down to half a word in a cycle
  hardware.mem.read_bits = 16U << in(random, 0, 2);
  hardware.mem.port_cycles = in(random, 0, 2) == 0 ? in(random, 2, 5) : 1;
  return hardware;
}

LineMove random_move(Random& random) {
  const std::uint32_t cores = in(random, 2, 12);
  std::vector<LineVector> vectors(in(random, 1, 30));
  for (LineVector& vector : vectors) {
    vector.from = in(random, 0, cores - 1);
    vector.to = in(random, 0, cores - 1);
    vector.length = in(random, 1, in(random, 0, 3) == 0 ? 60 : 9);
    vector.from_at = vector.to_at = 64 * in(random, 0, 20);
  }
  const auto direction = in(random, 0, 1) == 0 ? Direction::rows : Direction::columns;
  const Element element = in(random, 0, 2) == 0 ? Element::fp32 : Element::fp16;
  LayerSetup setup;
  setup.costs.vec.setup_use = in(random, 0, 7);
  return move_along(vectors, cores, direction, element, setup);
}

/// Compares both ways of a random line; returns how many lanes have taken.
unsigned compare_one(std::uint64_t seed) {
  unsigned taken = 0;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(stream_seed(seed, "relays"));
  TaskParams hardware = random_hardware(random);
  draw_link_rule(seed, hardware.router);
  draw_turn(seed, hardware.router);
  draw_slots(seed, hardware.core);
  const LineMove move = random_move(random);
  for (const auto* part : {&move.ahead, &move.back}) {
    if (!*part) continue;
    const Attempt run = lanes::simulate_lanes(hardware, **part);
    if (!run.refused.empty()) continue;
    ++taken;
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      RunOptions options;
      options.engine = engine;
      options.shuffle = seed;  // unit by unit, in any order
      EXPECT_EQ(difference(run.outcome, simulate(hardware, **part, options)), "");
    }
  }
  return taken;
}

TEST(LanesOfLines, CountsWhatEveryCoreAndRouterCountsUnitByUnit) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 150 : 10000;
  unsigned taken = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) taken += compare_one(seed);
  EXPECT_GT(taken, seeds / 2);  // of those with latencies of at most 7 cycles
}

/// Changes one thing of what a core or a router does.
void change(Random& random, TaskProgram& program) {
  const auto one_of = [&](const auto& list) {
    return in(random, 0, static_cast<unsigned>(list.size()) - 1);
  };
  const unsigned core = one_of(program.cores);
  Task other;
  Task& task = program.cores[core].tasks.empty() ? other : program.cores[core].tasks.front();
  Step none;
  Step& step = task.steps.empty() ? none : task.steps[one_of(task.steps)];
  RouterProgram& router = program.routers[one_of(program.routers)];
  Route nowhere;
  Route& route = router.routes.empty() ? nowhere : router.routes[one_of(router.routes)];
  const auto any_port = static_cast<Port>(in(random, 0, kPorts - 1));
  const std::vector<std::function<void()>> changes = {
      [] {},
      [&] { ++step.vector.length; },
      [&] { step.vector.length -= step.vector.length > 1 ? 1 : 0; },
      [&] { step.vector.thread = 1; },
      [&] { step.vector.control = true; },
      [&] { step.vector.switches = first_command(SwitchCommand::advance); },
      [&] { step.vector.element = Element::fp16; },
      [&] { step.vector.b = number(2); },
      [&] { task.steps.insert(task.steps.begin(), work(in(random, 1, 9))); },
      [&] { task.steps.push_back(step); },
      [&] { task.blocked = true; },
      [&] {
        router.rules.push_back({route.color, true, false});
      },
      [&] {
        router.filters.push_back({route.color, WaveletFilter()});
      },
      [&] { route.to = static_cast<PortSet>(route.to | bit(any_port)); },
      [&] { route.to = bit(any_port); },
      [&] { route.from = any_port; },
      [&] { route.position = 1; },
  };
  changes[one_of(changes)]();
}

// Lines of which something is changed, on any hardware: each is run as the definition runs it, or
// refused.
TEST(LanesOfLines, WhatItTakesItGetsRightAndTheRestItRefuses) {
  const std::uint64_t seeds = 150 * test::long_factor();
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(stream_seed(seed, "changed relays"));
    Draw draw(random.next());
    TaskParams hardware = seed % 2 == 0 ? random_hardware(random) : random_task_hardware(draw);
    if (seed % 4 == 0) draw_task_costs(hardware, seed);
    const LineMove move = random_move(random);
    for (const auto* part : {&move.ahead, &move.back}) {
      if (!*part) continue;
      TaskProgram program = **part;
      change(random, program);
      const Attempt run = lanes::simulate_lanes(hardware, program);
      ++(run.refused.empty() ? taken : refused);
      if (!run.refused.empty()) continue;
      EXPECT_EQ(difference(run.outcome, simulate(hardware, program, {Engine::clocked})), "")
          << changed_parameters(hardware);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(10 * taken, seeds);
  EXPECT_GT(10 * refused, seeds);
}

/// A line of three on which core 0 sends `words` numbers to core 2.
TaskProgram two_links(std::uint32_t words) {
  return *move_along({{0, 2, words, 0, 0}}, 3, Direction::columns, Element::fp32, LayerSetup())
              .ahead;
}

TaskOutcome in_lanes(const TaskProgram& program) {
  Attempt run = lanes::simulate_lanes(TaskParams(), program);
  EXPECT_EQ(run.refused, "");
  return run.outcome;
}

// A start costs 8 cycles: two loads, 4 to the operation, 2 after it. Issued in cycle 8, in the
// output queue in 9, at the router in 11, at the next in 12, in the queue in 14, where core 1 is
// ready since 8; it sends it on in 14 and core 2 takes it in 20. The second
// word follows in each next cycle.
TEST(LanesOfLines, AWordIsPassedOnSixCyclesAfterItIsSent) {
  const TaskOutcome outcome = in_lanes(two_links(2));
  EXPECT_EQ(outcome.cycles, 22U);
  EXPECT_EQ(outcome.cores[0].end, 10U);
  EXPECT_EQ(outcome.cores[1].end, 16U);
  const auto wait_in = static_cast<std::size_t>(TaskCycle::wait_in);
  EXPECT_EQ(outcome.cores[1].cycles[wait_in], 6U);
  EXPECT_EQ(outcome.cores[2].cycles[wait_in], 12U);
  EXPECT_EQ(outcome.routers[1].sent[kEast], 2U);
  EXPECT_EQ(outcome.routers[1].sent[kRamp], 2U);
}

// Core 1 sends 40 words of its own first, from cycle 8 to 47, and then, having started the next
// instruction, passes on those of core 0, which has sent words until nothing had room: six in the
// queue to the router, three on the ramp, two at the next router and seven at core 1, 18 in all.
TEST(LanesOfLines, AWordWithoutRoomWaitsInTheCoreThatSendsIt) {
  const LineMove move = move_along({{0, 2, 30, 0, 0}, {1, 2, 40, 0, 30}}, 3, Direction::columns,
                                   Element::fp32, LayerSetup());
  const TaskOutcome outcome = in_lanes(*move.ahead);
  // The first word of core 0 leaves core 1 in cycle 56. There is room in its queue in 57, where
  // the word at the router takes it; at that router in 58, at the first in 59, in the output queue
  // in 60: core 0 sends word 18, for which it has waited since cycle 26, in 60.
  EXPECT_EQ(outcome.cores[0].cycles[static_cast<std::size_t>(TaskCycle::wait_out)], 60U - 26);
  EXPECT_EQ(outcome.cores[0].end, 60U + 12);
}

TEST(LanesOfLines, WordsThatNobodyTakesAreLeftToTheUnits) {
  TaskProgram program = two_links(3);
  program.cores[2].tasks[0].steps.back().vector.length = 2;
  EXPECT_NE(lanes::simulate_lanes(TaskParams(), program).refused, "");
}

TEST(LanesOfLines, CoresThatWaitForEachOtherAreLeftToTheUnits) {
  TaskProgram program = two_links(3);
  program.cores[2].tasks[0].steps.back().vector.length = 4;
  EXPECT_NE(lanes::simulate_lanes(TaskParams(), program).refused, "");
}

}  // namespace
}  // namespace lacuna::wse
