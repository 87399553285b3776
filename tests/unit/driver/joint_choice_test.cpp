// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/joint_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {
namespace {

struct Drawn {
  std::vector<std::vector<double>> own;
  struct Cost {
    std::vector<std::size_t> things;
    std::map<JointChoice::Choices, double> values;
  };
  std::vector<Cost> costs;
};

void fill(const Drawn& drawn, Drawn::Cost& cost, Random& random) {
  JointChoice::Choices at(cost.things.size(), 0);
  for (std::size_t i = 0; i < at.size();) {
    cost.values.emplace(at, static_cast<double>(random.bounded(9)));
    for (i = 0; i < at.size() && ++at[i] == drawn.own[cost.things[i]].size(); ++i) at[i] = 0;
  }
}

/// A few things with a few choices, some of which cannot be, and costs of one to three of them.
Drawn draw(Random& random) {
  Drawn drawn;
  for (std::uint64_t n = 1 + random.bounded(5); n != 0; --n) {
    std::vector<double> costs;
    for (std::uint64_t c = 1 + random.bounded(4); c != 0; --c) {
      costs.push_back(static_cast<double>(random.bounded(9)));
    }
    drawn.own.push_back(costs);
  }
  for (std::uint64_t n = random.bounded(6); n != 0; --n) {
    Drawn::Cost cost;
    for (std::size_t i = 0; i < drawn.own.size() && cost.things.size() < 3; ++i) {
      if (random.bounded(2) == 0) cost.things.push_back(i);
    }
    if (cost.things.empty()) continue;
    fill(drawn, cost, random);
    if (random.bounded(3) == 0) {
      cost.values.begin()->second = std::numeric_limits<double>::infinity();
    }
    drawn.costs.push_back(cost);
  }
  return drawn;
}

double sum(const Drawn& drawn, const JointChoice::Choices& choices) {
  double sum = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) sum += drawn.own[i][choices[i]];
  for (const Drawn::Cost& cost : drawn.costs) {
    JointChoice::Choices mine;
    for (const std::size_t thing : cost.things) mine.push_back(choices[thing]);
    sum += cost.values.at(mine);
  }
  return sum;
}

double least(const Drawn& drawn) {
  double least = std::numeric_limits<double>::infinity();
  JointChoice::Choices at(drawn.own.size(), 0);
  for (std::size_t i = 0; i < at.size();) {
    least = std::min(least, sum(drawn, at));
    for (i = 0; i < at.size() && ++at[i] == drawn.own[i].size(); ++i) at[i] = 0;
  }
  return least;
}

// Of 500 random problems the sum is that of the best of all combinations, and none costs more than
// once for each combination of what it depends on.
TEST(JointChoice, IsTheBestOfAllCombinations) {
  Random random(19);
  for (int n = 0; n < 500; ++n) {
    const Drawn drawn = draw(random);
    JointChoice choice;
    for (const std::vector<double>& costs : drawn.own) choice.add(costs);
    std::size_t most = 0;
    for (const Drawn::Cost& cost : drawn.costs) {
      most += cost.values.size();
      choice.add(cost.things,
                 [&cost](const JointChoice::Choices& at) { return cost.values.at(at); });
    }
    const JointChoice::Choices chosen = choice.solve();
    const double best = least(drawn);
    EXPECT_EQ(sum(drawn, chosen), best) << n;
    EXPECT_EQ(choice.total(), best) << n;
    EXPECT_LE(choice.asked(), most) << n;
  }
}

// Two things with two choices each; what they cost together is 5 but 0 if both have their second,
// which costs 2 more each: 4 for both, 5 for neither, 7 for one alone. One that changes a thing
// after the other stays at 5.
TEST(JointChoice, ChangesTwoThingsThatGainTogether) {
  JointChoice choice;
  choice.add({0, 2});
  choice.add({0, 2});
  choice.add({0, 1},
             [](const JointChoice::Choices& at) { return at[0] == 1 && at[1] == 1 ? 0.0 : 5.0; });
  EXPECT_EQ(choice.solve(), (JointChoice::Choices{1, 1}));
  EXPECT_EQ(choice.total(), 4);
}

// Costs that cannot decide are not asked for: the second choice of the first thing is 100 worse.
TEST(JointChoice, AsksForNoCostThatCannotDecide) {
  JointChoice choice;
  choice.add({0, 100});
  choice.add({0});
  std::size_t asked = 0;
  choice.add({0, 1}, [&](const JointChoice::Choices& at) {
    ++asked;
    EXPECT_EQ(at[0], 0U);
    return 7.0;
  });
  EXPECT_EQ(choice.solve(), (JointChoice::Choices{0, 0}));
  EXPECT_EQ(asked, 1U);
}

}  // namespace
}  // namespace lacuna
