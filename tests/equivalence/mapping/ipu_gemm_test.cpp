// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/seeds.hpp"

namespace lacuna {
namespace {

using test::expect_equal;
using test::pick;
using test::run_both;

/// A product on a small chip.
struct GemmScenario {
  LayerOp op;
  std::optional<Mask> mask;
  unsigned tiles = 0;
  std::uint64_t seed = 0;
  std::string text;
};

std::ostream& operator<<(std::ostream& out, const GemmScenario& scenario) {
  return out << scenario.text;
}

/// Exactly nnz of the blocks of a matrix, each choice equally likely.
Mask random_mask(Random& random, std::uint32_t rows, std::uint32_t cols, std::uint32_t block,
                 std::uint64_t percent) {
  Mask mask{rows, cols, block, block, {0}, {}};
  std::uint64_t left = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  std::uint64_t nnz = left * percent / 100;
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    for (std::uint32_t column = 0; column < mask.grid_cols(); ++column, --left) {
      if (random.bounded(left) >= nnz) continue;
      mask.columns.push_back(column);
      --nnz;
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

GemmScenario gemm_scenario(std::uint64_t seed) {
  Random random(seed);
  GemmScenario s;
  s.seed = seed;
  s.tiles = pick(random, std::vector<unsigned>{2, 4, 6, 16, 30, 64});
  s.op.m = static_cast<std::uint32_t>(1 + random.bounded(96));
  s.op.k = static_cast<std::uint32_t>(1 + random.bounded(96));
  s.op.n = static_cast<std::uint32_t>(1 + random.bounded(40));
  s.op.dtype = pick(random, std::vector<DType>{DType::fp16, DType::fp16, DType::fp32});
  const auto block = pick(random, std::vector<std::uint32_t>{1, 1, 4, 8, 16});
  const auto percent = pick(random, std::vector<std::uint64_t>{0, 3, 10, 30, 70, 100});
  const auto mode =
      pick(random, std::vector<Mode>{Mode::static_, Mode::static_, Mode::dynamic, Mode::dense});
  s.op.mode = mode;
  if (mode == Mode::dense && random.bounded(2) == 0) {
    s.op.partials =
        s.op.dtype == DType::fp16 && random.bounded(2) == 0 ? Partials::fp32 : Partials::automatic;
  } else {
    s.mask = random_mask(random, s.op.m, s.op.k, block, percent);
  }
  s.text = std::to_string(s.op.m) + "x" + std::to_string(s.op.k) + "x" + std::to_string(s.op.n) +
           " " + word(s.op.dtype) + ", " + word(mode) + ", block " + std::to_string(block) + ", " +
           std::to_string(percent) + " %, " + std::to_string(s.tiles) + " tiles";
  return s;
}

OpResult run_gemm(const GemmScenario& s, const Execution& execution) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", std::to_string(s.tiles), "");
  return machine->run(s.op, s.mask ? &*s.mask : nullptr, s.seed, execution);
}

std::uint64_t statistic(const OpResult& result, const std::string& name) {
  const auto found = std::find_if(result.statistics.begin(), result.statistics.end(),
                                  [&](const StatEntry& entry) { return entry.name == name; });
  EXPECT_NE(found, result.statistics.end()) << name;
  return found == result.statistics.end() ? 0 : found->value;
}

class IpuGemm : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(IpuGemm, NeitherEngineNorOrderNorValuesChangeTheResultAndTheProductIsRight) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    const GemmScenario scenario = gemm_scenario(seed);
    SCOPED_TRACE(scenario);
    const auto [event, reference] =
        run_both([&](const Execution& execution) { return run_gemm(scenario, execution); }, seed);
    ASSERT_TRUE(reference.values);
    EXPECT_EQ(reference.values->compared, std::uint64_t{scenario.op.m} * scenario.op.n);
    EXPECT_EQ(reference.values->wrong, 0U);
    Execution with_values;
    with_values.values = true;
    EXPECT_EQ(run_gemm(scenario, with_values).values->wrong, 0U);
  }
}

TEST_P(IpuGemm, ProductsAndWordsAreConserved) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    const GemmScenario scenario = gemm_scenario(seed);
    SCOPED_TRACE(scenario);
    const OpResult result = run_gemm(scenario, {});
    const std::uint64_t kept =
        scenario.mask ? scenario.mask->nnz() : std::uint64_t{scenario.op.m} * scenario.op.k;
    EXPECT_EQ(result.mac_useful, kept * scenario.op.n);
    const std::uint64_t actual = statistic(result, "mac_actual");
    const std::uint64_t edge = statistic(result, "mac_edge");
    const std::uint64_t zero = statistic(result, "mac_zero");
    EXPECT_EQ(actual - edge - zero, result.mac_useful);
    EXPECT_EQ(actual - edge + statistic(result, "mac_skipped"), result.mac_algorithmic);
    EXPECT_GE(statistic(result, "exch_received"), statistic(result, "exch_sent"));
    std::uint64_t height = 0;
    for (const StackPart& part : result.stack) height += part.cycles;
    EXPECT_EQ(height, result.units * result.cycles);
  }
}

/// A dense product of `s` on 64 tiles that takes stages for fewer partials than a whole chip.
OpResult run_deep(const GemmScenario& s, Engine engine, const char* one, const char* two) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "64", "");
  machine->set("planner.one_stage_depth", one, "");
  machine->set("planner.two_stage_depth", two, "");
  Execution execution;
  execution.values = true;
  execution.event_log = true;
  execution.engine = engine;
  execution.shuffle = engine == Engine::clocked ? 7 : 0;
  return machine->run(s.op, nullptr, 1, execution);
}

// Sums of three and more partials are made in two stages here, those of 16 on a whole chip; of
// seven and more in three, those of 125 on a whole chip.
TEST(IpuDeepSums, AreRightInBothEnginesForUnequalGroups) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    GemmScenario s = gemm_scenario(seed);
    s.op.mode = Mode::dense;
    s.op.partials =
        seed % 3 == 0 && s.op.dtype == DType::fp16 ? Partials::fp32 : Partials::automatic;
    s.mask.reset();
    s.op.k = static_cast<std::uint32_t>(40 + 17 * seed);
    for (const char* two : {"124", "6", "2"}) {
      SCOPED_TRACE(std::to_string(seed) + ", " + two);
      const OpResult event = run_deep(s, Engine::event, "2", two);
      const OpResult clocked = run_deep(s, Engine::clocked, "2", two);
      expect_equal(event, clocked);
      EXPECT_TRUE(event.events == clocked.events);
      EXPECT_EQ(event.values->wrong, 0U);
    }
  }
}

// All non-zeros are in the first rows: their buckets overflow, and the rest waits in others.
TEST(DynamicGemm, BucketsTravelToWhereTheirPiecesAreNeededAndTheProductIsRight) {
  for (const std::uint32_t block : {1U, 4U}) {
    GemmScenario s;
    s.tiles = 16;
    s.op.m = s.op.k = 64;
    s.op.n = 16;
    s.op.mode = Mode::dynamic;
    Mask mask{64, 64, block, block, {0}, {}};
    for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
      for (std::uint32_t column = 0; row * block < 8 && column < mask.grid_cols(); ++column) {
        mask.columns.push_back(column);
      }
      mask.offsets.push_back(mask.columns.size());
    }
    s.mask = mask;
    Execution with_values;
    with_values.values = true;
    const OpResult event = run_gemm(s, with_values);
    const auto steps = std::find_if(event.notes.begin(), event.notes.end(), [](const auto& note) {
      return note.first == "propagation steps";
    });
    ASSERT_NE(steps, event.notes.end());
    EXPECT_NE(steps->second, "0");
    EXPECT_EQ(event.values->wrong, 0U);
    with_values.engine = Engine::clocked;
    const OpResult clocked = run_gemm(s, with_values);
    EXPECT_EQ(clocked.values->wrong, 0U);
    expect_equal(event, clocked);
  }
}

// A block of 16 or 256 elements on one tile, times 4 columns: 64 results. Dynamic ones are summed
// in blocks column by column, and are put into rows as 32 words, six for the busiest worker, with
// two loads and a store each: 11 + 6 (14 + 18) = 203 clocks. Elements have rows already: 16 vectors
// are copied, three for a worker: 11 + 193 + 6 (14 + 3) = 306 clocks. Static ones stay as they are.
TEST(SparseOutput, IsPutIntoRowsIfItIsOfBlocks) {
  const auto rearranged = [](Mode mode, std::uint32_t block) {
    GemmScenario s;
    s.op.m = s.op.k = 16;
    s.op.n = 4;
    s.op.mode = mode;
    const Mask mask = dense_mask(16, 16, block);
    const std::unique_ptr<Machine> machine = make_ipu_machine("test");
    machine->set("ipu.tiles", "1", "");
    for (const auto& [name, text] : machine->run(s.op, &mask, 1, {}).notes) {
      const std::string phase = "rearrange output ";
      const std::size_t at = name == "phases" ? text.find(phase) : std::string::npos;
      if (at != std::string::npos) return std::stoi(text.substr(at + phase.size()));
    }
    return 0;
  };
  EXPECT_EQ(rearranged(Mode::dynamic, 16), 203);
  EXPECT_EQ(rearranged(Mode::dynamic, 1), 306);
  EXPECT_EQ(rearranged(Mode::static_, 16), 0);
  EXPECT_EQ(rearranged(Mode::static_, 1), 0);
}

// Where many weights go to a tile whose partial sums are few, what the partner of its partner hears
// is longer than the partial sums are, and than all that comes after them.
TEST(StaticProduct, HasRoomForTheWordsThatAPartnerReceivesWithoutNeed) {
  for (const std::uint32_t n : {40U, 48U}) {
    Random random(1);
    GemmScenario s;
    s.op.m = 64;
    s.op.k = 256;
    s.op.n = n;
    s.op.dtype = n == 48 ? DType::fp32 : DType::fp16;
    s.op.mode = Mode::static_;
    const Mask mask = random_mask(random, 64, 256, 1, 50);
    const std::unique_ptr<Machine> machine = make_ipu_machine("test");
    machine->set("ipu.tiles", "16", "");
    const auto [event, reference] = run_both(
        [&](const Execution& execution) { return machine->run(s.op, &mask, 1, execution); }, n);
    ASSERT_TRUE(reference.values);
    EXPECT_EQ(reference.values->wrong, 0U);
    EXPECT_EQ(event.cycles, reference.cycles);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, IpuGemm,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{251},
                                          test::kSeedsAtOnce));

}  // namespace
}  // namespace lacuna
