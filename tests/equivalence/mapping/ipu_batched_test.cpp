// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "workloads/mapping/ipu/batched.hpp"

namespace lacuna {
namespace {

using test::pick;
using test::run_both;

struct BatchedScenario {
  LayerOp op;
  std::optional<Mask> mask;
  unsigned tiles = 0;
  std::string text;
};

BatchedScenario batched_scenario(std::uint64_t seed) {
  Random random(seed);
  const auto upto = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  BatchedScenario s;
  s.tiles = pick(random, std::vector<unsigned>{2, 6, 16, 30, 64});
  s.op.id = "row";
  s.op.op = pick(random, std::vector<std::string>{"gemm", "bmm"});
  s.op.m = upto(48);
  s.op.k = upto(48);
  s.op.n = upto(30);
  s.op.batch = 2 + upto(14);
  s.op.dtype = pick(random, std::vector<DType>{DType::fp16, DType::fp32});
  if (random.bounded(2) == 0) {
    s.op.mode = pick(random, std::vector<Mode>{Mode::static_, Mode::dynamic});
    Mask mask{s.op.m, s.op.k, 1, 1, {0}, {}};
    for (std::uint32_t row = 0; row < mask.rows; ++row) {
      for (std::uint32_t column = 0; column < mask.cols; ++column) {
        if (random.bounded(5) == 0) mask.columns.push_back(column);
      }
      mask.offsets.push_back(mask.columns.size());
    }
    s.mask = mask;
  }
  s.text = s.op.op + " " + std::to_string(s.op.m) + "x" + std::to_string(s.op.k) + "x" +
           std::to_string(s.op.n) + " x " + std::to_string(s.op.batch) + " " + word(s.op.dtype) +
           " " + word(s.op.mode) + ", " + std::to_string(s.tiles) + " tiles";
  return s;
}

OpResult run_batched(const BatchedScenario& s, const Execution& execution) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", std::to_string(s.tiles), "");
  return machine->run(s.op, s.mask ? &*s.mask : nullptr, 7, execution);
}

class IpuBatch : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(IpuBatch, AllInstancesAreRightAndNeitherEngineNorOrderNorValuesChangeTheCycles) {
  const BatchedScenario scenario = batched_scenario(GetParam());
  SCOPED_TRACE(scenario.text);
  const auto [event, reference] = run_both(
      [&](const Execution& execution) { return run_batched(scenario, execution); }, GetParam());
  const LayerOp& op = scenario.op;
  const std::uint64_t kept = scenario.mask ? scenario.mask->nnz() : std::uint64_t{op.m} * op.k;
  EXPECT_EQ(event.mac_useful, kept * op.n * op.batch);
  EXPECT_EQ(event.mac_algorithmic, std::uint64_t{op.m} * op.k * op.n * op.batch);
  ASSERT_TRUE(reference.values);
  EXPECT_EQ(reference.values->compared, std::uint64_t{op.m} * op.n * op.batch);
  EXPECT_EQ(reference.values->wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Random, IpuBatch, ::testing::Range(std::uint64_t{1}, std::uint64_t{61}));

// 48 instances on 1472 tiles: in one round 48 groups of 30 tiles (30.67 rounded down to pairs), in
// two 24 of 60 (61.33), and so on; in the end one after another on all tiles.
TEST(BatchPlans, GroupsOfEvenNumbersOfTilesShareTheInstances) {
  const std::vector<ipu::BatchPlan> plans = ipu::batch_plans(48, 1472);
  ASSERT_GE(plans.size(), 3U);
  EXPECT_EQ(plans[0].groups, 48U);
  EXPECT_EQ(plans[0].tiles, 30U);
  EXPECT_EQ(plans[1].rounds, 2U);
  EXPECT_EQ(plans[1].groups, 24U);
  EXPECT_EQ(plans[1].tiles, 60U);
  EXPECT_EQ(plans.back().groups, 1U);
  for (const ipu::BatchPlan& plan : plans) {
    EXPECT_LE(plan.groups * plan.tiles, 1472U);
    EXPECT_GE(plan.groups * plan.rounds, 48U);
    EXPECT_LT(plan.groups * (plan.rounds - 1), 48U);
  }
}

TEST(BatchPlans, MoreInstancesThanTilesCanTakeInSixtyFourRoundsHaveATileEach) {
  const std::vector<ipu::BatchPlan> plans = ipu::batch_plans(1000, 4);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].groups, 4U);
  EXPECT_EQ(plans[0].rounds, 250U);
}

}  // namespace
}  // namespace lacuna
