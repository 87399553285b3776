// SPDX-License-Identifier: Apache-2.0
#include "models/system/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "tests/support/system/random_segment.hpp"

namespace lacuna {
namespace {

using system::Fabric;
using system::Segment;
using system::SegmentResult;
using system::SystemExecution;
using system::SystemParams;
using system::Topology;

void expect_same(const SegmentResult& a, const SegmentResult& b) {
  EXPECT_EQ(a.ns, b.ns);
  EXPECT_EQ(a.chips, b.chips);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.busy_ns, b.busy_ns);
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    ASSERT_EQ(a.events[i], b.events[i]) << "event " << i << " in cycle " << a.events[i].cycle;
  }
}

/// All combinations of engine and order of stepping, with and without random delays.
void compare(const SystemParams& params, std::uint64_t seed) {
  const Fabric fabric(params);
  const Segment segment = test::random_segment(params, seed);
  SystemExecution clocked;
  clocked.engine = Engine::clocked;
  clocked.event_log = true;
  clocked.jitter = seed % 3 == 0 ? 0 : 37;
  clocked.jitter_seed = seed;
  const SegmentResult expected = run_segment(params, fabric, segment, clocked);
  EXPECT_FALSE(expected.events.empty());
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    SystemExecution other = clocked;
    other.engine = engine;
    other.shuffle = seed + 1;
    expect_same(expected, run_segment(params, fabric, segment, other));
  }
  SystemExecution event = clocked;
  event.engine = Engine::event;
  const SegmentResult fast = run_segment(params, fabric, segment, event);
  expect_same(expected, fast);
  EXPECT_LT(fast.steps, expected.steps);
}

std::uint64_t most_seeds() { return std::getenv("LACUNA_LONG") != nullptr ? 200 : 6; }

TEST(SystemEngines, NeitherEngineNorOrderChangesALadderOfEightChips) {
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) compare(test::small_system(8), seed);
}

TEST(SystemEngines, NeitherEngineNorOrderChangesATorusOfEightChips) {
  const SystemParams params = test::small_system(8, 64, Topology::torus);
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) compare(params, 100 + seed);
}

TEST(SystemEngines, NeitherEngineNorOrderChangesTwoDomainsOfFourChips) {
  const SystemParams params = test::small_system(8, 4);
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) compare(params, 200 + seed);
}

TEST(SystemEngines, EveryNanosecondOfEveryChipIsBookedOnce) {
  const SystemParams params = test::small_system(8);
  const Fabric fabric(params);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SegmentResult result =
        run_segment(params, fabric, test::random_segment(params, seed), {});
    for (const system::TimeStack& chip : result.chips) {
      EXPECT_EQ(std::accumulate(chip.begin(), chip.end(), std::uint64_t{0}), result.ns);
    }
  }
}

}  // namespace
}  // namespace lacuna
