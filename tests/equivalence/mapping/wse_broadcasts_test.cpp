// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/wse/lanes/lane_wafer.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {
namespace {

/// A product of which X has zeros, on a small wafer with whatever hardware.
struct BroadcastProduct {
  LayerSetup setup;
  LayerOp op;
  Mask x;
};

unsigned among(Random& random, unsigned least, unsigned most) {
  return least + static_cast<unsigned>(random.bounded(most - least + 1));
}

/// Whatever hardware lanes stand for.
void draw_hardware(Random& random, TaskParams& hardware) {
  hardware.router.ramp = among(random, 1, 7);
  hardware.router.hop = among(random, 1, 3);
  hardware.router.entries = among(random, 1, 4);
  hardware.router.arbiter = among(random, 0, 2) == 0 ? Arbiter::fixed : Arbiter::round_robin;
  hardware.queue.in = fmt::format("{},{},2,2,2,2,2,2", among(random, 1, 7), among(random, 1, 7));
  hardware.queue.out = fmt::format("2,2,{},{},2,2", among(random, 1, 7), among(random, 1, 7));
  hardware.mem.model = among(random, 0, 3) == 0 ? MemoryModel::none : MemoryModel::rule;
  hardware.mem.fma16_stalls = among(random, 0, 4);
  hardware.mem.port_cycles = among(random, 1, 2);
  hardware.core.dispatch = among(random, 0, 9);
  hardware.core.cmd_cycles = among(random, 0, 9);
  hardware.core.dispatch_overlap = among(random, 0, 3) != 0;
  constexpr Sched kScheds[] = {Sched::ut_first, Sched::main_first, Sched::round_robin};
  hardware.core.sched = kScheds[among(random, 0, 2)];
}

/// What is drawn from streams of its own.
void draw_more(std::uint64_t seed, TaskParams& hardware) {
  draw_link_rule(seed, hardware.router);
  draw_slots(seed, hardware.core);
  Random completion(stream_seed(seed, "completion"));
  hardware.task.completion = among(completion, 0, 1) * 5;
}

BroadcastProduct broadcast_product(Random& random) {
  BroadcastProduct product;
  product.setup.wafer.columns = among(random, 2, 8);
  product.setup.wafer.rows = among(random, 2, 8);
  draw_hardware(random, product.setup.hardware);
  product.setup.costs.scalar.loop = among(random, 0, 6);
  product.setup.costs.scalar.load = among(random, 0, 3);
  product.setup.costs.scalar.imul = among(random, 0, 8);
  product.setup.costs.vec.setup_use = among(random, 0, 7);
  LayerOp& op = product.op;
  op.id = "row";
  op.op = "bmm";
  op.m = among(random, 2, 60);
  op.k = among(random, 2, 40);
  op.n = among(random, 2, 40);
  op.dtype = among(random, 0, 3) == 0 ? DType::fp32 : DType::fp16;
  if (op.dtype == DType::fp16 && among(random, 0, 3) == 0) op.partials = Partials::fp32;
  op.x_pattern = "bernoulli";
  product.x = Mask{op.k, op.n, 1, 1, {0}, {}};
  const unsigned percent = among(random, 0, 100);
  for (std::uint32_t row = 0; row < op.k; ++row) {
    for (std::uint32_t column = 0; column < op.n; ++column) {
      if (random.bounded(100) < percent) product.x.columns.push_back(column);
    }
    product.x.offsets.push_back(product.x.columns.size());
  }
  return product;
}

/// Units are stepped one by one, in any order.
void compare_with_units(const TaskOutcome& fast, const TaskParams& hardware,
                        const TaskProgram& program, std::uint64_t seed) {
  RunOptions options;
  options.shuffle = seed + 1;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    options.engine = engine;
    EXPECT_EQ(difference(fast, simulate(hardware, program, options)), "");
  }
}

/// Compares all stages of one random product; returns how many of them could be swept.
unsigned compare_broadcasts(std::uint64_t seed) {
  Random random(stream_seed(seed, "turns"));
  BroadcastProduct product = broadcast_product(random);
  draw_more(seed, product.setup.hardware);
  SCOPED_TRACE(fmt::format("seed {}: {} x {} x {} on {} x {}", seed, product.op.m, product.op.k,
                           product.op.n, product.setup.wafer.columns.value(),
                           product.setup.wafer.rows.value()));
  const LayerRequest request{product.setup, product.op, nullptr, 1, false, &product.x};
  unsigned swept = 0;
  for (const LayerStage& stage : plan_layer(request).stages) {
    for (const TaskProgram& part : stage.parts) {
      const Attempt fast = lanes::simulate_lanes(product.setup.hardware, part);
      if (!fast.refused.empty()) continue;
      ++swept;
      compare_with_units(fast.outcome, product.setup.hardware, part, seed);
    }
  }
  return swept;
}

TEST(LanesOfBroadcasts, CountsWhatEveryCoreAndRouterCountsUnitByUnit) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 80 : 4000;
  unsigned swept = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    swept += compare_broadcasts(seed);
  }
  EXPECT_GT(swept, seeds / 2);
}

/// Tiles of both operands go along rows and columns in turn.
TaskProgram broadcasts(std::uint32_t side, std::uint32_t m, std::uint32_t k, std::uint32_t n,
                       const CodeCosts& costs = {}) {
  DenseMeshJob job;
  job.side = side;
  job.m = m;
  job.k = k;
  job.n = n;
  job.kind = DenseMesh::summa;
  job.memory_bytes = 1U << 16U;
  return plan_dense_mesh(job, costs).program;
}

TEST(LanesOfBroadcasts, BroadcastsOfTilesAreWhatTheyAreUnitByUnit) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 60 : 3000;
  unsigned swept = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    Random random(stream_seed(seed, "broadcasts"));
    TaskParams hardware;
    draw_hardware(random, hardware);
    draw_more(seed, hardware);
    CodeCosts costs;
    costs.scalar.loop = among(random, 0, 6);
    costs.scalar.load = among(random, 0, 3);
    costs.scalar.dsr_write = among(random, 0, 4);
    costs.vec.setup_use = among(random, 0, 8);
    costs.vec.setup_descriptor = among(random, 0, 2);
    const std::uint32_t side = among(random, 2, 7);
    const std::uint32_t m = among(random, 1, 60);
    const std::uint32_t k = among(random, 1, 40);
    const std::uint32_t n = among(random, 1, 40);
    SCOPED_TRACE(fmt::format("seed {}: {} x {} x {} on {} x {}", seed, m, k, n, side, side));
    const TaskProgram program = broadcasts(side, m, k, n, costs);
    const Attempt fast = lanes::simulate_lanes(hardware, program);
    if (!fast.refused.empty()) continue;
    ++swept;
    compare_with_units(fast.outcome, hardware, program, seed);
  }
  EXPECT_GT(swept, seeds / 2);
}

// What a core does in task i says whether its row or its column is the one that sends in it, or did
// before, or is another: 3 x 3 tasks, and 2 x 2 of the first, before which none has sent, and of
// the last, in which none does. On 8 x 8 cores 7 * 9 + 2 * 4 of 64 * 9.
TEST(LanesOfBroadcasts, CoresOfADenseProductHoldEqualTasksOnce) {
  const TaskProgram program = broadcasts(8, 16, 16, 16);
  std::set<const Task*> held;
  std::size_t tasks = 0;
  for (const std::uint32_t core : program.core_of) {
    for (const Task& task : program.cores[core].tasks) held.insert(&task);
    tasks += program.cores[core].tasks.size();
  }
  EXPECT_EQ(tasks, 64U * 9);
  EXPECT_EQ(held.size(), 71U);
}

// In columns 6 and 7 task 2 of the cores below row 2 is the same.
TEST(LanesOfBroadcasts, AChangedTaskIsItsCoresOwn) {
  const TaskProgram program = broadcasts(8, 16, 16, 16);
  TaskProgram changed = program;
  const std::uint32_t core = program.core_of[3 * 8 + 6];
  const std::uint32_t other = program.core_of[3 * 8 + 7];
  ASSERT_EQ(&program.cores[core].tasks[2], &program.cores[other].tasks[2]);
  const std::size_t steps = program.cores[core].tasks[2].steps.size();
  changed.cores[core].tasks[2].steps.push_back(stamp());
  EXPECT_EQ(changed.cores[core].tasks[2].steps.size(), steps + 1);
  EXPECT_EQ(program.cores[core].tasks[2].steps.size(), steps);
  EXPECT_EQ(program.cores[other].tasks[2].steps.size(), steps);
  EXPECT_EQ(std::as_const(changed).cores[other].tasks[2].steps.size(), steps);
}

}  // namespace
}  // namespace lacuna::wse
