// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna::test {
namespace {

/// A product of 64 x 128 x 24; sparse modes keep all blocks of 4.
struct Case {
  const char* name;
  Mode mode;
  DType dtype;
  const char* machine;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

OpResult run(const Case& c, const char* round, double sigma, Engine engine) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("bow");
  machine->set("ipu.tiles", "16", "test");
  machine->set("round", round, "test");
  if (c.dtype == DType::fp8) machine->set("tile.amp.fp8_macs", "128", "test");
  LayerOp op;
  op.id = "gemm";
  op.op = "gemm";
  op.m = 64;
  op.k = 128;
  op.n = 24;
  op.mode = c.mode;
  op.dtype = c.dtype;
  const Mask mask = dense_mask(64, 128).blocked(4, 4);
  Execution execution;
  execution.engine = engine;
  execution.values = true;
  execution.sigma = sigma;
  return machine->run(op, c.mode == Mode::automatic ? nullptr : &mask, 5, execution);
}

std::map<std::string, std::uint64_t> counters(const OpResult& result) {
  std::map<std::string, std::uint64_t> all;
  for (const StatEntry& entry : result.statistics) all[entry.path + '.' + entry.name] = entry.value;
  return all;
}

class IpuNumerics : public ::testing::TestWithParam<Case> {};

TEST_P(IpuNumerics, RoundingStochasticallyChangesNoCycleAndNoCounterButItsOwn) {
  const OpResult nearest = run(GetParam(), "nearest", 1, Engine::event);
  const OpResult stochastic = run(GetParam(), "stochastic", 1, Engine::event);
  EXPECT_EQ(nearest.cycles, stochastic.cycles);
  auto before = counters(nearest);
  auto after = counters(stochastic);
  EXPECT_EQ(before["tile.random_bits"], 0U);
  EXPECT_EQ(after["tile.random_bits"], 32 * after["tile.rounded_fp16"]);
  before.erase("tile.random_bits");
  after.erase("tile.random_bits");
  EXPECT_EQ(before, after);
}

TEST_P(IpuNumerics, EnginesRoundAlike) {
  for (const char* const round : {"nearest", "stochastic"}) {
    const OpResult event = run(GetParam(), round, 0.5, Engine::event);
    const OpResult clocked = run(GetParam(), round, 0.5, Engine::clocked);
    EXPECT_EQ(event.values->rms_error, clocked.values->rms_error) << round;
    EXPECT_EQ(event.values->largest_error, clocked.values->largest_error) << round;
    EXPECT_EQ(event.values->underflows, clocked.values->underflows) << round;
  }
}

TEST_P(IpuNumerics, ProductsOfNormalAndOfIntegerValuesAreRight) {
  for (const double sigma : {0.0, 0.01, 1.0}) {
    const OpResult result = run(GetParam(), "nearest", sigma, Engine::event);
    EXPECT_EQ(result.values->compared, 64U * 24U);
    EXPECT_EQ(result.values->wrong, 0U) << sigma;
    EXPECT_EQ(result.values->not_finite, 0U) << sigma;
    EXPECT_EQ(result.values->rms_error > 0, sigma > 0) << sigma;
  }
}

// Products of numbers near 1000 pass the largest half, 65504; in FP32 they are far from its end.
TEST_P(IpuNumerics, OverflowsAreCountedAndAreNoMistake) {
  const OpResult result = run(GetParam(), "nearest", 1000, Engine::event);
  EXPECT_EQ(result.values->overflows > 0, GetParam().dtype == DType::fp16);
  EXPECT_EQ(result.values->wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, IpuNumerics,
                         ::testing::Values(Case{"DenseHalf", Mode::automatic, DType::fp16, "bow"},
                                           Case{"StaticHalf", Mode::static_, DType::fp16, "bow"},
                                           Case{"DynamicHalf", Mode::dynamic, DType::fp16, "bow"},
                                           Case{"DenseSingle", Mode::automatic, DType::fp32, "bow"},
                                           Case{"StaticSingle", Mode::static_, DType::fp32, "bow"},
                                           Case{"DynamicSingle", Mode::dynamic, DType::fp32,
                                                "bow"}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(IpuNumericsOfBytes, AProductOfFp8OperandsIsRight) {
  const Case fp8{"DenseBytes", Mode::automatic, DType::fp8, "c600"};
  for (const double sigma : {0.0, 0.5}) {
    const OpResult result = run(fp8, "nearest", sigma, Engine::event);
    EXPECT_EQ(result.values->wrong, 0U) << sigma;
    EXPECT_EQ(result.values->not_finite, 0U) << sigma;
  }
}

}  // namespace
}  // namespace lacuna::test
