// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/look_ups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

using ::testing::ElementsAre;

using Rows = std::vector<std::uint32_t>;

LayerOp embed(std::uint32_t k, std::uint32_t n, Pairs args) {
  LayerOp op;
  op.id = "row";
  op.op = "embed";
  op.m = 4;
  op.k = k;
  op.n = n;
  op.args = std::move(args);
  return op;
}

/// The look-ups of all rounds, one after the other.
Rows rounds(std::uint32_t tokens, unsigned chosen, const Pairs& args) {
  Rows all;
  for (unsigned round = 0; round < chosen; ++round) {
    Pairs of_round = args;
    of_round.emplace_back("round", std::to_string(round));
    const Rows rows = look_ups(embed(tokens, tokens, of_round), 99 + round);
    EXPECT_EQ(rows.size(), tokens);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// How often each token is looked up.
Rows copies(std::uint32_t tokens, const Rows& all) {
  Rows count(tokens, 0);
  for (const std::uint32_t token : all) ++count.at(token);
  return count;
}

// What the seed of the run is does not matter: the routing has its own.
TEST(LookUps, OfARoutingAreTheTokensOfItsExpertsInTheirOrder) {
  const TokensOfExperts drawn = draw_experts("zipf:1.2", 5, 3, 8, 2, 20);
  Rows expected;
  for (const Rows& tokens : drawn) {
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    expected.insert(expected.end(), tokens.begin(), tokens.end());
  }
  Pairs args = {{"index", "routing"},
                {"experts", "8"},
                {"chosen", "2"},
                {"layer", "3"},
                {"routing", "zipf:1.2"}};
  LayerOp op = embed(20, 20, args);
  op.seed = 5;
  Rows all = look_ups(op, 1);
  op.args.emplace_back("round", "1");
  const Rows second = look_ups(op, 2);
  all.insert(all.end(), second.begin(), second.end());
  EXPECT_EQ(all, expected);
  EXPECT_EQ(copies(20, all), Rows(20, 2));
}

// Nine, four, five and no copies of nine tokens, two of each: experts have different tokens.
TEST(LookUps, OfCountsAreDealtSoThatEachTokenHasAllItsChoices) {
  const Rows all = rounds(
      9, 2,
      {{"index", "routing"}, {"experts", "4"}, {"chosen", "2"}, {"routing", "counts:9:4:5:0"}});
  EXPECT_EQ(copies(9, all), Rows(9, 2));
  for (const auto& [begin, end] : {std::pair(0, 9), std::pair(9, 13), std::pair(13, 18)}) {
    EXPECT_EQ(std::adjacent_find(all.begin() + begin, all.begin() + end, std::greater_equal<>()),
              all.begin() + end);
  }
}

// One of four rows, as 12, 6, 4 and 3 of 25; 10,000 look-ups deviate by 50 at most, 250 is five
// times that.
TEST(LookUps, FollowZipfsLaw) {
  Rows count = copies(4, look_ups(embed(4, 10000, {{"index", "zipf:1"}}), 1));
  std::sort(count.begin(), count.end(), std::greater<>());
  const std::vector<double> expected = {4800, 2400, 1600, 1200};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(count[i], expected[i], 250);
}

TEST(LookUps, AreUniformUnlessSaid) {
  EXPECT_EQ(look_ups(embed(7, 5, {}), 3), look_ups(embed(7, 5, {{"index", "uniform"}}), 3));
  EXPECT_NE(look_ups(embed(700, 50, {}), 3), look_ups(embed(700, 50, {{"index", "zipf:0"}}), 3));
  EXPECT_THAT(copies(2, look_ups(embed(2, 1000, {}), 3)),
              ElementsAre(::testing::Gt(400U), ::testing::Gt(400U)));
}

}  // namespace
}  // namespace lacuna
