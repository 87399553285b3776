// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/serving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

/// A prompt takes 10 ns a token, a step 100 ns and one for each position of the longest sequence;
/// a pass costs a joule for each nanosecond, and doing nothing 1 W.
class PlainModel : public ServedModel {
 public:
  PassCost prompt(std::uint32_t tokens) override { return cost(10 * tokens); }
  PassCost step(std::uint32_t context) override {
    contexts.push_back(context);
    return cost(100 + context);
  }
  EnergyRange idle_watts() const override { return {0.5, 1, 2}; }

  std::vector<std::uint32_t> contexts;

 private:
  static PassCost cost(std::uint64_t ns) {
    const auto joules = static_cast<double>(ns);
    return {ns, {joules, joules, joules}};
  }
};

// By hand, two slots. A comes at 0 and is in until 50; B came at 20, and its one token is there at
// 70; C came at 60, and its first is there at 80. A then has 5 + 1 positions in the next step, of
// 106 ns, in which C ends, and 7 in the one after, of 107 ns.
TEST(Serving, PromptsGoFirstAndAStepIsAsLongAsItsLongestSequence) {
  PlainModel model;
  const ServingResult result = serve({{0, 5, 3}, {20, 2, 1}, {60, 1, 2}}, 2, model);
  EXPECT_EQ(result.requests[0].first_token, 50U);
  EXPECT_EQ(result.requests[1].admitted, 50U);
  EXPECT_EQ(result.requests[1].first_token, 70U);
  EXPECT_EQ(result.requests[1].done, 70U);
  EXPECT_EQ(result.requests[2].first_token, 80U);
  EXPECT_EQ(result.requests[2].done, 186U);
  EXPECT_EQ(result.requests[0].done, 293U);
  EXPECT_THAT(model.contexts, ::testing::ElementsAre(6, 7));
  EXPECT_EQ(result.end_ns, 293U);
  EXPECT_EQ(result.prompt_ns, 80U);
  EXPECT_EQ(result.step_ns, 213U);
  EXPECT_EQ(result.idle_ns(), 0U);
  EXPECT_EQ(result.steps, 2U);
  EXPECT_EQ(result.taken_slots, 3U);
  EXPECT_EQ(result.prompt_tokens, 8U);
  EXPECT_EQ(result.output_tokens, 6U);
  EXPECT_DOUBLE_EQ(result.joules.nominal, 293);
}

// With one slot the second waits until the first has left: 10 + 102 ns. The machine then idles from
// 122 to 1000 ns.
TEST(Serving, ARequestWaitsForASlotAndTheMachineForARequest) {
  PlainModel model;
  const ServingResult result = serve({{0, 1, 2}, {5, 1, 1}, {1000, 1, 1}}, 1, model);
  EXPECT_EQ(result.requests[0].done, 112U);
  EXPECT_EQ(result.requests[1].admitted, 112U);
  EXPECT_EQ(result.requests[1].done, 122U);
  EXPECT_EQ(result.requests[2].admitted, 1000U);
  EXPECT_EQ(result.end_ns, 1010U);
  EXPECT_EQ(result.idle_ns(), 878U);
  EXPECT_DOUBLE_EQ(result.joules.low, 132 + 0.5 * 878e-9);
  EXPECT_DOUBLE_EQ(result.joules.high, 132 + 2 * 878e-9);
}

// What is before the first arrival is nobody's time.
TEST(Serving, TimeBeginsWithTheFirstArrival) {
  PlainModel model;
  const ServingResult result = serve({{500, 1, 1}}, 1, model);
  EXPECT_EQ(result.begin_ns, 500U);
  EXPECT_EQ(result.end_ns, 510U);
  EXPECT_EQ(result.idle_ns(), 0U);
  EXPECT_DOUBLE_EQ(result.joules.nominal, 10);
}

TEST(Serving, PercentilesAreNearestRanks) {
  const std::vector<std::uint64_t> ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(percentile(ten, 50), 5U);
  EXPECT_EQ(percentile(ten, 90), 9U);
  EXPECT_EQ(percentile(ten, 91), 10U);
  EXPECT_EQ(percentile(ten, 100), 10U);
  EXPECT_EQ(percentile({7}, 1), 7U);
}

}  // namespace
}  // namespace lacuna
