// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/random.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Points of some values and bounds below them; a few are not known to be above 0.
struct Space {
  std::vector<std::vector<double>> values;
  std::vector<SearchPoint> points;
};

Space random_space(std::uint64_t seed, std::size_t objectives) {
  Random random(seed);
  Space space;
  const std::size_t count = 1 + random.bounded(40);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> value;
    SearchPoint point;
    for (std::size_t o = 0; o < objectives; ++o) {
      const auto number = static_cast<double>(1 + random.bounded(12));
      value.push_back(number);
      const bool known = random.bounded(5) != 0;
      point.bound.push_back(known ? number * static_cast<double>(random.bounded(101)) / 100 : 0);
    }
    space.values.push_back(value);
    space.points.push_back(point);
  }
  return space;
}

SearchOrder searched(const Space& space, bool exhaustive) {
  std::vector<SearchPoint> points = space.points;
  if (exhaustive) {
    for (SearchPoint& point : points) std::fill(point.bound.begin(), point.bound.end(), 0);
  }
  SearchOrder order(points, {});
  for (std::vector<std::size_t> batch = order.next(); !batch.empty(); batch = order.next()) {
    EXPECT_LE(batch.size(), SearchTerms{}.at_a_time);
    for (const std::size_t i : batch) order.simulated(i, space.values[i]);
  }
  return order;
}

SearchTerms budget_of(std::size_t points) {
  SearchTerms terms;
  terms.budget = points;
  return terms;
}

SearchTerms all_terms() {
  SearchTerms terms;
  terms.prunes = false;
  return terms;
}

std::vector<std::vector<double>> values_of(const SearchOrder& order) {
  std::vector<std::vector<double>> values;
  for (const std::size_t i : order.front()) values.push_back(order.points()[i].value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

TEST(SearchOrder, FindsWhatSimulatingAllPointsFinds) {
  std::size_t pruned = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Space space = random_space(seed, 1 + seed % 3);
    const SearchOrder order = searched(space, false);
    EXPECT_EQ(values_of(order), values_of(searched(space, true))) << seed;
    for (const SearchPoint& point : order.points()) pruned += point.fate == Fate::pruned ? 1 : 0;
  }
  EXPECT_GT(pruned, 500U);
}

// Bounds 5, 1, 3: the second comes first. It is 4: the first cannot be better, the third may.
TEST(SearchOrder, TakesTheLowestBoundsFirstAndLeavesOutWhatCannotWin) {
  std::vector<SearchPoint> points(3);
  points[0].bound = {5};
  points[1].bound = {1};
  points[2].bound = {3};
  SearchOrder order(points, budget_of(1));
  EXPECT_THAT(order.next(), ElementsAre(1));
  order.simulated(1, {4});
  EXPECT_THAT(order.next(), IsEmpty()) << "the budget is one point";
  EXPECT_EQ(order.points()[0].fate, Fate::pruned);
  EXPECT_EQ(order.points()[2].fate, Fate::left_over);
  EXPECT_THAT(order.front(), ElementsAre(1));
  EXPECT_THAT(order.least(), ElementsAre(1));
}

// Bounds 8, 9, 9.5 and a gain of a tenth: of a point of 10 only what can be below 9 is of interest,
// so that the second and third are left out; the best of all may be a tenth below, not more.
// Without the gain both are simulated.
TEST(SearchOrder, LeavesOutWhatCannotGainEnough) {
  const std::vector<SearchPoint> points = {{{8}}, {{9}}, {{9.5}}};
  for (const double gain : {0.1, 0.0}) {
    SearchTerms terms;
    terms.gain = gain;
    terms.at_a_time = 1;
    SearchOrder order(points, terms);
    EXPECT_THAT(order.next(), ElementsAre(0));
    order.simulated(0, {10});
    if (gain == 0) {
      EXPECT_THAT(order.next(), ElementsAre(1));
      continue;
    }
    EXPECT_THAT(order.next(), IsEmpty());
    EXPECT_EQ(order.points()[1].fate, Fate::pruned);
    EXPECT_EQ(order.points()[2].fate, Fate::pruned);
    EXPECT_NEAR(order.at_most_above(), 0.1, 1e-12);
  }
}

// Of two objectives a point is beaten by one that is nowhere above it.
TEST(SearchOrder, KeepsAFrontOfSeveralObjectives) {
  std::vector<SearchPoint> points(3);
  for (SearchPoint& point : points) point.bound = {0, 0};
  SearchOrder order(points, {});
  EXPECT_THAT(order.next(), ElementsAre(0, 1, 2));
  order.simulated(0, {1, 3});
  order.simulated(1, {2, 2});
  order.simulated(2, {2, 3});
  EXPECT_THAT(order.front(), ElementsAre(0, 1));
}

// Bounds of 4 and 9 of points of 5 and 10: a fifth and a tenth below; without a bound none is said.
TEST(SearchOrder, AllPointsAreSimulatedIfBoundsPruneNone) {
  const std::vector<SearchPoint> points = {{{4}}, {{9}}, {{0}}};
  SearchOrder pruned(points, {});
  SearchOrder all(points, all_terms());
  for (SearchOrder* const order : {&pruned, &all}) {
    EXPECT_EQ(order->next().size(), 3U);
    order->simulated(0, {5});
    order->simulated(1, {10});
    order->simulated(2, {7});
    EXPECT_THAT(order->slack(), testing::ElementsAre(testing::DoubleNear(0.1, 1e-12),
                                                     testing::DoubleNear(0.2, 1e-12)));
  }
  const std::vector<SearchPoint> many(SearchTerms{}.at_a_time + 1, {{9}});
  SearchOrder first(many, {});
  SearchOrder every(many, all_terms());
  for (SearchOrder* const order : {&first, &every}) {
    for (const std::size_t i : order->next()) order->simulated(i, {9});
  }
  EXPECT_EQ(first.next().size(), 0U);
  EXPECT_EQ(every.next().size(), 1U);
}

// Nine points a3 + b of two axes. The least bound is that of the middle, 4, and all around it have
// the next: those of the first axis come first, 1 and 7, then 3 and 5. From 1, which is the best of
// them, 0 and 2 are left, which are worse. No one looks at 6 and 8.
TEST(SearchOrder, ADescentLooksAroundTheBestAlone) {
  std::vector<SearchPoint> points(9, {{2}});
  points[4].bound = {1};
  std::vector<std::vector<std::string>> values;
  for (const char* const a : {"p", "q", "r"}) {
    for (const char* const b : {"x", "y", "z"}) values.push_back({a, b});
  }
  SearchTerms terms;
  terms.descends = true;
  terms.restarts = 0;
  SearchOrder order(points, terms, values);
  EXPECT_THAT(order.next(), ElementsAre(4));
  order.simulated(4, {10});
  EXPECT_THAT(order.next(), ElementsAre(1, 7, 3, 5));
  for (const std::size_t i : {7, 3, 5}) order.simulated(i, {9});
  order.simulated(1, {8});
  EXPECT_THAT(order.next(), ElementsAre(0, 2));
  order.simulated(0, {20});
  order.simulated(2, {30});
  EXPECT_THAT(order.next(), IsEmpty());
  EXPECT_THAT(order.front(), ElementsAre(1));
  EXPECT_EQ(order.points()[6].fate, Fate::left_over);
}

// What cannot be costs nothing of a budget of one, and its neighbours are looked at.
TEST(SearchOrder, ADescentGoesOnAroundAStartThatCannotBe) {
  std::vector<SearchPoint> points(3, {{2}});
  points[1].bound = {1};
  SearchTerms terms = budget_of(1);
  terms.descends = true;
  SearchOrder order(points, terms, {{"x"}, {"y"}, {"z"}});
  EXPECT_THAT(order.next(), ElementsAre(1));
  order.failed(1);
  EXPECT_THAT(order.next(), ElementsAre(0));
}

}  // namespace
}  // namespace lacuna
