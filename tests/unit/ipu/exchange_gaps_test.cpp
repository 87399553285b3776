// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "models/ipu/exchange/gaps.hpp"
#include "models/ipu/exchange/streams.hpp"

namespace lacuna::ipu {
namespace {

/// Eight tiles, 10 cycles from each to each, one event for the control of a fragment.
ChipParams flat() {
  ChipParams params;
  params.ipu.tiles = 8U;
  params.exchange.latency = LatencyModel::constant;
  params.exchange.constant_latency = 10U;
  params.exchange.control_events = 1U;
  return params;
}

struct Exchange {
  ChipParams params;
  TransferList list;

  /// The schedule in which train t, by its source, starts in cycle starts[t].
  Schedule at(const StreamList& streams, const std::vector<std::uint32_t>& starts) const {
    Schedule schedule;
    schedule.receivers = streams.receivers;
    for (std::uint32_t t = 0; t < streams.trains.size(); ++t) {
      const Train& train = streams.trains[t];
      schedule.emissions.push_back({t, starts.at(t), train.first, train.count});
      schedule.length = std::max<Cycle>(schedule.length, starts.at(t) + 10 + train.held);
    }
    return schedule;
  }

  Schedule closed(const std::vector<std::uint32_t>& starts) const {
    const StreamList streams = make_streams(params, list);
    const LatencyTable latencies(params);
    Schedule schedule = at(streams, starts);
    close_gaps(params, latencies, streams, lower_bound(params, latencies, streams), schedule);
    return schedule;
  }
};

TEST(ExchangeGaps, WhatIsLateMovesToWhereAllAreFree) {
  // 0 -> 4 takes tile 4 in cycles 10 to 30, 1 -> 4 in 100 to 140: it moves to 30 to 70, so it
  // starts in cycle 20. No schedule of the 60 words that tile 4 receives could be shorter.
  Exchange exchange{flat(), {}};
  exchange.list.add({0, 0}, 20, {{4, 0}});
  exchange.list.add({1, 0}, 40, {{4, 20}});
  const Schedule schedule = exchange.closed({0, 90});
  ASSERT_EQ(schedule.emissions.size(), 2U);
  EXPECT_EQ(schedule.emissions.at(1).start, 20U);
  EXPECT_EQ(schedule.length, 70U);
}

TEST(ExchangeGaps, ASenderRepeatsWhatOneOfItsReceiversCanHearEarlier) {
  // 2 -> {4, 6} starts in cycle 100: 30 words, received in 110 to 140. Tile 4 is busy until 90 with
  // 80 words from 0, tile 6 until 30 with 20 from 1: so 4 hears it from cycle 90 on (start 80) and
  // 6 from cycle 30 on (start 20). Tile 4 is over last, in cycle 120.
  Exchange exchange{flat(), {}};
  exchange.list.add({0, 0}, 80, {{4, 0}});
  exchange.list.add({1, 0}, 20, {{6, 0}});
  exchange.list.add({2, 0}, 30, {{4, 80}, {6, 20}});
  const Schedule schedule = exchange.closed({0, 0, 100});
  EXPECT_EQ(schedule.length, 120U);
  std::vector<std::uint32_t> starts;
  for (const Emission& e : schedule.emissions) {
    if (e.train == 2) starts.push_back(e.start);
  }
  std::sort(starts.begin(), starts.end());
  EXPECT_EQ(starts, (std::vector<std::uint32_t>{20, 80}));
}

TEST(ExchangeGaps, APairMovesTogether) {
  // 0 -> {4, 5} at double width: 64 words in 32 cycles. Tile 5 is busy in cycles 10 to 90: the pair
  // hears it from 90 on though tile 4 could from cycle 10 on, so it starts in cycle 80 and ends in
  // 10 + 80 + 32 = 122.
  Exchange exchange{flat(), {}};
  exchange.params.exchange.paired_words = 64U;
  exchange.list.add({0, 0}, 64, {{4, 0}, {5, 0}});
  exchange.list.add({2, 0}, 80, {{5, 64}});
  const Schedule schedule = exchange.closed({150, 0});
  ASSERT_EQ(schedule.emissions.size(), 2U);
  EXPECT_EQ(schedule.emissions.at(1).start, 80U);
  EXPECT_EQ(schedule.emissions.at(1).count, 2U);
  EXPECT_EQ(schedule.length, 122U);
}

TEST(ExchangeGaps, LeavesAScheduleThatIsNearTheBound) {
  // Tile 4 receives 80 words: the bound is 10 + 80 less one event of control. A gap of 8 cycles is
  // less than an eighth of that.
  Exchange exchange{flat(), {}};
  exchange.list.add({0, 0}, 40, {{4, 0}});
  exchange.list.add({1, 0}, 40, {{4, 40}});
  EXPECT_EQ(exchange.closed({0, 48}).length, 98U);
}

}  // namespace
}  // namespace lacuna::ipu
