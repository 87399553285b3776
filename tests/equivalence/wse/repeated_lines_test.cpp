// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/repeated_lines.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/base/error.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/collective.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

/// Every core one by one, in every cycle, in random order; nullopt if they wait for ever.
std::optional<TaskOutcome> by_definition(const TaskParams& params, const TaskProgram& program,
                                         std::uint64_t seed) {
  RunOptions options;
  options.engine = Engine::clocked;
  options.shuffle = seed;
  try {
    return simulate_rows(params, program, options);
  } catch (const DeadlockError&) {
    return std::nullopt;
  }
}

/// True if some cores stood for others. What they say is compared with the definition.
bool agrees_folded(const TaskParams& params, const TaskProgram& program, std::uint64_t seed) {
  const RepeatLimits tries{8, 1};
  const Attempt attempt = simulate_repeated(params, program, {}, tries);
  if (!attempt.refused.empty()) return false;
  const TaskOutcome* const few = &attempt.outcome;
  const std::optional<TaskOutcome> all = by_definition(params, program, seed);
  EXPECT_TRUE(all) << "seed " << seed << " " << changed_parameters(params);
  if (!all) return true;
  EXPECT_LT(few->simulated, all->cores.size());
  EXPECT_EQ(few->cores.size(), all->cores.size());
  EXPECT_EQ(few->stamps, all->stamps);
  EXPECT_EQ(difference(*all, *few), "") << "seed " << seed << " " << changed_parameters(params);
  return true;
}

StencilJob random_stencil(Draw& draw) {
  StencilJob job;
  job.shape = draw.of<StencilShape>(
      {StencilShape::five_points, StencilShape::seven_points, StencilShape::twenty_five_points});
  job.element = draw.chance(50) ? Element::fp16 : Element::fp32;
  const bool flat = job.shape == StencilShape::five_points;
  job.width = draw.pick(flat ? 1 : 5, 8);
  job.height = flat ? draw.pick(1, 4) : 1;
  job.rows = draw.pick(1, 36);
  job.columns = draw.pick(24, 44);
  job.iterations = draw.pick(1, 3);
  return job;
}

TEST(RepeatedLines, OfStencilsOnRandomHardwareGiveWhatAllCoresGive) {
  unsigned folded = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Draw draw(seed);
    const TaskParams params = random_task_hardware(draw);
    const TaskKernel kernel = plan_stencil(random_stencil(draw), CodeCosts());
    if (agrees_folded(params, kernel.program, seed)) ++folded;
  }
  EXPECT_GE(folded, 10U);
}

/// Sums and copies along lines reach each core later than the one before: rows and columns that do
/// the same do it at another time, and none may stand for another but where nothing passes.
TEST(RepeatedLines, OfCollectivesStandForOthersOnlyWhereTheyDoTheSameInTheSameCycles) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Draw draw(seed);
    Collective what;
    what.columns = draw.pick(12, 36);
    what.rows = draw.pick(1, 36);
    what.elements = draw.pick(1, 20);
    what.op = draw.of<CollectiveOp>(
        {CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::allreduce});
    what.pattern = draw.of<ReducePattern>({ReducePattern::chain, ReducePattern::tree,
                                           ReducePattern::two_phase, ReducePattern::snake});
    agrees_folded(random_task_hardware(draw), plan_collective(what, 40960), seed);
  }
}

/// One core of many works longer before it begins, so that its row and its column are like no
/// other: what is left of the runs beside them is folded, and its neighbours wait for it.
TEST(RepeatedLines, StopAtACoreThatIsUnlikeItsNeighbours) {
  StencilJob job;
  job.rows = 12;
  job.columns = 60;
  job.width = 6;
  TaskKernel kernel = plan_stencil(job, CodeCosts());
  TaskProgram& program = kernel.program;
  const std::size_t odd = 5 * 60 + 9;
  CoreProgram slow = program.cores[program.core_of[odd]];
  slow.tasks[0].steps.insert(slow.tasks[0].steps.begin(), work(37));
  program.core_of[odd] = static_cast<std::uint32_t>(program.cores.size());
  program.cores.push_back(slow);
  EXPECT_TRUE(agrees_folded({}, program, 3));
}

/// 25 points: the cores of a line send in five turns, so that blocks of five lines repeat.
TEST(RepeatedLines, MayBeBlocksOfSeveral) {
  StencilJob job;
  job.shape = StencilShape::twenty_five_points;
  job.rows = 3;
  job.columns = 101;
  job.width = 9;
  const TaskKernel kernel = plan_stencil(job, CodeCosts());
  EXPECT_TRUE(agrees_folded({}, kernel.program, 4));
}

TEST(RepeatedLines, AreNotLookedForWhereValuesAreCarriedOrNothingRepeats) {
  StencilJob job;
  job.rows = 1;
  job.columns = 60;
  job.width = 6;
  job.values = true;
  const RepeatLimits tries{8, 1};
  const auto refused = [&] {
    return simulate_repeated({}, plan_stencil(job, CodeCosts()).program, {}, tries).refused;
  };
  EXPECT_EQ(refused(), "each core carries values of its own");
  job.values = false;
  job.columns = 9;
  EXPECT_EQ(refused(), "few rows or columns repeat");
}

}  // namespace
}  // namespace lacuna::wse
