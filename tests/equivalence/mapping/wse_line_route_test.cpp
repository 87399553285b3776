// SPDX-License-Identifier: Apache-2.0
// Vectors that routers pass along a line, from one core or to one: what arrives and when.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim/base/random.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/line_route.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

const LayerSetup kRouteSetup;  // 8 cycles to start a move of two descriptors

std::optional<TaskProgram> routed(const std::vector<LineVector>& vectors, std::uint32_t cores,
                                  bool ahead = true, Element element = Element::fp16) {
  return route_along(vectors, cores, Direction::columns, ahead, element, kRouteSetup);
}

// As to a neighbour: 8 to start, 6 from beat to beat, 4 words; and each router between is one more
// link: 18 + 1, and 18 + 9 to the eleventh core.
TEST(LineRoute, ARouterBetweenCostsALink) {
  EXPECT_EQ(run_tasks(*routed({{0, 2, 8, 0, 0}}, 3)).cycles, 19U);
  EXPECT_EQ(run_tasks(*routed({{0, 10, 8, 0, 0}}, 11)).cycles, 27U);
  EXPECT_EQ(run_tasks(*routed({{10, 0, 8, 0, 0}}, 11, false)).cycles, 27U);
}

// From core 0, four words for core 3 in 8 to 11, then, after 8 cycles of start, four for core 1 in
// 20 to 23, which takes them six later: 30. Core 3 has its own in 16 to 19.
TEST(LineRoute, FromOneCoreEachTakesItsOwnOfAStream) {
  EXPECT_EQ(run_tasks(*routed({{0, 1, 8, 0, 0}, {0, 3, 8, 16, 0}}, 4)).cycles, 30U);
}

// Core 1's four words are at core 3 in 15 to 18, those of core 0 wait at router 1 for its last, and
// then for the second instruction of core 3, which starts in 19 and takes them in 27 to 30.
TEST(LineRoute, ToOneCoreTheNearestGoesFirst) {
  EXPECT_EQ(run_tasks(*routed({{0, 3, 8, 0, 0}, {1, 3, 8, 0, 16}}, 4)).cycles, 31U);
}

TEST(LineRoute, IsForOneCoreAndNotForNeighbours) {
  EXPECT_FALSE(routed({{0, 1, 8, 0, 0}}, 2));                   // a link is all there is
  EXPECT_FALSE(routed({{0, 2, 8, 0, 0}, {1, 3, 8, 0, 0}}, 4));  // two from, two to
  EXPECT_FALSE(routed({{2, 0, 8, 0, 0}}, 3));                   // the other way
  EXPECT_TRUE(routed({{2, 0, 8, 0, 0}}, 3, false));
}

struct RouteScenario {
  std::uint32_t cores = 0;
  bool fp32 = false;
  bool ahead = true;
  std::vector<LineVector> vectors;
};

constexpr std::uint32_t kHalf = 512;  // bytes that are sent, and as many that are taken

/// One core and others on one side of it, each with a vector or two.
RouteScenario route_scenario(std::uint64_t seed) {
  Random random(stream_seed(seed, "line route"));
  RouteScenario s;
  s.cores = 3 + static_cast<std::uint32_t>(random.bounded(12));
  s.fp32 = random.bounded(2) == 0;
  s.ahead = random.bounded(2) == 0;
  const bool from_one = random.bounded(2) == 0;
  const std::uint32_t low = 0;
  const std::uint32_t high = s.cores - 1;
  const std::uint32_t one = from_one == s.ahead ? low : high;
  std::vector<std::uint32_t> used(s.cores, 0);  // bytes of the other half, by core
  const auto take = [&](std::uint32_t core) {
    used[core] += 32;
    return used[core] - 32;
  };
  const std::uint64_t count = 1 + random.bounded(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint32_t other = static_cast<std::uint32_t>(random.bounded(s.cores));
    if (i == 0) other = one == low ? high : low;
    if (other == one) continue;
    LineVector v;
    v.from = from_one ? one : other;
    v.to = from_one ? other : one;
    v.length = 1 + static_cast<std::uint32_t>(random.bounded(8));
    v.from_at = take(v.from);
    v.to_at = kHalf + take(v.to);
    s.vectors.push_back(v);
  }
  return s;
}

DType routed_type(const RouteScenario& s) { return s.fp32 ? DType::fp32 : DType::fp16; }
float routed_value(std::uint32_t core, std::uint64_t i) {
  return static_cast<float>(1 + core * 64 + i % 64);
}

TEST(LineRoute, EveryElementArrivesInBothEnginesWhateverTheOrderAndTheDelays) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const RouteScenario s = route_scenario(seed);
    const unsigned size = s.fp32 ? 4 : 2;
    auto program = routed(s.vectors, s.cores, s.ahead, s.fp32 ? Element::fp32 : Element::fp16);
    ASSERT_TRUE(program);
    WaferMemory memory(s.cores, std::vector<std::uint8_t>(2 * kHalf, 0));
    for (std::uint32_t core = 0; core < s.cores; ++core) {
      for (std::uint64_t i = 0; i < kHalf / size; ++i) {
        store(memory[core], 0, i, routed_type(s), routed_value(core, i));
      }
    }
    program->memory = memory;
    for (const Cycle jitter : {Cycle{0}, Cycle{5}}) {
      const TaskOutcome expected = run_tasks(*program, Engine::clocked, 0, jitter);
      const TaskOutcome actual = run_tasks(*program, Engine::event, seed, jitter);
      EXPECT_EQ(actual.cycles, expected.cycles);
      EXPECT_EQ(actual.events, expected.events);
      for (const LineVector& v : s.vectors) {
        for (std::uint32_t i = 0; i < v.length; ++i) {
          EXPECT_EQ(load(actual.memory[v.to], v.to_at, i, routed_type(s)),
                    routed_value(v.from, v.from_at / size + i));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
