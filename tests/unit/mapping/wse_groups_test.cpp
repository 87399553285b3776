// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/exchange.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StreamingJob problem(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  StreamingJob job;
  job.gemm.m = m;
  job.gemm.k = k;
  job.gemm.n = n;
  return job;
}

StreamingSetup setup(unsigned columns, unsigned groups) {
  StreamingSetup setup;
  setup.wafer.columns = columns;
  setup.wafer.rows = 1;
  setup.ws.groups = groups;
  return setup;
}

TEST(WaferGroups, RowsOfAPlaceAreDealtInTurnTheNextPlaceOneGroupOn) {
  // Rows 0 to 2 belong to place 0 and go to groups 0, 1, 0; rows 3 to 5, of place 1, to 1, 0, 1.
  // Around rings of two each group begins with its first row of each place.
  const StreamingPlan plan = plan_streaming(problem(6, 4, 2), setup(4, 2));
  EXPECT_EQ(plan.program.kernel.steps, 3U);
  EXPECT_EQ(plan.empty_rows, 0U);
  EXPECT_THAT(plan.row_of_step, ElementsAre(0, 1, 4, 3, 2, 5));
  EXPECT_THAT(plan.program.kernel.final_column, ElementsAre(0, 2, 1, 3, 0, 3));
  EXPECT_THAT(plan.program.kernel.counts, ::testing::Each(2U));  // of 4 features, on 2 places
}

TEST(WaferGroups, AGroupWithFewerRowsEndsWithEmptyOnes) {
  // Places 0 and 1 of two groups have rows 0, 1 and row 2: groups 0, 1 and 1.
  const StreamingPlan plan = plan_streaming(problem(3, 4, 2), setup(4, 2));
  EXPECT_EQ(plan.empty_rows, 1U);
  EXPECT_THAT(plan.row_of_step, ElementsAre(0, 1, kNoRow, 2));
  EXPECT_THAT(plan.program.kernel.counts, ElementsAre(2, 2, 2, 2, 0, 0, 2, 2));
}

TEST(WaferGroups, EachGroupHoldsAllActivationsAndAllResults) {
  // 4 tokens of 2 B: 2 features and 2 results in a core; in two groups 4 and 4, or if results stay
  // in their groups 4 and 2.
  const auto bytes = [](unsigned groups, Exchange exchange) {
    StreamingSetup each = setup(4, groups);
    each.ws.exchange = exchange;
    return plan_streaming(problem(8, 8, 4), each).bytes;
  };
  const std::uint64_t one = bytes(1, Exchange::product);
  EXPECT_EQ(bytes(2, Exchange::product) - one, 4U * (4 + 4 - 2 - 2) * 2);
  EXPECT_EQ(bytes(2, Exchange::next) - one, 4U * (4 + 2 - 2 - 2) * 2);
}

TEST(WaferGroups, BusesRunFromEachGroupPastAllOthers) {
  const ExchangePlan plan = plan_exchange({8, 2, 1, ring_order(4), 5}, {2, 1, 1, 1, 1, 1, 1, 1});
  ASSERT_EQ(plan.buses.size(), 2U);
  EXPECT_THAT(plan.buses[0].order, ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(plan.buses[0].color, Color{5});
  EXPECT_EQ(plan.buses[0].reach, 7U);
  EXPECT_THAT(plan.buses[1].order, ElementsAre(4, 6, 7, 5));
  EXPECT_EQ(plan.buses[1].color, Color{6});
  EXPECT_EQ(plan.buses[1].reach, 0U);
  EXPECT_EQ(plan.packets, 2U);  // of the column that keeps most
  // Column 7 takes what column 3 sends, the third packet of a round, of four.
  const ExchangePlan::Part& part = plan.columns[7].parts[0];
  EXPECT_TRUE(part.takes);
  EXPECT_EQ(part.turn, 2U);
  EXPECT_EQ(part.upstream, 4U);
}

TEST(WaferGroups, PacketsMoveTheSwitchesOfThoseWhoAreNext) {
  // In the order 0 2 3 1 routers 1 and 2 send after packet 0, a hop and two away, and router 3
  // after packet 2. Each but router 0, which nothing passes, goes back to passing after its own.
  const ExchangePlan plan = plan_exchange({8, 2, 1, ring_order(4), 5}, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(plan.columns[0].control[0], 1U << 2U | 1U << 4U);
  EXPECT_EQ(plan.columns[2].control[0], 1U | 1U << 2U);
  EXPECT_EQ(plan.columns[3].control[0], 1U);
  EXPECT_EQ(plan.columns[1].control[0], 1U);
}

TEST(WaferGroups, ColorsAreSharedByBusesThatDoNotMeet) {
  EXPECT_EQ(exchange_colors(1, 2), 0U);
  EXPECT_EQ(exchange_colors(2, 1), 2U);
  EXPECT_EQ(exchange_colors(3, 1), 4U);
  EXPECT_EQ(exchange_colors(5, 2), 12U);
  for (const std::uint32_t groups : {2U, 3U, 5U, 7U}) {
    const ExchangePlan plan =
        plan_exchange({4 * groups, groups, 2, {}, 5}, std::vector<std::uint32_t>(4 * groups, 1));
    for (const ExchangePlan::Column& column : plan.columns) {
      std::uint32_t seen = 0;
      for (const ExchangePlan::Part& part : column.parts) {
        const auto color = static_cast<unsigned>(plan.buses[part.bus].color);
        EXPECT_LT(color, 5 + exchange_colors(groups, 2));
        EXPECT_EQ(seen >> color & 1U, 0U) << groups << " groups";
        seen |= 1U << color;
      }
    }
  }
}

TEST(WaferGroups, WhatTheyCannotBeCombinedWithIsNamed) {
  const auto refusal = [](const StreamingJob& job, const StreamingSetup& setup) {
    try {
      plan_streaming(job, setup);
    } catch (const UnsupportedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  StreamingJob job = problem(12, 12, 4);
  EXPECT_THAT(refusal(job, setup(6, 4)), HasSubstr("wafer.columns = 6 are not a multiple"));
  StreamingSetup edge = setup(4, 2);
  edge.ws.inject = Inject::west_edge;
  EXPECT_THAT(refusal(job, edge), HasSubstr("ws.inject"));
  // Nine groups: a core takes from eight others, beside the weights and its ring: ten queues.
  StreamingSetup nine = setup(18, 9);
  nine.ws.buses = 1;
  EXPECT_THAT(refusal(problem(36, 36, 4), nine),
              HasSubstr("needs 10 input queues in a core (queue.in), of which there are 8"));
  // Seven groups on three buses each way: 4 + 1 + 8 * 3 colors.
  StreamingSetup many = setup(42, 7);
  many.ws.buses = 3;
  EXPECT_THAT(refusal(problem(84, 84, 4), many),
              HasSubstr("needs 29 colors, of which there are 24"));
  job.resident = true;
  EXPECT_THAT(refusal(job, setup(4, 2)), HasSubstr("stay in the cores"));
}

}  // namespace
}  // namespace lacuna::wse
