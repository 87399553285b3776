// SPDX-License-Identifier: Apache-2.0
// Luczynski et al., "Near-Optimal Wafer-Scale Reduce", HPDC 2024: the published model of
// collectives, whose error on hardware is below 4 %.
#include "workloads/mapping/wse/collective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

Collective line(CollectiveOp op, ReducePattern pattern, std::uint32_t cores, std::uint32_t words) {
  Collective what;
  what.op = op;
  what.pattern = pattern;
  what.columns = cores;
  what.elements = words;
  return what;
}

Cycle cycles_of(const Collective& what) {
  return simulate(TaskParams(), plan_collective(what, 40960), RunOptions()).cycles;
}

TEST(Collectives, BroadcastTakesVectorPlusCoresPlusFourCyclesExactly) {
  for (const std::uint32_t p : {2U, 4U, 16U, 33U, 64U}) {
    for (const std::uint32_t b : {1U, 16U, 256U}) {
      EXPECT_EQ(cycles_of(line(CollectiveOp::broadcast, ReducePattern::chain, p, b)), b + p + 4);
    }
  }
}

TEST(Collectives, AChainTakesSixCyclesForEachCoreExactly) {
  for (const std::uint32_t p : {2U, 4U, 16U, 33U, 64U}) {
    for (const std::uint32_t b : {1U, 16U, 256U}) {
      EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::chain, p, b)), b + 6 * (p - 1));
    }
  }
}

TEST(Collectives, AStarTakesOneCycleMoreThanTheModelSays) {
  for (const std::uint32_t p : {2U, 16U, 40U}) {
    for (const std::uint32_t b : {2U, 16U, 100U}) {
      EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::star, p, b)),
                b * (p - 1) + 5 + 1);
    }
  }
}

TEST(Collectives, InTwoDimensionsABroadcastTakesTheDistanceToTheFarCorner) {
  Collective what = line(CollectiveOp::broadcast, ReducePattern::chain, 7, 20);
  what.rows = 5;
  EXPECT_EQ(cycles_of(what), 20U + 7 + 5 - 2 + 5);
}

TEST(Collectives, OtherPatternsAreWithinFourPercentOfTheModel) {
  for (const ReducePattern pattern : {ReducePattern::tree, ReducePattern::two_phase}) {
    for (const std::uint32_t p : {16U, 64U}) {
      for (const std::uint32_t b : {1U, 16U, 256U}) {
        const Collective what = line(CollectiveOp::reduce, pattern, p, b);
        const double model = std::round(model_cycles(what));
        EXPECT_NEAR(static_cast<double>(cycles_of(what)), model, 0.04 * model)
            << word(pattern) << " P " << p << " B " << b;
      }
    }
  }
  for (const std::uint32_t b : {1U, 16U, 256U, 4096U}) {
    const Collective what = line(CollectiveOp::allreduce, ReducePattern::ring, 64, b);
    const double model = std::round(model_cycles(what));
    EXPECT_NEAR(static_cast<double>(cycles_of(what)), model, 0.04 * model) << "ring B " << b;
  }
}

TEST(Collectives, ThePatternThatIsChosenIsTheFastestAtEverySharedSize) {
  for (const std::uint32_t p : {16U, 64U}) {
    for (const std::uint32_t b : {1U, 16U, 256U, 4096U}) {
      Collective what = line(CollectiveOp::reduce, ReducePattern::automatic, p, b);
      const Cycle chosen = cycles_of(what);
      for (const ReducePattern other : {ReducePattern::chain, ReducePattern::star,
                                        ReducePattern::tree, ReducePattern::two_phase}) {
        // the model of a star begins at two words; long ones are never the best
        if (other == ReducePattern::star && b != 16) continue;
        what.pattern = other;
        EXPECT_LE(chosen, cycles_of(what)) << "P " << p << " B " << b << " " << word(other);
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
