// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/local_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace lacuna::test {
namespace {

/// A space whose value is a sum of terms, one for each choice.
struct Separable {
  std::vector<std::vector<double>> terms;

  explicit Separable(Random& random) {
    const std::uint64_t choices = 1 + random.bounded(4);
    for (std::uint64_t i = 0; i < choices; ++i) {
      std::vector<double> each;
      const std::uint64_t values = 1 + random.bounded(6);
      for (std::uint64_t v = 0; v < values; ++v) {
        each.push_back(static_cast<double>(random.bounded(1000)));
      }
      terms.push_back(std::move(each));
    }
  }

  double value(const SpacePlace& place) const {
    double sum = 0;
    for (std::size_t i = 0; i < place.size(); ++i) sum += terms[i][place[i]];
    return sum;
  }

  double least() const {
    double sum = 0;
    for (const auto& each : terms) sum += *std::min_element(each.begin(), each.end());
    return sum;
  }

  SearchedSpace space(double tightness) const {
    SearchedSpace space;
    for (const auto& each : terms) space.values.push_back(static_cast<std::uint32_t>(each.size()));
    space.settle = [](const SpacePlace& place) { return std::optional(place); };
    space.bound = [this, tightness](const SpacePlace& place) { return tightness * value(place); };
    space.guess = [](const SpacePlace& place) { return static_cast<double>(place[0] * 7 % 5); };
    return space;
  }
};

std::vector<SpacePlace> walk(LocalSearch& search, const Separable& of) {
  std::vector<SpacePlace> all;
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    for (const SpacePlace& place : batch) {
      all.push_back(place);
      search.take(place, of.value(place));
    }
  }
  return all;
}

// Where choices do not interact, a place that no single change improves is the best of all: each
// of its terms is the least. So descent finds what trying all would, however bad its guesses are.
TEST(LocalSearch, FindsTheBestWhereChoicesDoNotInteract) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Separable of(random);
    SearchEffort effort;
    effort.seed = seed;
    effort.budget = 10000;
    effort.batch = 1 + random.bounded(8);
    LocalSearch search(of.space(random.unit()), SpacePlace(of.terms.size(), 0), effort);
    const std::vector<SpacePlace> places = walk(search, of);
    ASSERT_TRUE(search.best().has_value());
    EXPECT_EQ(search.best_value(), of.least()) << seed;
    EXPECT_EQ(of.value(*search.best()), of.least()) << seed;
    const std::set<SpacePlace> once(places.begin(), places.end());
    EXPECT_EQ(once.size(), places.size()) << "a place was simulated twice, seed " << seed;
    EXPECT_FALSE(search.cut_off());
  }
}

// A bound that is the value itself leaves out all that is not better than the best so far.
TEST(LocalSearch, SimulatesNothingThatABoundRulesOut) {
  Random random(3);
  const Separable of(random);
  SearchEffort effort;
  LocalSearch search(of.space(1), SpacePlace(of.terms.size(), 0), effort);
  double best = of.value(SpacePlace(of.terms.size(), 0)) + 1;
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    for (const SpacePlace& place : batch) {
      EXPECT_LT(of.value(place), best);
      best = of.value(place);
      search.take(place, best);
    }
  }
}

// The same with a gain of a tenth: what is simulated is below nine tenths of the best so far.
TEST(LocalSearch, SimulatesNothingThatPromisesLessThanItsGain) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Separable of(random);
    SearchEffort effort;
    effort.gain = 0.1;
    LocalSearch search(of.space(1), SpacePlace(of.terms.size(), 0), effort);
    std::optional<double> best;
    for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
      for (const SpacePlace& place : batch) {
        if (best) {
          EXPECT_LT(of.value(place), *best * 0.9);
        }
        best = of.value(place);
        search.take(place, best);
      }
    }
  }
}

TEST(LocalSearch, TakesTheSameWayForTheSameSeedAndEndsWithItsBudget) {
  Random random(11);
  const Separable of(random);
  SearchEffort effort;
  effort.budget = 7;
  LocalSearch first(of.space(0), SpacePlace(of.terms.size(), 0), effort);
  LocalSearch second(of.space(0), SpacePlace(of.terms.size(), 0), effort);
  const std::vector<SpacePlace> places = walk(first, of);
  EXPECT_EQ(places, walk(second, of));
  EXPECT_LE(places.size(), 7U);
  EXPECT_EQ(first.simulated(), places.size());
}

/// Choices of so many values, all of which can be, have a bound of 40, and are tried in their
/// order.
SearchedSpace plain_space(std::vector<std::uint32_t> values) {
  SearchedSpace space;
  space.values = std::move(values);
  space.settle = [](const SpacePlace& place) { return std::optional(place); };
  space.bound = [](const SpacePlace&) { return 40.0; };
  space.guess = [](const SpacePlace& place) { return static_cast<double>(place[0]); };
  return space;
}

/// Of a search from its start alone.
SearchEffort one_start(std::size_t patience = 0) {
  SearchEffort effort;
  effort.restarts = 0;
  effort.patience = patience;
  return effort;
}

// One choice of ten values: the start is 100, the others are 99, which is a gain of 1 %. With a
// gain of 2 % and a patience of three, four places are simulated, the start and three in vain; six
// are left, of which one is known to be impossible, and by its bound (40 + its number) the least is
// the first of those that come after in the order of their guesses. Without patience all nine that
// can be are tried, and nothing is left.
TEST(LocalSearch, AStartEndsWherePatienceDoes) {
  SearchedSpace space = plain_space({10});
  space.bound = [](const SpacePlace& place) { return 40.0 + place[0]; };
  space.guess = [](const SpacePlace& place) {
    return place[0] == 4 ? std::numeric_limits<double>::infinity() : double(place[0]);
  };
  for (const std::size_t patience : {3U, 0U}) {
    SearchEffort effort = one_start(patience);
    effort.gain = 0.02;
    LocalSearch search(space, {0}, effort);
    for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
      const SpacePlace place = batch.front();
      if (place[0] == 4) {
        search.take(place, std::nullopt);
      } else {
        search.take(place, place[0] == 0 ? 100 : 99);
      }
    }
    EXPECT_EQ(search.best_value(), 99);
    EXPECT_EQ(search.simulated(), patience == 3 ? 4U : 9U);
    EXPECT_EQ(search.cut_off(), patience == 3);
    EXPECT_EQ(search.least_left(), patience == 3 ? 45.0 : std::numeric_limits<double>::infinity());
  }
}

// What is given up is above the start, which is 100: it counts as simulated and as in vain, so
// three of nine end a patience of three.
TEST(LocalSearch, WhatIsGivenUpIsInVain) {
  SearchedSpace space = plain_space({10});
  LocalSearch search(space, {0}, one_start(3));
  std::vector<std::uint32_t> tried;
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    tried.push_back(batch.front()[0]);
    if (batch.front()[0] == 0) {
      search.take(batch.front(), 100);
    } else {
      search.give_up(batch.front());
    }
  }
  EXPECT_EQ(tried, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(search.simulated(), 4U);
  EXPECT_EQ(search.best_value(), 100);
  EXPECT_TRUE(search.cut_off());
}

// Of two choices of two and four values, places with the second value of the first choice are tried
// last although their guesses are the least; what their bound of 95 leaves is no gain of 10 %.
TEST(LocalSearch, WhatIsTriedLastIsTriedAfterAllOthersIfItsBoundAllows) {
  for (const double bound : {40.0, 95.0}) {
    SearchedSpace space = plain_space({2, 4});
    space.bound = [&](const SpacePlace& place) { return place[0] == 1 ? bound : 40; };
    space.guess = [](const SpacePlace& place) { return place[0] == 1 ? 1.0 : 2.0 + place[1]; };
    space.is_last = [](const SpacePlace& place) { return place[0] == 1; };
    SearchEffort effort = one_start();
    effort.gain = 0.1;
    LocalSearch search(space, {0, 0}, effort);
    std::vector<SpacePlace> tried;
    for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
      tried.push_back(batch.front());
      search.take(batch.front(), 100);
    }
    std::vector<SpacePlace> expected = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    if (bound == 40) expected.push_back({1, 0});
    EXPECT_EQ(tried, expected);
  }
}

// Values 0 to 7 of one choice, of which 6 and 7 are tried last. The start and three in vain end a
// patience of three; then 6, which is expected to be better than 7, has its try. Where it gains,
// the search goes on around it, and all others are its neighbours: the three first of them are in
// vain again, 7 among those that are left.
TEST(LocalSearch, OneThatIsTriedLastHasATryAfterPatienceEnds) {
  for (const bool gains : {false, true}) {
    SearchedSpace space = plain_space({8});
    space.is_last = [](const SpacePlace& place) { return place[0] >= 6; };
    LocalSearch search(space, {0}, one_start(3));
    std::vector<std::uint32_t> tried;
    for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
      tried.push_back(batch.front()[0]);
      search.take(batch.front(), gains && tried.back() == 6 ? 50 : 100);
    }
    std::vector<std::uint32_t> expected = {0, 1, 2, 3, 6};
    if (gains) expected.insert(expected.end(), {4, 5, 7});
    EXPECT_EQ(tried, expected);
    EXPECT_EQ(search.best_value(), gains ? 50 : 100);
    EXPECT_TRUE(search.cut_off());
  }
}

// Of three values the second takes too much work to be known: the third is tried, and the bound of
// the second, 40, stays among what is left.
TEST(LocalSearch, WhatIsUnknownIsLeftOver) {
  SearchedSpace space = plain_space({3});
  LocalSearch search(space, {0}, one_start());
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    if (batch.front()[0] == 1) {
      search.give_up(batch.front(), true);
    } else {
      search.take(batch.front(), 100);
    }
  }
  EXPECT_EQ(search.simulated(), 3U);
  EXPECT_TRUE(search.cut_off());
  EXPECT_EQ(search.least_left(), 40);
}

// The start cannot be, and half of its neighbours: the search goes on from those that can.
TEST(LocalSearch, LeavesAStartThatCannotBe) {
  SearchedSpace space = plain_space({3, 3});
  space.bound = [](const SpacePlace&) { return 0.0; };
  space.guess = space.bound;
  LocalSearch search(space, {0, 0}, {});
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    for (const SpacePlace& place : batch) {
      const bool possible = place[0] != 0;
      search.take(place, possible ? std::optional(10.0 - place[0] - place[1]) : std::nullopt);
    }
  }
  ASSERT_TRUE(search.best().has_value());
  EXPECT_EQ(*search.best(), (SpacePlace{2, 2}));
  EXPECT_GE(search.impossible(), 1U);
}

// Start, which is 5, then the values 4, 3, 2, 1 in the order of their guesses: the first is left,
// as its bound of 9 turns out above the best, so a budget of three has room for two more.
TEST(LocalSearch, WhatIsLeftTakesNothingOfTheBudget) {
  SearchedSpace space = plain_space({5});
  space.bound = [](const SpacePlace&) { return 0.0; };
  SearchEffort effort = one_start();
  effort.budget = 3;
  LocalSearch search(space, {0}, effort);
  std::vector<std::uint32_t> simulated;
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    ASSERT_EQ(batch.size(), 1U);
    if (batch[0][0] == 1) {
      search.leave(batch[0]);
      continue;
    }
    simulated.push_back(batch[0][0]);
    search.take(batch[0], 5.0 - batch[0][0]);
  }
  EXPECT_EQ(simulated, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(search.pruned(), 1U);
  EXPECT_EQ(search.simulated(), 3U);
  EXPECT_EQ(search.best_value(), 2);
  EXPECT_TRUE(search.cut_off()) << "4 was not reached";
}

}  // namespace
}  // namespace lacuna::test
