// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "sim/driver/system/scaling.hpp"

namespace lacuna {
namespace {

system::TrainingParams training_of_16_chips() {
  system::TrainingParams training;
  training.pipeline = 4;
  training.replicas = 4;
  training.rts_state = 4;
  training.accumulation = 96;
  return training;
}

// 4 x 96 micro-batches: 16 replicas of 64 chips do 24 each, one of 4 chips does all 384.
TEST(SystemScaling, TheBatchStaysAndIsSpreadOverAllChips) {
  const system::TrainingParams more = spread_over(training_of_16_chips(), 64);
  EXPECT_EQ(more.replicas, 16U);
  EXPECT_EQ(more.accumulation, 24U);
  EXPECT_EQ(more.rts_state, 16U);
  EXPECT_EQ(more.rts, 1U);
  EXPECT_EQ(spread_over(training_of_16_chips(), 4).accumulation, 384U);
}

TEST(SystemScaling, WhatDoesNotComeOutEvenIsRefused) {
  EXPECT_THROW(spread_over(training_of_16_chips(), 2), RequestError);
  EXPECT_THROW(spread_over(training_of_16_chips(), 20), RequestError);
}

}  // namespace
}  // namespace lacuna
