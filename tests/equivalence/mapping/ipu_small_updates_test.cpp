// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "models/common/fp16.hpp"
#include "tests/support/ipu/chip_bench.hpp"
#include "workloads/mapping/ipu/operation.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint32_t kSide = 64;
constexpr unsigned kTiles = 4;

/// The mean of weights of 1 in FP16 after a step down by 2^-13, a quarter of the distance to the
/// next number below; all other words of the tiles' memories are zero, as are the steps of the
/// moments.
double mean_after_a_small_step(RoundMode round, Engine engine) {
  ChipParams chip;
  chip.ipu.tiles = kTiles;
  LayerOp op;
  op.id = "row";
  op.op = "optim";
  op.fn = "sgd";  // w - 0.125 g
  op.m = op.k = kSide;
  op.n = 0;
  op.dtype = DType::fp32;
  op.args = {{"weights", "fp16"}};
  const PlannerParams planner;
  PlannedOperation planned = plan_operation({chip, planner, op, nullptr, 1, true});
  Program& program = planned.lowered.program;
  program.round = round;
  program.round_seed = 5;
  const std::uint32_t ones = to_half(1) * 0x10001U;
  const std::uint32_t steps = to_half(0x1p-10F) * 0x10001U;
  for (Image& image : program.images) {
    std::fill(image.words.begin(), image.words.end(), image.place.address == 0 ? ones : steps);
  }
  const Outcome outcome = simulate({chip, program}, {engine, engine});
  double sum = 0;
  for (const auto& memory : outcome.memories) {
    for (std::uint32_t w = 0; w < kSide * kSide / kTiles / 2; ++w) {
      sum += to_float(static_cast<Half>(memory[w] & 0xffffU));
      sum += to_float(static_cast<Half>(memory[w] >> 16U));
    }
  }
  return sum / (kSide * kSide);
}

TEST(SmallUpdates, AreLostWhenRoundedToNearestAndSurviveOnAverageWhenRoundedByChance) {
  for (const Engine engine : {Engine::event, Engine::clocked}) {
    EXPECT_EQ(mean_after_a_small_step(RoundMode::nearest, engine), 1.0);
    // Each of 4096 weights goes down by 2^-11 with a chance of 1/4: a deviation of the mean of
    // 2^-11 sqrt(3/16) / 64 = 3.3e-6; within five of them.
    const double mean = mean_after_a_small_step(RoundMode::stochastic, engine);
    EXPECT_NEAR(mean, 1 - 0x1p-13, 1.7e-5);
    EXPECT_LT(mean, 1.0);
  }
  EXPECT_EQ(mean_after_a_small_step(RoundMode::stochastic, Engine::event),
            mean_after_a_small_step(RoundMode::stochastic, Engine::clocked));
}

}  // namespace
}  // namespace lacuna::ipu
