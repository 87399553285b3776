// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/exchange.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StreamingJob gemm_of(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  StreamingJob job;
  job.gemm.m = m;
  job.gemm.k = k;
  job.gemm.n = n;
  return job;
}

StreamingSetup grouped(unsigned columns, unsigned groups) {
  StreamingSetup setup;
  setup.wafer.columns = columns;
  setup.wafer.rows = 1;
  setup.ws.groups = groups;
  return setup;
}

TEST(WaferGroups, RowsOfAPlaceAreDealtInTurnTheNextPlaceOneGroupOn) {
  // Rows 0 to 2 belong to place 0 and go to groups 0, 1, 0; rows 3 to 5, of place 1, to 1, 0, 1.
  // Around rings of two each group begins with its first row of each place.
  const StreamingPlan plan = plan_streaming(gemm_of(6, 4, 2), grouped(4, 2));
  EXPECT_EQ(plan.program.kernel.steps, 3U);
  EXPECT_EQ(plan.empty_rows, 0U);
  EXPECT_THAT(plan.row_of_step, ElementsAre(0, 1, 4, 3, 2, 5));
  EXPECT_THAT(plan.program.kernel.final_column, ElementsAre(0, 2, 1, 3, 0, 3));
  EXPECT_THAT(plan.program.kernel.counts, ::testing::Each(2U));  // of 4 features, on 2 places
}

TEST(WaferGroups, AGroupWithFewerRowsEndsWithEmptyOnes) {
  // Places 0 and 1 of two groups have rows 0, 1 and row 2: groups 0, 1 and 1.
  const StreamingPlan plan = plan_streaming(gemm_of(3, 4, 2), grouped(4, 2));
  EXPECT_EQ(plan.empty_rows, 1U);
  EXPECT_THAT(plan.row_of_step, ElementsAre(0, 1, kNoRow, 2));
  EXPECT_THAT(plan.program.kernel.counts, ElementsAre(2, 2, 2, 2, 0, 0, 2, 2));
}

TEST(WaferGroups, EachGroupHoldsAllActivationsAndAllResults) {
  // 4 tokens of 2 B: 2 features and 2 results in a core; in two groups 4 and 4, or if results stay
  // in their groups 4 and 2.
  const auto bytes = [](unsigned groups, Exchange exchange) {
    StreamingSetup each = grouped(4, groups);
    each.ws.exchange = exchange;
    return plan_streaming(gemm_of(8, 8, 4), each).bytes;
  };
  const std::uint64_t one = bytes(1, Exchange::product);
  EXPECT_EQ(bytes(2, Exchange::product) - one, 4U * (4 + 4 - 2 - 2) * 2);
  EXPECT_EQ(bytes(2, Exchange::next) - one, 4U * (4 + 2 - 2 - 2) * 2);
}

const ExchangePlan::Part& part_on(const ExchangePlan& plan, std::uint32_t column,
                                  std::uint32_t bus) {
  for (const ExchangePlan::Part& part : plan.columns[column].parts) {
    if (part.bus == bus) return part;
  }
  throw std::logic_error("the column is not on the bus");
}

TEST(WaferGroups, BusesRunFromEachGroupPastAllOthers) {
  const ExchangePlan plan =
      plan_exchange({{2, 4, false}, 1, ring_order(4), 5}, {2, 1, 1, 1, 1, 1, 1, 1});
  ASSERT_EQ(plan.buses.size(), 2U);
  EXPECT_EQ(plan.buses[0].color, Color{5});
  EXPECT_EQ(plan.buses[1].color, Color{6});
  EXPECT_EQ(plan.packets, 2U);  // of the column that keeps most
  // In the order 0 2 3 1 of their rings: what comes before its own at each sender's router.
  const std::array<std::uint32_t, 4> before{0, 1, 1, 2};
  for (std::uint32_t c = 0; c < 4; ++c) {
    EXPECT_TRUE(part_on(plan, c, 0).sends);
    EXPECT_TRUE(part_on(plan, c, 1).takes);
    EXPECT_EQ(part_on(plan, c, 0).turn, before.at(c)) << c;
  }
  // Column 7 takes what column 3 sends, the third packet of a round, of four, and nothing goes on.
  const ExchangePlan::Part& part = plan.columns[7].parts[0];
  EXPECT_TRUE(part.takes);
  EXPECT_FALSE(part.passes);
  EXPECT_EQ(part.turn, 2U);
  EXPECT_EQ(part.upstream, 4U);
  EXPECT_EQ(plan.columns[7].takes[0].sender, 3U);
}

TEST(WaferGroups, PacketsMoveTheSwitchesOfThoseWhoAreNext) {
  // In the order 0 2 3 1 routers 1 and 2 send after packet 0, a hop and two away, and router 3
  // after packet 2. Each but router 0, which nothing passes, goes back to passing after its own.
  const ExchangePlan plan =
      plan_exchange({{2, 4, false}, 1, ring_order(4), 5}, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(plan.columns[0].sends[0].control, 1U << 2U | 1U << 4U);
  EXPECT_EQ(plan.columns[2].sends[0].control, 1U | 1U << 2U);
  EXPECT_EQ(plan.columns[3].sends[0].control, 1U);
  EXPECT_EQ(plan.columns[1].sends[0].control, 1U);
}

TEST(WaferGroups, InterleavedColumnsOfAPlaceSendOneAfterTheOther) {
  // Three groups of two: columns 3, 4, 5 are place 1. Eastwards 3 sends first and moves the switch
  // of 4, which sends after it and moves its own back; 5 takes both, and nobody sends there.
  const ExchangePlan plan = plan_exchange({{3, 2, true}, 2, {}, 5}, {1, 1, 1, 1, 1, 1});
  ASSERT_EQ(plan.buses.size(), 2U);
  EXPECT_EQ(plan.columns[3].sends[0].control, 1U << 2U);
  EXPECT_EQ(plan.columns[3].sends[0].copies, 2U);
  EXPECT_EQ(plan.columns[4].sends[0].control, 1U);
  EXPECT_EQ(plan.columns[4].sends[0].copies, 1U);
  EXPECT_EQ(part_on(plan, 4, 0).turn, 1U);
  EXPECT_FALSE(part_on(plan, 5, 0).sends);
  EXPECT_FALSE(part_on(plan, 5, 0).passes);
  std::vector<std::uint32_t> senders;
  for (const ExchangePlan::Take& take : plan.columns[5].takes) senders.push_back(take.sender);
  EXPECT_THAT(senders, ElementsAre(3, 4));
  // From the east the farthest comes first.
  senders.clear();
  for (const ExchangePlan::Take& take : plan.columns[3].takes) senders.push_back(take.sender);
  EXPECT_THAT(senders, ElementsAre(5, 4));
}

TEST(WaferGroups, ColorsAreSharedByBusesThatDoNotMeet) {
  EXPECT_EQ(exchange_colors({1, 4, false}, 2), 0U);
  EXPECT_EQ(exchange_colors({2, 4, false}, 1), 2U);
  EXPECT_EQ(exchange_colors({3, 4, false}, 1), 4U);
  EXPECT_EQ(exchange_colors({5, 4, false}, 2), 12U);
  EXPECT_EQ(exchange_colors({5, 4, true}, 2), 2U);
  for (const std::uint32_t groups : {2U, 3U, 5U, 7U}) {
    const ExchangePlan plan =
        plan_exchange({{groups, 4, false}, 2, {}, 5}, std::vector<std::uint32_t>(4 * groups, 1));
    for (const ExchangePlan::Column& column : plan.columns) {
      std::uint32_t seen = 0;
      for (const ExchangePlan::Part& part : column.parts) {
        const auto color = static_cast<unsigned>(plan.buses[part.bus].color);
        EXPECT_LT(color, 5 + exchange_colors({groups, 4, false}, 2));
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
  StreamingJob job = gemm_of(12, 12, 4);
  EXPECT_THAT(refusal(job, grouped(6, 4)), HasSubstr("wafer.columns = 6 are not a multiple"));
  StreamingSetup shared = grouped(4, 2);
  shared.ws.share = Share::tokens;
  shared.ws.exchange = Exchange::next;
  EXPECT_THAT(refusal(job, shared), HasSubstr("have no results to exchange"));
  shared.ws.exchange = Exchange::product;
  shared.ws.inject = Inject::middle_row;
  EXPECT_THAT(refusal(job, shared), HasSubstr("are not copied to other groups"));
  // Nine groups: a core takes from eight others, beside the weights and its ring: ten queues.
  StreamingSetup nine = grouped(18, 9);
  nine.ws.buses = 1;
  EXPECT_THAT(refusal(gemm_of(36, 36, 4), nine),
              HasSubstr("needs 10 input queues in a core (queue.in), of which there are 8"));
  // Seven groups on three buses each way: 4 + 1 + 8 * 3 colors.
  StreamingSetup many = grouped(42, 7);
  many.ws.buses = 3;
  EXPECT_THAT(refusal(gemm_of(84, 84, 4), many),
              HasSubstr("needs 29 colors, of which there are 24"));
  // Side by side 20 columns of a group need a color each beside 4 of the ring and one of others;
  // 19 do not exceed 24. Interleaved six rings take them all.
  StreamingSetup wide = grouped(40, 2);
  wide.wafer.rows = 2;
  wide.ws.share = Share::tokens;
  EXPECT_THAT(refusal(gemm_of(40, 40, 4), wide),
              HasSubstr("each of 20 columns of a group needs a color of its own; beside 4 of the "
                        "reduction there are 19; with ws.lie = interleaved they need one"));
  wide.wafer.columns = 38;
  EXPECT_EQ(refusal(gemm_of(40, 40, 4), wide), "");
  wide.wafer.columns = 12;
  wide.ws.groups = 6;
  wide.ws.lie = Lie::interleaved;
  EXPECT_THAT(refusal(gemm_of(40, 40, 6), wide),
              HasSubstr("interleaved (ws.lie), needs 25 colors, of which there are 24"));
}

StreamingSetup sharing_tokens(unsigned columns, unsigned groups, unsigned rows) {
  StreamingSetup made = grouped(columns, groups);
  made.wafer.rows = rows;
  made.ws.share = Share::tokens;
  made.ws.lie = Lie::interleaved;
  return made;
}

TEST(WaferGroups, ThatShareTokensHaveAllRowsAndAPartOfTheTokensOfARow) {
  // 7 tokens on a row of cores: 3, 3 and one with 2 of padding. A row of routers copies.
  const StreamingPlan plan = plan_streaming(gemm_of(2, 4, 7), sharing_tokens(6, 3, 4));
  const Program& program = plan.program;
  EXPECT_EQ(program.kernel.steps, 2U);
  EXPECT_EQ(program.distribution_rows, 1U);
  // 3 tokens of a group on rows that have one each, of which each column has one.
  EXPECT_THAT(program.kernel.tokens, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(plan.padding, 2U);
  EXPECT_THAT(program.kernel.final_column, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(program.kernel.counts, ::testing::Each(2U));
  // The words of features 0 and 1 enter in column 1 and are copied to both neighbours.
  EXPECT_THAT(program.source, ElementsAre(1, 1, 1, 4, 4, 4));
  EXPECT_EQ(program.router(0, 1).routes[0].from, kNorth);
  EXPECT_EQ(program.router(0, 1).routes[0].to, bit(kSouth) | bit(kEast) | bit(kWest));
  EXPECT_EQ(program.router(0, 0).routes[0].from, kEast);
  EXPECT_EQ(program.router(0, 2).routes[0].from, kWest);
  EXPECT_EQ(program.router(0, 2).routes[0].to, bit(kSouth));
  // 8 weights enter, each once.
  EXPECT_EQ(plan.weights, 8U);
  EXPECT_THAT(plan.column_weights, ElementsAre(0, 4, 0, 0, 4, 0));
}

TEST(WaferGroups, ARouterNeverHasTwoWaysOfAColor) {
  for (const bool edge : {false, true}) {
    for (const Lie lie : {Lie::side_by_side, Lie::interleaved}) {
      for (const Share share : {Share::tokens, Share::rows}) {
        for (const unsigned rows : {1U, 2U, 3U}) {
          StreamingSetup each = sharing_tokens(12, 3, rows + 4);
          each.ws.share = share;
          each.ws.lie = lie;
          each.ws.buses = 1;
          each.io.dist_rows = rows;
          if (edge) each.ws.inject = Inject::west_edge;
          if (edge && share == Share::rows && rows < 3) continue;  // too few for the colors
          const StreamingPlan plan = plan_streaming(gemm_of(8, 8, 8), each);
          for (const RouterProgram& router : plan.program.routers) {
            std::map<std::pair<unsigned, unsigned>, int> seen;  // color, position of its switch
            for (const Route& route : router.routes) {
              const auto color = static_cast<unsigned>(route.color);
              ++seen[{color, route.position}];
            }
            for (const auto& [color, times] : seen) EXPECT_EQ(times, 1) << color.first;
          }
        }
      }
    }
  }
}

TEST(WaferGroups, ResidentWeightsAreSharedByRowsOrHeldByAll) {
  // 8 outputs of 4 features on 2 groups of one row: shared, each core holds 4 outputs of its 2
  // features; the 3 tokens are streamed to both. Else each holds all 8, for 2 and 1 of the tokens.
  StreamingJob job = gemm_of(8, 4, 3);
  job.resident = true;
  StreamingSetup each = sharing_tokens(4, 2, 2);
  each.ws.share = Share::rows;
  const StreamingPlan rows = plan_streaming(job, each);
  EXPECT_THAT(rows.program.kernel.tokens, ElementsAre(0, 4));
  EXPECT_EQ(rows.program.kernel.steps, 3U);
  EXPECT_FALSE(rows.program.source.empty());
  each.ws.share = Share::tokens;
  const StreamingPlan tokens = plan_streaming(job, each);
  EXPECT_THAT(tokens.program.kernel.tokens, ElementsAre(4, 4));
  EXPECT_EQ(tokens.program.kernel.steps, 2U);
  EXPECT_TRUE(tokens.program.source.empty());
  EXPECT_EQ(tokens.empty_rows, 1U);
}

}  // namespace
}  // namespace lacuna::wse
