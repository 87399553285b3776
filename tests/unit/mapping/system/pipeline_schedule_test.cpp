// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/pipeline_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "sim/base/mix.hpp"

namespace lacuna {
namespace {

using system::MicroBatchPass;
using system::StageCycles;

/// "F0 F1 B0 ..." of one stage.
std::string of_stage(const std::vector<MicroBatchPass>& order, std::size_t stage) {
  std::string text;
  for (const MicroBatchPass& pass : order) {
    if (pass.stage != stage) continue;
    if (!text.empty()) text += ' ';
    text += (pass.forward ? 'F' : 'B') + std::to_string(pass.micro_batch);
  }
  return text;
}

// Of 3 stages, alike, the first has 3 micro-batches under way, the second 2, the last 1.
TEST(PipelineSchedule, AStageHasAsManyMicroBatchesAsStagesFromItOn) {
  const std::vector<StageCycles> stages = {{0, 10, 10}, {1, 10, 10}, {2, 10, 10}};
  const std::vector<MicroBatchPass> order = system::schedule_of(stages, 5, true, true);
  EXPECT_EQ(of_stage(order, 0), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
  EXPECT_EQ(of_stage(order, 1), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
  EXPECT_EQ(of_stage(order, 2), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
}

TEST(PipelineSchedule, OneDirectionAloneHasNoLimit) {
  const std::vector<StageCycles> stages = {{0, 10, 10}, {1, 30, 30}};
  EXPECT_EQ(of_stage(system::schedule_of(stages, 4, true, false), 0), "F0 F1 F2 F3");
  EXPECT_EQ(of_stage(system::schedule_of(stages, 4, false, true), 0), "B0 B1 B2 B3");
}

// Random stages, the last on the chip of the first: whatever a pass needs is before it, all order
// are there once, and no stage has more under way than it may.
TEST(PipelineSchedule, EveryPassStandsBehindThoseItNeeds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<StageCycles> stages;
    const auto count = static_cast<unsigned>(2 + mix(seed) % 6);
    for (unsigned s = 0; s < count; ++s) {
      stages.push_back(
          {s + 1 == count ? 0 : s, mix(seed * 100 + s) % 50, mix(seed * 200 + s) % 90});
    }
    const std::vector<MicroBatchPass> order = system::schedule_of(stages, 12, true, true);
    ASSERT_EQ(order.size(), 2U * 12 * count);
    std::set<std::tuple<bool, std::size_t, std::uint64_t>> done;
    std::vector<std::size_t> under_way(count);
    for (const auto& [forward, s, m] : order) {
      const bool needs = !forward || s > 0;
      const auto needed = forward ? std::make_tuple(true, s - 1, m)
                                  : std::make_tuple(s + 1 == count, s + 1 == count ? s : s + 1, m);
      ASSERT_TRUE(!needs || done.count(needed) == 1);
      ASSERT_TRUE(done.insert({forward, s, m}).second);
      forward ? ++under_way[s] : --under_way[s];
      ASSERT_LE(under_way[s], count - s);
    }
  }
}

}  // namespace
}  // namespace lacuna
