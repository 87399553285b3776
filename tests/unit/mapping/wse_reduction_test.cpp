// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/mapping/wse/reduction.hpp"

namespace lacuna::wse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Where a word goes that `from` sends on `color`, as the routers have it.
std::uint32_t arrives_at(const Reduction& reduction, std::uint32_t from, Color color) {
  Port in = kRamp;
  std::uint32_t at = from;
  for (;;) {
    const auto& routes = reduction.routers[at].routes;
    const auto route = std::find_if(routes.begin(), routes.end(), [&](const Route& r) {
      return r.color == color && r.from == in;
    });
    if (route == routes.end()) return ~0U;
    if (route->to == bit(kRamp)) return at;
    at = route->to == bit(kEast) ? at + 1 : at - 1;
    in = route->to == bit(kEast) ? kWest : kEast;
  }
}

/// The columns whose sums arrive at `column`, itself included, and the instructions one after
/// another that the last of them has passed.
struct Subtree {
  std::multiset<std::uint32_t> columns;
  std::uint32_t depth = 0;
};

Subtree subtree(const Reduction& reduction, std::uint32_t columns, std::uint32_t keeper,
                std::uint32_t column) {
  const ReducePlan::Role& role = reduction.plan.role(columns, keeper, column);
  EXPECT_EQ(role.keeps, column == keeper);
  Subtree all{{column}, 0};
  for (std::uint32_t i = 0; i < role.inputs; ++i) {
    const ReducePlan::Input& input = reduction.plan.inputs[role.first + i];
    EXPECT_EQ(reduction.plan.role(columns, keeper, input.from).out, input.color);
    EXPECT_EQ(arrives_at(reduction, input.from, input.color), column);
    const Subtree one = subtree(reduction, columns, keeper, input.from);
    all.columns.insert(one.columns.begin(), one.columns.end());
    all.depth = std::max(all.depth, one.depth + 1);
  }
  return all;
}

class EveryReduction : public ::testing::TestWithParam<Reduce> {};

TEST_P(EveryReduction, TakesEachColumnOnceToAnyColumnThatKeepsOverRoutesThatNeverChange) {
  for (std::uint32_t columns = 2; columns <= 40; ++columns) {
    const Reduction reduction = plan_reduction(GetParam(), columns);
    for (std::uint32_t keeper = 0; keeper < columns; ++keeper) {
      const Subtree all = subtree(reduction, columns, keeper, keeper);
      ASSERT_EQ(all.columns.size(), columns) << columns << " " << keeper;
      for (std::uint32_t c = 0; c < columns; ++c) ASSERT_EQ(all.columns.count(c), 1U);
    }
    // In a router a color that comes in at a port has one way.
    for (const RouterProgram& router : reduction.routers) {
      std::set<std::pair<Color, Port>> inputs;
      for (const Route& route : router.routes) {
        EXPECT_TRUE(inputs.emplace(route.color, route.from).second) << columns;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryReduction,
                         ::testing::Values(Reduce::chain, Reduce::tree, Reduce::two_phase));

std::vector<std::uint32_t> inputs_of(const Reduction& reduction, std::uint32_t columns,
                                     std::uint32_t keeper, std::uint32_t column) {
  const ReducePlan::Role& role = reduction.plan.role(columns, keeper, column);
  std::vector<std::uint32_t> from;
  for (std::uint32_t i = 0; i < role.inputs; ++i) {
    from.push_back(reduction.plan.inputs[role.first + i].from);
  }
  return from;
}

TEST(Reductions, AChainComesFromBothEndsAndTheShorterSideIsTakenFirst) {
  const Reduction chain = plan_reduction(Reduce::chain, 6);
  EXPECT_THAT(inputs_of(chain, 6, 4, 4), ElementsAre(5, 3));  // one column, and four
  EXPECT_THAT(inputs_of(chain, 6, 1, 1), ElementsAre(0, 2));
  EXPECT_THAT(inputs_of(chain, 6, 4, 2), ElementsAre(1));
  EXPECT_THAT(inputs_of(chain, 6, 4, 0), IsEmpty());
  EXPECT_EQ(chain.colors, 4U);  // two directions, even and odd
}

// West of column 6 lie the blocks 0-3 and 4-5. Column 1 has 0 and sends to 3, which has 2 too; 3
// hands on to 4, the first of the next block, 4 sends to 5, and that hands on to 6.
TEST(Reductions, ATreeAddsUpAlignedBlocksAndTheirEndsHandOnToTheNeighbour) {
  const Reduction tree = plan_reduction(Reduce::tree, 8);
  EXPECT_THAT(inputs_of(tree, 8, 6, 3), ElementsAre(2, 1));
  EXPECT_THAT(inputs_of(tree, 8, 6, 4), ElementsAre(3));
  EXPECT_THAT(inputs_of(tree, 8, 6, 5), ElementsAre(4));
  EXPECT_THAT(inputs_of(tree, 8, 6, 6), ElementsAre(7, 5));
  // A column at the end of a block of all is the root of the plain tree.
  EXPECT_THAT(inputs_of(tree, 8, 7, 7), ElementsAre(6, 5, 3));
  EXPECT_THAT(inputs_of(tree, 8, 0, 0), ElementsAre(1, 2, 4));
  EXPECT_THAT(inputs_of(tree, 8, 0, 4), ElementsAre(5, 6));
}

// Groups of three: 0-2, 3-5, 6-8. Column 2 has 1 and 0 and sends to 5, three hops away, which has
// 4 and 3 too; 5 hands on to 6, the first column of the group of column 8, which keeps.
TEST(Reductions, TwoPhasesAreChainsInGroupsAndAChainOfTheirLastColumns) {
  const Reduction two = plan_reduction(Reduce::two_phase, 9);
  EXPECT_THAT(inputs_of(two, 9, 8, 5), ElementsAre(4, 2));
  EXPECT_THAT(inputs_of(two, 9, 8, 6), ElementsAre(5));
  EXPECT_THAT(inputs_of(two, 9, 8, 8), ElementsAre(7));
  EXPECT_THAT(inputs_of(two, 9, 0, 3), ElementsAre(4, 6));
  EXPECT_EQ(two.colors, 6U);  // a chain each way, and between three groups one link each way
  EXPECT_EQ(plan_reduction(Reduce::two_phase, 16).colors,
            8U);  // links of four groups follow each other
}

// Latency is what they are for: of 128 columns to the last a chain has 127 sums one after the
// other, two phases of groups of 12 have 11 + 9 + 8 + ..., and a tree fewer still.
TEST(Reductions, PassFewerSumsOneAfterTheOther) {
  const auto depth = [](Reduce kind, std::uint32_t keeper) {
    return subtree(plan_reduction(kind, 128), 128, keeper, keeper).depth;
  };
  EXPECT_EQ(depth(Reduce::chain, 127), 127U);
  // 11 to the end of the first group, 9 groups further, 1 into the last group of 8 (120 to 127),
  // 7 to its end
  EXPECT_EQ(depth(Reduce::two_phase, 127), 28U);
  EXPECT_EQ(depth(Reduce::tree, 127), 7U);
  // The worst: blocks of 64, 32, ... 2: 6 + 5 + 4 + 3 + 2 + 1 rounds, and 6 times to the neighbour.
  EXPECT_EQ(depth(Reduce::tree, 126), 27U);
}

// A column takes as many colors as its block has rounds, and one from its neighbour.
TEST(Reductions, ATreeOf128ColumnsNeedsSevenInputQueuesBesideThatOfTheWeights) {
  EXPECT_EQ(plan_reduction(Reduce::tree, 128).inputs, 7U);
  EXPECT_EQ(plan_reduction(Reduce::tree, 128).block, 0U);
  EXPECT_EQ(plan_reduction(Reduce::tree, 256, 16).inputs, 8U);
  EXPECT_LE(plan_reduction(Reduce::two_phase, 750).inputs, 4U);
  EXPECT_LE(plan_reduction(Reduce::two_phase, 750).outputs, 4U);
}

// Of more columns five rounds make trees of 32, which take in the trees before and a neighbour
// too: 5 + 2 inputs. Colors: 5 rounds, two of the chain of trees and one to the neighbour, both
// ways. To column 749 there are 23 trees (0 to 735) in a chain and one of 16 - 2 columns: 736 takes
// what column 735 hands on.
TEST(Reductions, ATreeOfMoreColumnsIsAChainOfTreesOf32) {
  const Reduction tree = plan_reduction(Reduce::tree, 750);
  EXPECT_EQ(tree.block, 32U);
  EXPECT_EQ(tree.inputs, 7U);
  EXPECT_LE(tree.outputs, 6U);
  EXPECT_EQ(tree.colors, 16U);
  EXPECT_THAT(inputs_of(tree, 750, 749, 63), ElementsAre(62, 61, 59, 55, 47, 31));
  EXPECT_THAT(inputs_of(tree, 750, 749, 736), ElementsAre(735));
  EXPECT_THAT(inputs_of(tree, 750, 0, 32), ElementsAre(33, 34, 36, 40, 48, 64));
  EXPECT_THAT(inputs_of(tree, 750, 40, 32), ElementsAre(31));
  EXPECT_THAT(inputs_of(tree, 750, 40, 64), ElementsAre(65, 66, 68, 72, 80, 96));
}

TEST(Reductions, FewerQueuesMakeSmallerTrees) {
  for (const unsigned queues : {4U, 5U, 6U, 7U}) {
    for (const std::uint32_t columns : {17U, 33U, 70U, 129U}) {
      const Reduction tree = plan_reduction(Reduce::tree, columns, queues);
      EXPECT_LT(tree.inputs, queues) << columns;
      for (const std::uint32_t keeper : {0U, 1U, columns / 2, columns - 2, columns - 1}) {
        const Subtree all = subtree(tree, columns, keeper, keeper);
        ASSERT_EQ(all.columns.size(), columns) << queues << " " << keeper;
        for (std::uint32_t c = 0; c < columns; ++c) ASSERT_EQ(all.columns.count(c), 1U);
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
