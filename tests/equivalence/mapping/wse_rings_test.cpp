// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/wse/lanes/lane_wafer.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {
namespace {

/// A product of two activations on a small wafer with whatever hardware.
struct ShiftProduct {
  LayerSetup setup;
  LayerOp op;
  Mask mask;
  bool masked = false;
};

unsigned within(Random& random, unsigned least, unsigned most) {
  return least + static_cast<unsigned>(random.bounded(most - least + 1));
}

Mask random_mask(Random& random, std::uint32_t rows, std::uint32_t cols) {
  Mask mask{rows, cols, 1, 1, {0}, {}};
  const unsigned percent = within(random, 1, 60);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < cols; ++column) {
      if (random.bounded(100) < percent) mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

ShiftProduct shift_product(Random& random) {
  ShiftProduct product;
  WaferParams& wafer = product.setup.wafer;
  wafer.columns = within(random, 2, 8);
  wafer.rows = within(random, 2, 8);
  TaskParams& hardware = product.setup.hardware;
  hardware.router.ramp = within(random, 1, 7);
  hardware.router.hop = within(random, 1, 3);
  hardware.router.entries = within(random, 1, 4);
  hardware.router.arbiter = within(random, 0, 2) == 0 ? Arbiter::fixed : Arbiter::round_robin;
  hardware.queue.in = fmt::format("{},{},2,2,2,2,2,2", within(random, 1, 7), within(random, 1, 7));
  hardware.queue.out = fmt::format("2,2,{},{},2,2", within(random, 1, 7), within(random, 1, 7));
  hardware.mem.model = within(random, 0, 3) == 0 ? MemoryModel::none : MemoryModel::rule;
  product.setup.costs.scalar.loop = within(random, 0, 6);
  product.setup.costs.vec.setup_use = within(random, 0, 7);
  LayerOp& op = product.op;
  op.id = "row";
  op.op = within(random, 0, 3) == 0 ? "sddmm" : "bmm";
  op.m = within(random, 2, 40);
  op.k = within(random, 2, 40);
  op.n = within(random, 2, 40);
  op.dtype = within(random, 0, 3) == 0 ? DType::fp32 : DType::fp16;
  if (op.dtype == DType::fp16 && within(random, 0, 3) == 0) op.partials = Partials::fp32;
  product.masked = op.op == "sddmm" || within(random, 0, 1) == 0;
  if (product.masked) product.mask = random_mask(random, op.m, op.op == "sddmm" ? op.n : op.k);
  return product;
}

/// Compares all stages of one random product; returns how many of them could be swept.
unsigned compare_shifts(std::uint64_t seed) {
  Random random(stream_seed(seed, "shifts"));
  ShiftProduct product = shift_product(random);
  draw_link_rule(seed, product.setup.hardware.router);
  draw_turn(seed, product.setup.hardware.router);
  draw_slots(seed, product.setup.hardware.core);
  Random sched(stream_seed(seed, "sched"));
  constexpr Sched kScheds[] = {Sched::ut_first, Sched::main_first, Sched::round_robin};
  product.setup.hardware.core.sched = kScheds[within(sched, 0, 2)];
  SCOPED_TRACE(fmt::format("seed {}: {} {} x {} x {} on {} x {}", seed, product.op.op, product.op.m,
                           product.op.k, product.op.n, product.setup.wafer.columns.value(),
                           product.setup.wafer.rows.value()));
  const LayerRequest request{product.setup, product.op, product.masked ? &product.mask : nullptr};
  unsigned swept = 0;
  for (const LayerStage& stage : plan_layer(request).stages) {
    for (const TaskProgram& part : stage.parts) {
      const Attempt fast = lanes::simulate_lanes(product.setup.hardware, part);
      if (!fast.refused.empty()) continue;
      ++swept;
      RunOptions options;
      options.engine = Engine::clocked;
      options.shuffle = seed + 1;
      EXPECT_EQ(difference(fast.outcome, simulate(product.setup.hardware, part, options)), "")
          << stage.name;
      options.engine = Engine::event;
      EXPECT_EQ(difference(fast.outcome, simulate(product.setup.hardware, part, options)), "")
          << stage.name;
    }
  }
  return swept;
}

TEST(LanesOfRings, CountsWhatEveryCoreAndRouterCountsUnitByUnit) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 60 : 3000;
  unsigned swept = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) swept += compare_shifts(seed);
  EXPECT_GT(swept, seeds * 3);
}

/// A ring of two cores on which each sends one word to the other.
TaskProgram exchange(bool second_takes) {
  TaskProgram program;
  program.columns = 2;
  program.rows = 1;
  for (std::uint32_t core = 0; core < 2; ++core) {
    const Color out{static_cast<std::uint8_t>(core)};
    const Color back{static_cast<std::uint8_t>(1 - core)};
    const Port ahead = core == 0 ? kEast : kWest;
    RouterProgram router;
    router.routes = {{out, kRamp, bit(ahead), 0}, {back, ahead, bit(kRamp), 0}};
    Task task;
    task.active = true;
    Instruction move;
    move.element = Element::fp32;
    move.length = 1;
    move.thread = 1;
    move.to = on_fabric(out);
    move.a = in_memory(0);
    task.steps.push_back(run(move));
    move.thread = 2;
    move.to = in_memory(0);
    move.a = on_fabric(back);
    if (core == 0 || second_takes) task.steps.push_back(run(move));
    CoreProgram what;
    what.tasks.push_back(task);
    program.routers.push_back(router);
    program.cores.push_back(what);
    program.router_of.push_back(core);
    program.core_of.push_back(core);
  }
  return program;
}

// Told in cycle 0, the sender issues in 1; the word is in the output queue in 2 and goes up the
// ramp, at the router in 4, at the next in 5, in the queue in 7. The other microthread, told in 1,
// waits for it from 2 to 6 and takes it in 7.
TEST(LanesOfRings, AWordIsTakenSixCyclesAfterItIsSent) {
  const Attempt run = lanes::simulate_lanes(TaskParams(), exchange(true));
  ASSERT_EQ(run.refused, "");
  const TaskCounters& first = run.outcome.cores[0];
  EXPECT_EQ(first.begin, 1U);
  EXPECT_EQ(first.end, 8U);
  EXPECT_EQ(first.cycles[static_cast<std::size_t>(TaskCycle::wait_in)], 5U);
}

TEST(LanesOfRings, WordsThatNobodyTakesAreLeftToTheUnits) {
  EXPECT_NE(lanes::simulate_lanes(TaskParams(), exchange(false)).refused, "");
}

}  // namespace
}  // namespace lacuna::wse
