// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "models/wse/engine/tasks/turn_program.hpp"
#include "models/wse/engine/tasks/turn_sweep.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {
namespace {

/// A product of which X has zeros, on a small wafer with whatever hardware.
struct Product {
  LayerSetup setup;
  LayerOp op;
  Mask x;
};

unsigned in(Random& random, unsigned least, unsigned most) {
  return least + static_cast<unsigned>(random.bounded(most - least + 1));
}

Product random_product(Random& random) {
  Product product;
  product.setup.wafer.columns = in(random, 2, 8);
  product.setup.wafer.rows = in(random, 2, 8);
  TaskParams& hardware = product.setup.hardware;
  hardware.router.ramp = in(random, 1, 7);
  hardware.router.hop = in(random, 1, 3);
  hardware.router.entries = in(random, 1, 4);
  hardware.router.arbiter = in(random, 0, 2) == 0 ? Arbiter::fixed : Arbiter::round_robin;
  hardware.queue.in = fmt::format("{},{},2,2,2,2,2,2", in(random, 1, 7), in(random, 1, 7));
  hardware.queue.out = fmt::format("2,2,{},{},2,2", in(random, 1, 7), in(random, 1, 7));
  hardware.mem.model = in(random, 0, 3) == 0 ? MemoryModel::none : MemoryModel::rule;
  hardware.mem.fma16_stalls = in(random, 0, 4);
  hardware.mem.port_cycles = in(random, 1, 2);
  hardware.core.dispatch = in(random, 0, 9);
  hardware.core.cmd_cycles = in(random, 0, 9);
  hardware.core.dispatch_overlap = in(random, 0, 3) != 0;
  constexpr Sched kScheds[] = {Sched::ut_first, Sched::main_first, Sched::round_robin};
  hardware.core.sched = kScheds[in(random, 0, 2)];
  product.setup.scalar.loop = in(random, 0, 6);
  product.setup.scalar.load = in(random, 0, 3);
  product.setup.scalar.imul = in(random, 0, 8);
  product.setup.scalar.vec_issue = in(random, 0, 7);
  LayerOp& op = product.op;
  op.id = "row";
  op.op = "bmm";
  op.m = in(random, 2, 60);
  op.k = in(random, 2, 40);
  op.n = in(random, 2, 40);
  op.dtype = in(random, 0, 3) == 0 ? DType::fp32 : DType::fp16;
  if (op.dtype == DType::fp16 && in(random, 0, 3) == 0) op.partials = Partials::fp32;
  op.x_pattern = "bernoulli";
  product.x = Mask{op.k, op.n, 1, 1, {0}, {}};
  const unsigned percent = in(random, 0, 100);
  for (std::uint32_t row = 0; row < op.k; ++row) {
    for (std::uint32_t column = 0; column < op.n; ++column) {
      if (random.bounded(100) < percent) product.x.columns.push_back(column);
    }
    product.x.offsets.push_back(product.x.columns.size());
  }
  return product;
}

/// Compares all stages of one random product; returns how many of them could be swept.
unsigned compare_one(std::uint64_t seed) {
  Random random(stream_seed(seed, "turns"));
  Product product = random_product(random);
  draw_link_rule(seed, product.setup.hardware.router);
  draw_slots(seed, product.setup.hardware.core);
  Random completion(stream_seed(seed, "completion"));
  product.setup.hardware.task.completion = in(completion, 0, 1) * 5;
  SCOPED_TRACE(fmt::format("seed {}: {} x {} x {} on {} x {}", seed, product.op.m, product.op.k,
                           product.op.n, product.setup.wafer.columns.value(),
                           product.setup.wafer.rows.value()));
  const LayerRequest request{product.setup, product.op, nullptr, 1, false, &product.x};
  unsigned swept = 0;
  for (const LayerStage& stage : plan_layer(request).stages) {
    for (const TaskProgram& part : stage.parts) {
      const auto fast = sweep_turns(product.setup.hardware, part);
      if (!fast) continue;
      ++swept;
      RunOptions options;
      options.engine = Engine::clocked;
      options.shuffle = seed + 1;
      EXPECT_EQ(difference(*fast, simulate(product.setup.hardware, part, options)), "");
      options.engine = Engine::event;
      EXPECT_EQ(difference(*fast, simulate(product.setup.hardware, part, options)), "");
    }
  }
  return swept;
}

TEST(TurnSweep, CountsWhatEveryCoreAndRouterCountsUnitByUnit) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 80 : 4000;
  unsigned swept = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    swept += compare_one(seed);
  }
  EXPECT_GT(swept, seeds / 2);
}

/// The stage of a product on 2 x 2 cores in which its elements are sent.
TaskProgram turns(const LayerSetup& setup) {
  LayerOp op;
  op.id = "row";
  op.op = "bmm";
  op.m = op.k = op.n = 64;
  op.x_pattern = "bernoulli";
  Mask x{64, 64, 1, 1, {0}, {}};
  for (std::uint32_t row = 0; row < 64; ++row) {
    x.columns.push_back(row);
    x.offsets.push_back(x.columns.size());
  }
  return plan_layer({setup, op, nullptr, 1, false, &x}).stages.back().parts.front();
}

// A program is swept only if every step of it is what lanes know.
TEST(TurnSweep, LeavesOtherProgramsToUnits) {
  LayerSetup setup;
  setup.wafer.columns = setup.wafer.rows = 4;
  const TaskParams& hardware = setup.hardware;
  TaskProgram program = turns(setup);
  ASSERT_GT(program.rows, 1U);
  ASSERT_TRUE(sweep_turns(hardware, program));
  const auto other = [&](auto&& change) {
    TaskProgram changed = program;
    change(changed);
    return find_turns(hardware, changed).has_value();
  };
  EXPECT_TRUE(other([](TaskProgram&) {}));
  EXPECT_FALSE(other([](TaskProgram& p) { p.routers[p.router_of[0]].rules[0].ring = true; }));
  EXPECT_FALSE(other([](TaskProgram& p) { p.routers[p.router_of[0]].routes[0].position = 3; }));
  EXPECT_FALSE(other([](TaskProgram& p) { p.cores[p.core_of[0]].tasks[0].active = false; }));
  EXPECT_FALSE(
      other([](TaskProgram& p) { p.cores[p.core_of[0]].tasks[1].steps.push_back(stamp()); }));
  EXPECT_FALSE(
      other([](TaskProgram& p) { p.cores[p.core_of[0]].tasks[1].steps.push_back(activate(1)); }));
  EXPECT_FALSE(other([](TaskProgram& p) {
    for (Step& step : p.cores[p.core_of[0]].tasks[0].steps) step.vector.switches = 0;
  }));
  EXPECT_FALSE(other([](TaskProgram& p) { p.memory.assign(p.core_of.size(), {}); }));
  TaskParams oldest = hardware;
  oldest.router.arbiter = Arbiter::oldest;
  EXPECT_FALSE(find_turns(oldest, program));
  TaskParams wide = hardware;
  wide.core.fabric_words_per_issue = 2;
  EXPECT_FALSE(find_turns(wide, program));
  TaskParams corners = hardware;
  corners.router.turn = 1;
  EXPECT_FALSE(find_turns(corners, program));
}

}  // namespace
}  // namespace lacuna::wse
