// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/ipu/exchange/plan.hpp"
#include "models/ipu/exchange/planner.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/ipu/exchange_checker.hpp"

namespace lacuna::ipu {
namespace {

ChipParams flat(unsigned tiles) {
  ChipParams params;
  params.ipu.tiles = tiles;
  params.exchange.latency = LatencyModel::constant;
  params.exchange.constant_latency = 10U;
  return params;
}

/// Random multicasts between `tiles` tiles; sources are read below word 100,000, destinations
/// written above, each word once.
TransferList random_list(unsigned tiles, unsigned transfers, unsigned longest, std::uint64_t seed) {
  Random random(seed);
  TransferList list;
  std::vector<std::uint32_t> next(tiles, 100'000);
  for (unsigned i = 0; i < transfers; ++i) {
    const auto source = static_cast<TileId>(random.bounded(tiles));
    const auto words = static_cast<std::uint32_t>(1 + random.bounded(longest));
    const std::uint64_t share = random.bounded(4);
    std::vector<Place> to;
    for (TileId tile = 0; tile < tiles; ++tile) {
      if (tile == source || random.bounded(4) > share) continue;
      to.push_back({tile, next[tile]});
      next[tile] += words;
    }
    list.add({source, static_cast<std::uint32_t>(random.bounded(5000))}, words, to.data(),
             to.data() + to.size());
  }
  return list;
}

TEST(ExchangePlan, OneTransferLastsItsWordsAndTheLatency) {
  TransferList list;
  list.add({0, 7}, 40, {{2, 9}});
  const ExchangePlan plan = plan_exchange(flat(4), list);
  EXPECT_EQ(plan.length, 50U);
  EXPECT_EQ(plan.sends.at(0).start, 0U);
  EXPECT_EQ(plan.receives.at(0).start, 10U);
  EXPECT_TRUE(test::carries(flat(4), list, plan));
}

TEST(ExchangePlan, AMulticastIsSentOnce) {
  TransferList list;
  list.add({0, 0}, 40, {{2, 0}, {5, 0}, {7, 8}});
  const ExchangePlan plan = plan_exchange(flat(8), list);
  EXPECT_EQ(plan.sends.size(), 1U);
  EXPECT_EQ(plan.traffic[0].sent, 40U);
  EXPECT_EQ(plan.traffic[2].received + plan.traffic[5].received + plan.traffic[7].received, 120U);
  EXPECT_EQ(plan.length, 50U);
}

TEST(ExchangePlan, APairReceivesOneStreamAtTwoWordsACycle) {
  TransferList list;
  list.add({0, 0}, 400, {{2, 0}, {3, 0}, {6, 0}, {7, 0}});
  const ExchangePlan plan = plan_exchange(flat(8), list);
  EXPECT_EQ(plan.length, 210U);  // 400 words at two a cycle, and 10
  EXPECT_TRUE(test::carries(flat(8), list, plan));
}

TEST(ExchangePlan, OneTileOfAPairReceivesOneWordACycle) {
  TransferList list;
  list.add({0, 0}, 400, {{2, 0}, {6, 0}});
  EXPECT_EQ(plan_exchange(flat(8), list).length, 410U);
}

TEST(ExchangePlan, ThePartnerListensTooIfItHasScratchMemory) {
  TransferList list;
  list.scratch = 5000;
  list.add({0, 0}, 400, {{2, 0}, {6, 0}, {7, 0}});
  const ExchangePlan plan = plan_exchange(flat(8), list);
  EXPECT_EQ(plan.length, 210U);  // as if tile 3 needed it
  EXPECT_EQ(plan.traffic[3].received, 400U);
  EXPECT_TRUE(test::carries(flat(8), list, plan));
}

TEST(ExchangePlan, TheSourceIsNobodysPartner) {
  TransferList list;
  list.scratch = 5000;
  list.add({0, 0}, 400, {{1, 0}});
  EXPECT_EQ(plan_exchange(flat(8), list).length, 410U);
}

TEST(ExchangePlan, NothingIsSentBeforeTheEntryIsOver) {
  ChipParams params = flat(4);
  params.exchange.entry = 190U;
  TransferList list;
  list.add({0, 7}, 40, {{2, 9}});
  const ExchangePlan plan = plan_exchange(params, list);
  EXPECT_EQ(plan.sends.at(0).start, 190U);
  EXPECT_EQ(plan.length, 240U);  // 190 + 40 + 10
  EXPECT_TRUE(test::carries(params, list, plan));
}

TEST(ExchangePlan, ManySmallFragmentsTakeThreeCyclesEachToReceive) {
  TransferList list;
  for (std::uint32_t i = 0; i < 100; ++i) list.add({i % 3, 5 * i}, 1, {{3, i}});
  const ExchangePlan plan = plan_exchange(flat(4), list);
  EXPECT_EQ(plan.length, 10U + 99U * 3U + 1U);
  EXPECT_TRUE(test::carries(flat(4), list, plan));
}

// Elements of 256 words. Tile 0 sends words 7 to 86 in cycles 0 to 79, and receives words 240 to
// 339 in 10 to 109, of which those up to 255 in 10 to 25 are in the same element. Tile 2 sends
// words 200 to 299, from 256 on in cycles 56 to 99, and receives 300 to 379 in 10 to 89.
TEST(ExchangePlan, CountsCyclesThatSendFromTheElementTheyReceiveInto) {
  ChipParams params = flat(4);
  params.tile.memory.element.kib = 1U;
  TransferList list;
  list.add({0, 7}, 80, {{2, 300}});
  list.add({2, 200}, 100, {{0, 240}});
  const ExchangePlan plan = plan_exchange(params, list);
  EXPECT_EQ(plan.traffic[0].conflicts, 16U);
  EXPECT_EQ(plan.traffic[2].conflicts, 34U);
  params.tile.memory.element.plain_kib = 1U;  // the rest is interleaved: two ports
  const ExchangePlan interleaved = plan_exchange(params, list);
  EXPECT_EQ(interleaved.traffic[0].conflicts, 16U);
  EXPECT_EQ(interleaved.traffic[2].conflicts, 0U);
}

// Elements of 512 words of which 1 KiB, half of the first, is plain. Tile 0 sends words 7 to 86 in
// cycles 0 to 79, and receives words 240 to 339 in 10 to 109: those up to 255 in 10 to 25.
TEST(ExchangePlan, CountsNoConflictInTheInterleavedPartOfAnElement) {
  ChipParams params = flat(4);
  params.tile.memory.element.kib = 2U;
  params.tile.memory.element.plain_kib = 1U;
  TransferList list;
  list.add({0, 7}, 80, {{2, 300}});
  list.add({2, 200}, 100, {{0, 240}});
  EXPECT_EQ(plan_exchange(params, list).traffic[0].conflicts, 16U);
}

TEST(ExchangePlan, AllToAllKeepsEveryPortBusy) {
  TransferList list;
  for (TileId s = 0; s < 16; ++s) {
    for (TileId r = 0; r < 16; ++r) {
      if (s != r) list.add({s, r * 20}, 20, {{r, 1000 + s * 20}});
    }
  }
  const ExchangePlan plan = plan_exchange(flat(16), list);
  EXPECT_EQ(plan.length, 10U + 15U * 20U);
  EXPECT_TRUE(test::carries(flat(16), list, plan));
}

TEST(ExchangePlan, RefusesATransferToItsOwnSource) {
  TransferList list;
  list.add({1, 0}, 4, {{2, 0}, {1, 8}});
  EXPECT_THROW(plan_exchange(flat(4), list), InternalError);
}

TEST(ExchangePlan, RandomMulticastsArriveWholeOnTheFloorPlan) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    ChipParams params;
    params.ipu.tiles = static_cast<unsigned>(2 + seed % 13);
    params.exchange.control_events = static_cast<unsigned>(seed % 5);
    params.exchange.paired_words = static_cast<unsigned>(2 + 30 * (seed % 3));
    params.exchange.entry = static_cast<unsigned>(seed % 4 * 50);
    TransferList list = random_list(params.ipu.tiles, 60, 80, seed);
    if (seed % 2 == 0) list.scratch = 1'000'000;
    EXPECT_TRUE(test::carries(params, list, plan_exchange(params, list)));
  }
}

TEST(ExchangePlan, IsTheSameEachTime) {
  const ChipParams params;
  const TransferList list = random_list(40, 300, 50, 3);
  const ExchangePlan a = plan_exchange(params, list);
  const ExchangePlan b = plan_exchange(params, list);
  ASSERT_EQ(a.receives.size(), b.receives.size());
  for (std::size_t i = 0; i < a.receives.size(); ++i) {
    EXPECT_EQ(a.receives[i].start, b.receives[i].start);
    EXPECT_EQ(a.receives[i].address, b.receives[i].address);
  }
}

}  // namespace
}  // namespace lacuna::ipu
