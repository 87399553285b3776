// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/ipu/exchange/schedule.hpp"
#include "models/ipu/exchange/streams.hpp"
#include "sim/base/random.hpp"
#include "tests/support/ipu/plain_schedule.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kGroup = 25;  // scenarios of one test

struct Scenario {
  ChipParams params;
  TransferList list;
};

/// Who receives from `source`: everyone with probability `share` of 8; the order is one of
/// ascending, whole pairs turned around, or any.
std::vector<TileId> receivers(unsigned tiles, TileId source, std::uint64_t share, unsigned order,
                              Random& random) {
  std::vector<TileId> to;
  for (TileId tile = 0; tile < tiles; ++tile) {
    const TileId turned = order == 1 && (tile ^ 1U) < tiles ? tile ^ 1U : tile;
    if (turned != source && random.bounded(8) < share) to.push_back(turned);
  }
  if (order != 2) return to;
  for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[random.bounded(i)]);
  return to;
}

/// Transfers of a few sizes, some tiles sending much and some receiving much, so that streams of
/// one sender follow each other, pairs are served at double width, and senders repeat.
Scenario scenario(std::uint64_t seed) {
  Random random(seed);
  Scenario result;
  ChipParams& params = result.params;
  const auto tiles = static_cast<unsigned>(2 + random.bounded(seed % 4 == 0 ? 200 : 30));
  params.ipu.tiles = tiles;
  params.exchange.control_events = static_cast<unsigned>(random.bounded(6));
  params.exchange.paired = random.bounded(4) != 0;
  params.exchange.paired_words = static_cast<unsigned>(2 + 30 * random.bounded(4));
  if (random.bounded(3) == 0) params.exchange.latency = LatencyModel::constant;
  params.exchange.constant_latency = static_cast<unsigned>(1 + random.bounded(255));
  if (random.bounded(2) == 0) result.list.scratch = 1'000'000;
  const std::uint64_t longest = 1 + random.bounded(random.bounded(2) == 0 ? 8 : 300);
  const std::uint64_t transfers = 1 + random.bounded(400);
  const std::uint64_t senders = 1 + random.bounded(tiles);
  for (std::uint64_t i = 0; i < transfers; ++i) {
    const auto source = static_cast<TileId>(random.bounded(senders));
    const std::uint64_t share = random.bounded(random.bounded(2) == 0 ? 2 : 9);
    const auto order = static_cast<unsigned>(random.bounded(3));
    std::vector<TileId> tiles_of = receivers(tiles, source, share, order, random);
    if (random.bounded(3) == 0 && !tiles_of.empty()) tiles_of.resize(1);
    std::vector<Place> to;
    to.reserve(tiles_of.size());
    for (const TileId tile : tiles_of) to.push_back({tile, static_cast<std::uint32_t>(i)});
    const auto words = static_cast<std::uint32_t>(1 + random.bounded(longest));
    for (std::uint64_t times = random.bounded(3); times < 3; ++times) {
      result.list.add({source, 0}, words, to.data(), to.data() + to.size());
    }
  }
  return result;
}

::testing::AssertionResult same_as_plain(const Scenario& s) {
  const LatencyTable latencies(s.params);
  const StreamList streams = make_streams(s.params, s.list);
  if (streams.streams.empty()) return ::testing::AssertionSuccess();
  const Cycle bound = lower_bound(s.params, latencies, streams);
  const Schedule expected = test::plain_schedule(s.params, latencies, streams, bound);
  const Schedule actual = schedule_trains(s.params, latencies, streams, bound);
  if (expected.length != actual.length || expected.emissions.size() != actual.emissions.size() ||
      expected.receivers.size() != actual.receivers.size()) {
    return ::testing::AssertionFailure()
           << "length " << actual.length << " in " << actual.emissions.size()
           << " emissions instead of " << expected.length << " in " << expected.emissions.size();
  }
  for (std::size_t i = 0; i < expected.emissions.size(); ++i) {
    const Emission& a = expected.emissions[i];
    const Emission& b = actual.emissions[i];
    if (a.train != b.train || a.start != b.start || a.first != b.first || a.count != b.count) {
      return ::testing::AssertionFailure() << "emission " << i << " differs";
    }
  }
  for (std::size_t d = 0; d < expected.receivers.size(); ++d) {
    const TrainReceiver& a = expected.receivers[d];
    const TrainReceiver& b = actual.receivers[d];
    if (a.tile != b.tile || a.position != b.position) {
      return ::testing::AssertionFailure() << "receiver " << d << " differs";
    }
  }
  return ::testing::AssertionSuccess();
}

class ScheduleEquivalence : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ScheduleEquivalence, IsTheScheduleOfThePlainScheduler) {
  for (std::uint64_t seed = GetParam() * kGroup; seed < (GetParam() + 1) * kGroup; ++seed) {
    ASSERT_TRUE(same_as_plain(scenario(seed))) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ScheduleEquivalence, ::testing::Range<std::uint64_t>(0, 8));

// More than 200,000 receivers, for which fewer ways are tried.
TEST(ScheduleEquivalence, IsThatOfThePlainSchedulerInALargeExchange) {
  Random random(1);
  Scenario s;
  s.params.ipu.tiles = 900U;
  for (unsigned i = 0; i < 7000; ++i) {
    std::vector<Place> to;
    const auto source = static_cast<TileId>(random.bounded(900));
    for (auto tile = static_cast<TileId>(random.bounded(60)); tile < 900;
         tile += static_cast<TileId>(1 + random.bounded(55))) {
      if (tile != source) to.push_back({tile, i});
    }
    s.list.add({source, 0}, static_cast<std::uint32_t>(1 + random.bounded(20)), to.data(),
               to.data() + to.size());
  }
  ASSERT_GT(make_streams(s.params, s.list).receivers.size(), 200'000U);
  EXPECT_TRUE(same_as_plain(s));
}

}  // namespace
}  // namespace lacuna::ipu
