// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/seeds.hpp"

namespace lacuna {
namespace {

using test::pick;
using test::run_both;

/// The backward of a sparse layer on a small chip: W^T dY, or the kept elements of dY X^T.
struct BackwardScenario {
  LayerOp op;
  Mask mask;
  unsigned tiles = 0;
  std::string text;
};

Mask drawn_mask(Random& random, std::uint32_t rows, std::uint32_t cols, std::uint32_t block,
                std::uint64_t percent) {
  Mask mask{rows, cols, block, block, {0}, {}};
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    for (std::uint32_t column = 0; column < mask.grid_cols(); ++column) {
      if (random.bounded(100) < percent) mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

BackwardScenario backward_scenario(std::uint64_t seed, const std::string& op, Mode mode) {
  Random random(seed);
  BackwardScenario s;
  s.tiles = pick(random, std::vector<unsigned>{2, 6, 16, 30, 64});
  s.op.id = "row";
  s.op.op = op;
  s.op.mode = mode;
  s.op.phase = Phase::bwd;
  const auto block = pick(random, std::vector<std::uint32_t>{1, 1, 4, 8, 16});
  const auto size = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(block * (1 + random.bounded(most / block)));
  };
  s.op.m = size(96);
  s.op.dtype = pick(random, std::vector<DType>{DType::fp16, DType::fp32});
  const auto percent = pick(random, std::vector<std::uint64_t>{0, 5, 20, 60, 100});
  if (op == "sddmm") {
    s.op.k = static_cast<std::uint32_t>(1 + random.bounded(70));
    s.op.n = size(96);
    s.mask = drawn_mask(random, s.op.m, s.op.n, block, percent);
    if (random.bounded(3) == 0) s.op.batch = static_cast<std::uint32_t>(2 + random.bounded(6));
  } else {
    s.op.k = size(96);
    s.op.n = static_cast<std::uint32_t>(1 + random.bounded(40));
    s.op.pattern.name = "ref";
    s.op.pattern.args = {{"of", "forward"}, {"transpose", "1"}};
    s.mask = drawn_mask(random, s.op.m, s.op.k, block, percent);
  }
  s.text = op + " " + word(mode) + " " + std::to_string(s.op.m) + "x" + std::to_string(s.op.k) +
           "x" + std::to_string(s.op.n) + " x " + std::to_string(s.op.batch) + " " +
           word(s.op.dtype) + ", blocks of " + std::to_string(block) + ", " +
           std::to_string(percent) + " %, " + std::to_string(s.tiles) + " tiles";
  return s;
}

OpResult run_backward(const BackwardScenario& s, const Execution& execution) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", std::to_string(s.tiles), "");
  return machine->run(s.op, &s.mask, 7, execution);
}

void check_engines(const BackwardScenario& scenario, std::uint64_t seed) {
  SCOPED_TRACE(scenario.text);
  const auto [event, reference] =
      run_both([&](const Execution& execution) { return run_backward(scenario, execution); }, seed);
  ASSERT_TRUE(reference.values);
  EXPECT_EQ(reference.values->wrong, 0U);
  const LayerOp& op = scenario.op;
  const std::uint64_t compared =
      op.op == "sddmm" ? scenario.mask.nnz() : std::uint64_t{op.m} * op.n;
  EXPECT_EQ(reference.values->compared, compared * op.batch);
  const std::uint64_t each = op.op == "sddmm" ? op.k : op.n;
  EXPECT_EQ(event.mac_useful, scenario.mask.nnz() * each * op.batch);
  EXPECT_EQ(event.mac_algorithmic, std::uint64_t{op.m} * op.k * op.n * op.batch);
}

class IpuBackward : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(IpuBackward, TheTransposedProductFromForwardBucketsIsRightInBothEngines) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    check_engines(backward_scenario(seed, "gemm", Mode::dynamic), seed);
  }
}

TEST_P(IpuBackward, TheGradientOfKnownSparseWeightsIsRightInBothEngines) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    check_engines(backward_scenario(seed, "sddmm", Mode::static_), seed);
  }
}

TEST_P(IpuBackward, TheGradientOfDynamicSparseWeightsIsRightInBothEngines) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    check_engines(backward_scenario(seed, "sddmm", Mode::dynamic), seed);
  }
}

/// Cycles of a dense product of 64 x 64 x 64 on four tiles, the same in both engines.
Cycle dense_cycles(const std::string& op, Phase phase, const std::string& store_bytes) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "4", "");
  machine->set("tile.memory.store_bytes", store_bytes, "");
  LayerOp row;
  row.id = "row";
  row.op = op;
  row.m = row.k = row.n = 64;
  row.phase = phase;
  const auto [event, reference] = run_both(
      [&](const Execution& execution) { return machine->run(row, nullptr, 7, execution); }, 7);
  EXPECT_EQ(event.cycles, reference.cycles);
  return reference.cycles;
}

// Backward rows have operands transposed first: 64 x 64 halves are 16 blocks, four of each tile,
// one of a worker, of 64 moves of 64 bits. A port of 32 bits has each store take a slot more: 64
// slots of 6 clocks. Of both operands a tile has 8 blocks, and two workers two.
TEST(IpuBackwardPorts, WhatIsTransposedFirstPaysForNarrowStores) {
  const auto more = [](const std::string& op, const std::string& store_bytes) {
    return dense_cycles(op, Phase::bwd, store_bytes) - dense_cycles(op, Phase::fwd, store_bytes);
  };
  EXPECT_EQ(more("gemm", "4"), more("gemm", "8") + 64 * 6);
  EXPECT_EQ(more("bmm", "4"), more("bmm", "8") + 2 * 64 * 6);
}

// All kept blocks are in the first rows: their buckets overflow, and the rest waits in others,
// which travel past the tiles that can make them.
TEST(IpuBackwardOverflow, SumsTravelWithTheBucketsThatHoldThemForOthers) {
  for (const std::uint32_t block : {1U, 4U, 16U}) {
    BackwardScenario s;
    s.tiles = 16;
    s.op.id = "row";
    s.op.op = "sddmm";
    s.op.mode = Mode::dynamic;
    s.op.m = s.op.n = 64;
    s.op.k = 32;
    s.mask = {64, 64, block, block, {0}, {}};
    for (std::uint32_t row = 0; row < s.mask.grid_rows(); ++row) {
      for (std::uint32_t column = 0; row * block < 16 && column < s.mask.grid_cols(); ++column) {
        s.mask.columns.push_back(column);
      }
      s.mask.offsets.push_back(s.mask.columns.size());
    }
    s.text = "blocks of " + std::to_string(block);
    check_engines(s, block);
    const OpResult result = run_backward(s, {});
    bool moved = false;
    for (const auto& [name, text] : result.notes) {
      moved = moved || (name == "phases" && text.find("moving buckets") != std::string::npos);
    }
    EXPECT_TRUE(moved || block == 16) << s.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, IpuBackward,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{81}, test::kSeedsAtOnce));

}  // namespace
}  // namespace lacuna
