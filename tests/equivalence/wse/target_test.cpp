// SPDX-License-Identifier: Apache-2.0
// A wse3 as chips show it and as the vendor's simulator does, with its own links, ports and
// memories: the oracle and both engines agree, and folding is exact, on both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "models/sparsity/mask.hpp"
#include "sim/base/random.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "tests/support/wse/random_streams.hpp"
#include "tests/support/wse/random_tasks.hpp"
#include "tests/support/wse/task_comparison.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kTargetCases = 100;

class TargetEngines : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Machine> machine() {
    auto made = make_machine(standard_machines(), "wse3");
    made->set("target", GetParam(), "");
    return made;
  }
};

TEST_P(TargetEngines, AgreeWithTheOracleOnPrograms) {
  const auto chip = machine();
  const auto& params = static_cast<const WseParams&>(chip->parameters());
  std::uint64_t waiting = 0;
  for (std::uint64_t seed = 1; seed <= kTargetCases; ++seed) {
    wse::TaskCase made = wse::random_tasks(seed);
    made.params = params.task_hardware();
    const std::string result = wse::compare_tasks(made, seed);
    ASSERT_FALSE(wse::differs(result)) << "seed " << seed << ": " << result;
    waiting += result.empty() ? 0 : 1;
  }
  EXPECT_LT(waiting, kTargetCases / 2);  // or too little is compared
}

TEST_P(TargetEngines, AgreeWithTheOracleOnStreams) {
  const auto chip = machine();
  const auto& params = static_cast<const WseParams&>(chip->parameters());
  std::uint64_t waiting = 0;
  unsigned faster = 0;
  for (std::uint64_t seed = 1; seed <= kTargetCases; ++seed) {
    wse::StreamCase made = seed % 3 == 0 ? wse::random_gradient(seed) : wse::random_streams(seed);
    made.params.router = params.router;
    const std::string result = wse::compare_streams(made, seed, faster);
    ASSERT_FALSE(wse::differs(result)) << "seed " << seed << ": " << result;
    waiting += result.empty() ? 0 : 1;
  }
  EXPECT_LT(waiting, kTargetCases / 4);
  EXPECT_GT(faster, kTargetCases / 30);
}

std::string counts_of(const OpResult& result) {
  std::string text = fmt::format("cycles {}\n", result.cycles);
  for (const StatEntry& entry : result.statistics) {
    text += fmt::format("{}.{} {}\n", entry.path, entry.name, entry.value);
  }
  return text;
}

Mask target_mask(const LayerOp& op, Random& random) {
  Mask mask;
  mask.rows = op.m;
  mask.cols = op.k;
  mask.offsets.push_back(0);
  const std::uint64_t percent = random.bounded(101);
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    for (std::uint32_t c = 0; c < mask.cols; ++c) {
      if (random.bounded(100) < percent) mask.columns.push_back(c);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

TEST_P(TargetEngines, AgreeOnProductsAndFoldingIsExact) {
  for (std::uint64_t seed = 1; seed <= kTargetCases; ++seed) {
    Random random(stream_seed(seed, "target"));
    const auto chip = machine();
    chip->set("wafer.columns", std::to_string(1 + random.bounded(6)), "");
    chip->set("wafer.rows", std::to_string(1 + random.bounded(9)), "");
    LayerOp op;
    op.m = 1 + static_cast<std::uint32_t>(random.bounded(24));
    op.k = 1 + static_cast<std::uint32_t>(random.bounded(24));
    op.n = 1 + static_cast<std::uint32_t>(random.bounded(60));
    op.dtype = random.bounded(3) == 0 ? DType::fp32 : DType::fp16;
    op.mode = random.bounded(3) == 0 ? Mode::static_ : Mode::automatic;
    const Mask mask = target_mask(op, random);
    const auto counts = [&](Engine engine, bool fold) {
      Execution execution;
      execution.engine = engine;
      execution.fold = fold;
      return counts_of(chip->run(op, &mask, seed, execution));
    };
    const std::string defined = counts(Engine::clocked, false);
    EXPECT_EQ(counts(Engine::event, false), defined) << "seed " << seed;
    EXPECT_EQ(counts(Engine::event, true), defined) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OfAWse3, TargetEngines, testing::Values("silicon", "simfabric"));

}  // namespace
}  // namespace lacuna
