// SPDX-License-Identifier: Apache-2.0
// Luczynski et al., "Near-Optimal Wafer-Scale Reduce", HPDC 2024: the published model of
// collectives, whose error on hardware is below 4 %.
#include "workloads/mapping/wse/kernels/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "models/wse/simulate.hpp"
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

/// Compares a pattern with the published model over a grid; a longer one with LACUNA_LONG.
void expect_near(CollectiveOp op, ReducePattern pattern, std::vector<std::uint32_t> cores,
                 std::vector<std::uint32_t> words) {
  if (std::getenv("LACUNA_LONG") != nullptr) {
    cores.insert(cores.end(), {4, 19, 33, 40, 64, 77, 128, 200, 256, 300, 512});
    words.insert(words.end(), {16, 6, 90, 512, 4096, 1500, 5000, 8192});
  }
  for (const std::uint32_t p : cores) {
    for (const std::uint32_t b : words) {
      const Collective what = line(op, pattern, p, b);
      const double model = std::round(model_cycles(what));
      // a model without whole cycles, words and cores cannot be met to less than a cycle or two
      const double near = std::max(0.04 * model, 2.0);
      EXPECT_NEAR(static_cast<double>(cycles_of(what)), model, near)
          << word(pattern) << " P " << p << " B " << b;
    }
  }
}

TEST(Collectives, TreesOfUpTo64CoresAreWithinFourPercentOfTheModelWhateverTheLength) {
  const bool longer = std::getenv("LACUNA_LONG") != nullptr;
  for (std::uint32_t p = 2; p <= 64; p *= 2) {
    for (std::uint32_t b = 1; b <= (longer ? 8192U : 128U); b *= 2) {
      const Collective what = line(CollectiveOp::reduce, ReducePattern::tree, p, b);
      const double model = model_cycles(what);
      EXPECT_NEAR(static_cast<double>(cycles_of(what)), model, 0.04 * model)
          << "P " << p << " B " << b;
    }
  }
}

/// The last instruction of a core of a tree takes words in pairs, so that each core that passes
/// some on adds 6 cycles and the hops to its parent to the first word, and 1 if there is a second.
TEST(Collectives, ATreePassesPairsOfWordsOn) {
  // 15 to 14, 12, 8 and 0: four times issue, ramps and adding, 15 hops, no wait for a single word
  EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::tree, 16, 1)), 4 * 5 + 15 + 1U);
  // cores 14, 12 and 8 wait for the second
  EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::tree, 16, 2)), 4 * 5 + 15 + 2 + 3U);
}

/// No program of this tree is as fast as its model, 552 cycles: core 128 adds seven vectors of 64
/// words, a word in a cycle, before its last word can leave for a root 128 hops away.
TEST(Collectives, ATreeIsAsSlowAsTheCoreHalfwayWhichAddsAllButOneOfItsVectors) {
  // from issue to first word 6; seven vectors, six tasks between them, each of them 5; ramps,
  // hops, and the second word of a pair: 6 + 7*64 + 6*5 + 5 + 128 + 1
  EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::tree, 256, 64)), 618U);
  // 512 cores: core 384 does that, and core 256 and the root pass its last vector on: a word is
  // under way 128 + 256 hops, ramps and adding twice, and twice a pair
  EXPECT_EQ(cycles_of(line(CollectiveOp::reduce, ReducePattern::tree, 512, 64)),
            6U + 7 * 64 + 6 * 5 + (128 + 256) + 2 * 5 + 2);
}

/// The model adds the words of a link, half a word for each core, to the distance. Single words
/// wait for nobody: the nearer one has passed when the farther one comes.
TEST(Collectives, SingleWordsTakeTheDistanceAndSixCyclesForTheFirstStepFiveForOthers) {
  const auto single = [](ReducePattern pattern, std::uint32_t cores) {
    return cycles_of(line(CollectiveOp::reduce, pattern, cores, 1));
  };
  EXPECT_EQ(single(ReducePattern::star, 100), 99U + 6);
  EXPECT_EQ(single(ReducePattern::generated, 16), 15U + 6);      // a star
  EXPECT_EQ(single(ReducePattern::generated, 64), 63U + 6 + 5);  // two steps
}

TEST(Collectives, ReductionsOverASquareAreWithinFourPercentOfTheModel) {
  const bool longer = std::getenv("LACUNA_LONG") != nullptr;
  for (const ReducePattern pattern : {ReducePattern::chain, ReducePattern::tree,
                                      ReducePattern::two_phase, ReducePattern::snake}) {
    for (std::uint32_t side = 4; side <= (longer ? 128U : 16U); side *= 2) {
      for (const std::uint32_t b : {1U, 4U, 16U, 64U, 256U}) {
        for (const CollectiveOp op : {CollectiveOp::reduce, CollectiveOp::allreduce}) {
          Collective what = line(op, pattern, side, b);
          what.rows = side;
          const double model = model_cycles(what);
          EXPECT_NEAR(static_cast<double>(cycles_of(what)), model, 0.04 * model)
              << word(pattern) << " over " << side << " x " << side << ", B " << b;
        }
      }
    }
  }
}

TEST(Collectives, RingsOfAnySizeAreWithinFourPercentOfTheModel) {
  expect_near(CollectiveOp::allreduce, ReducePattern::ring, {3, 5, 8, 16, 23, 47, 100},
              {1, 4, 10, 50, 64, 150, 333, 1024});
}

TEST(Collectives, TwoPhasesOfAnySizeAreWithinFourPercentOfTheModel) {
  expect_near(CollectiveOp::reduce, ReducePattern::two_phase,
              {4, 6, 8, 14, 20, 32, 33, 45, 48, 100}, {1, 4, 10, 16, 50, 64, 150, 333, 1024});
}

TEST(Collectives, ThePatternThatIsChosenIsTheFastestAtEverySharedSize) {
  for (const std::uint32_t p : {16U, 64U}) {
    for (const std::uint32_t b : {1U, 16U, 256U, 4096U}) {
      Collective what = line(CollectiveOp::reduce, ReducePattern::automatic, p, b);
      const Cycle chosen = cycles_of(what);
      for (const ReducePattern other : {ReducePattern::chain, ReducePattern::star,
                                        ReducePattern::tree, ReducePattern::two_phase}) {
        if (other == ReducePattern::star && b > 16) continue;  // long, and never the best
        what.pattern = other;
        EXPECT_LE(chosen, cycles_of(what)) << "P " << p << " B " << b << " " << word(other);
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
