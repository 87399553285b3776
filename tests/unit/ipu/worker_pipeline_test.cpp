// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/worker_pipeline.hpp"

#include <gtest/gtest.h>

namespace lacuna::ipu {
namespace {

TileParams tile(unsigned workers, unsigned issue_interval) {
  TileParams params;
  params.workers = workers;
  params.issue_interval = issue_interval;
  return params;
}

TEST(WorkerPipeline, HasASlotForEachWorkerAndAsManyAsItIsDeep) {
  EXPECT_EQ(WorkerPipeline(tile(6, 6)).slots(), 6U);
  EXPECT_EQ(WorkerPipeline(tile(2, 6)).slots(), 6U);
  EXPECT_EQ(WorkerPipeline(tile(8, 6)).slots(), 8U);
}

// Bundle i of worker w is issued in clock 6 i + w: the third of worker 4 in 6 * 2 + 4 = 16.
TEST(WorkerPipeline, ServesWorkersInTurn) {
  const WorkerPipeline pipeline(6);
  EXPECT_EQ(pipeline.exit(4, 3), 16U);
  EXPECT_EQ(pipeline.clocks(3), 18U);
}

// The longest worker has 5 bundles, 30 clocks; the shortest 2, so that the supervisor works ahead
// from clock 12 on: 10 clocks are over before the longest is, 25 last until 37.
TEST(WorkerPipeline, TheSupervisorGoesOnWhenWorkersAndWhatItDidAheadAreOver) {
  const WorkerPipeline pipeline(6);
  EXPECT_EQ(pipeline.set(5, 2, 0), 30U);
  EXPECT_EQ(pipeline.set(5, 2, 10), 30U);
  EXPECT_EQ(pipeline.after_workers(5, 2, 10), 0U);
  EXPECT_EQ(pipeline.set(5, 2, 25), 37U);
  EXPECT_EQ(pipeline.after_workers(5, 2, 25), 7U);
}

}  // namespace
}  // namespace lacuna::ipu
