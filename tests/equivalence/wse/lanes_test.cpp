// SPDX-License-Identifier: Apache-2.0
// Cores and routers as lanes (models/wse/lanes) against units that do every cycle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "models/wse/lanes/lane_wafer.hpp"
#include "models/wse/lanes/steps.hpp"
#include "models/wse/simulate.hpp"
#include "tests/support/wse/draw.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/collective.hpp"
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse::lanes {
namespace {

TaskParams draw_hardware(Draw& draw) {
  TaskParams hardware;
  hardware.router.ramp = draw.pick(1, 3);
  hardware.router.ramp_in = draw.pick(0, 1);
  hardware.router.hop = draw.pick(1, 3);
  hardware.router.entries = draw.pick(1, 4);
  hardware.router.arbiter = draw.chance(30) ? Arbiter::fixed : Arbiter::round_robin;
  hardware.queue.in = fmt::format("{},{},2,3,2,2,4,2", draw.pick(1, 7), draw.pick(1, 7));
  hardware.queue.out = fmt::format("2,2,{},{},2,3", draw.pick(1, 7), draw.pick(1, 7));
  hardware.mem.model = draw.chance(50) ? MemoryModel::none : MemoryModel::rule;
  hardware.core.dispatch = draw.pick(0, 9);
  hardware.core.dispatch_overlap = draw.chance(70);
  hardware.core.sched = draw.of<Sched>({Sched::ut_first, Sched::main_first, Sched::round_robin});
  hardware.core.fabric_simd64 = draw.chance(20);
  hardware.core.fabric_words_per_issue = draw.chance(20) ? 2 : 1;
  hardware.task.completion = draw.pick(0, 1) * 5;
  return hardware;
}

CodeCosts draw_costs(Draw& draw) {
  CodeCosts costs;
  costs.scalar.loop = draw.pick(0, 6);
  costs.vec.setup_use = draw.pick(0, 8);
  costs.vec.setup_descriptor = draw.pick(0, 2);
  return costs;
}

TaskProgram draw_dense(Draw& draw, DenseMesh kind) {
  DenseMeshJob job;
  job.side = draw.pick(2, 9);
  job.m = draw.pick(1, 40);
  job.k = draw.pick(1, 30);
  job.n = draw.pick(1, 30);
  job.kind = kind;
  job.memory_bytes = 1U << 16U;
  return plan_dense_mesh(job, draw_costs(draw)).program;
}

TaskProgram draw_stencil(Draw& draw, StencilShape shape) {
  StencilJob job;
  job.shape = shape;
  job.element = draw.chance(50) ? Element::fp32 : Element::fp16;
  job.columns = draw.pick(1, 21);
  job.rows = draw.pick(1, 6);
  job.width = draw.pick(1, 20);
  job.height = shape == StencilShape::five_points ? draw.pick(1, 9) : 1;
  job.iterations = draw.pick(1, 3);
  return plan_stencil(job, draw_costs(draw)).program;
}

TaskProgram draw_collective(Draw& draw) {
  Collective collective;
  collective.op = draw.of<CollectiveOp>(
      {CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::allreduce});
  collective.pattern = draw.of<ReducePattern>(
      {ReducePattern::chain, ReducePattern::two_phase, ReducePattern::star, ReducePattern::tree});
  collective.columns = draw.pick(2, 20);
  collective.rows = draw.pick(1, 6);
  collective.elements = draw.pick(1, 70);
  return plan_collective(collective, 1U << 16U);
}

TaskProgram draw_program(std::uint64_t seed, Draw& draw) {
  switch (seed % 7) {
    case 0:
      return draw_dense(draw, DenseMesh::summa);
    case 1:
      return draw_dense(draw, DenseMesh::cannon);
    case 2:
      return draw_dense(draw, DenseMesh::mesh);
    case 3:
      return draw_stencil(draw, StencilShape::seven_points);
    case 4:
      return draw_stencil(draw, StencilShape::five_points);
    case 5:
      return draw_stencil(draw, StencilShape::twenty_five_points);
    default:
      return draw_collective(draw);
  }
}

TEST(Lanes, AllCountsAreThoseOfUnitsWhateverTheProgramTheHardwareAndTheWidth) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seeds = more == nullptr ? 140 : 7000;
  std::uint64_t ran = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFatalFailure(); ++seed) {
    Draw draw(seed);
    TaskParams hardware = draw_hardware(draw);
    draw_link_rule(seed, hardware.router);
    draw_slots(seed, hardware.core);
    const TaskProgram program = draw_program(seed, draw);
    RunOptions options;
    options.engine = Engine::clocked;
    options.shuffle = seed;
    for (const unsigned width : step_widths()) {
      const Attempt lanes = simulate_lanes(hardware, program, width);
      if (!lanes.refused.empty()) break;
      SCOPED_TRACE(fmt::format("seed {} in {} lanes", seed, width));
      ASSERT_EQ(difference(lanes.outcome, simulate(hardware, program, options)), "");
      ran += width == 16 ? 1 : 0;
    }
  }
  EXPECT_GT(ran, seeds * 6 / 10);
}

TEST(Lanes, WhatTheyHaveNotTheyRefuseWithAReason) {
  Draw draw(1);
  const TaskProgram program = draw_dense(draw, DenseMesh::summa);
  TaskParams hardware;
  EXPECT_EQ(simulate_lanes(hardware, program).refused, "");
  hardware.router.arbiter = Arbiter::oldest;
  EXPECT_EQ(simulate_lanes(hardware, program).refused, "routers choose by the age of words");
  TaskProgram filtered = program;
  filtered.routers[0].filters.push_back({Color{0}, WaveletFilter::zeros()});
  EXPECT_EQ(simulate_lanes({}, filtered).refused, "filters");
  TaskProgram valued = program;
  valued.memory.assign(valued.core_of.size(), {});
  EXPECT_EQ(simulate_lanes({}, valued).refused, "values");
}

}  // namespace
}  // namespace lacuna::wse::lanes
