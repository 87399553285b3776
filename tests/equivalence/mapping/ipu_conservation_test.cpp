// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/ipu/chip_bench.hpp"
#include "tests/support/ipu/device_buckets.hpp"
#include "tests/support/seeds.hpp"
#include "workloads/mapping/ipu/operation.hpp"

namespace lacuna::ipu {
namespace {

/// A planned product, with what it was planned from.
struct Planned {
  ChipParams chip;
  LayerOp op;
  std::optional<Mask> mask;
  PlannedOperation operation;
  std::string text;
};

Planned draw(std::uint64_t seed) {
  Random random(seed);
  const auto side = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  const auto one_of = [&](std::initializer_list<unsigned> of) {
    return *(of.begin() + random.bounded(of.size()));
  };
  Planned p;
  p.chip.ipu.tiles = one_of({2, 6, 16, 40, 92});
  p.chip.exchange.paired_words = one_of({2, 32, 128});
  p.op.id = "row";
  p.op.op = random.bounded(3) == 0 ? "sddmm" : "gemm";
  p.op.m = 16 * side(6);
  p.op.k = 16 * side(6);
  p.op.n = p.op.op == "sddmm" ? 16 * side(4) : side(50);
  p.op.batch = random.bounded(4) == 0 ? side(3) : 1;
  p.op.dtype = random.bounded(3) == 0 ? DType::fp32 : DType::fp16;
  const bool dense = p.op.op == "gemm" && random.bounded(3) == 0;
  if (!dense) {
    p.op.mode = random.bounded(2) == 0 ? Mode::static_ : Mode::dynamic;
    PatternSpec spec;
    const unsigned block = one_of({1, 4, 8, 16});
    spec.name = block == 1 ? "unstructured" : "block";
    spec.block_rows = spec.block_cols = block;
    spec.density = Decimal{1 + random.bounded(9), 1};
    p.op.pattern = spec;
    p.mask = generate_mask(spec, p.op.m, p.op.op == "sddmm" ? p.op.n : p.op.k, seed);
  }
  const PlannerParams planner;
  p.operation = plan_operation({p.chip, planner, p.op, p.mask ? &*p.mask : nullptr, seed});
  p.text = p.op.op + " " + std::to_string(p.op.m) + "x" + std::to_string(p.op.k) + "x" +
           std::to_string(p.op.n) + " x " + std::to_string(p.op.batch) + " " + word(p.op.dtype) +
           " " + word(p.op.mode) + " block " + std::to_string(p.op.pattern.block_rows) + ", " +
           std::to_string(p.chip.ipu.tiles.value()) + " tiles";
  return p;
}

/// Words of an exchange phase, counted from its instructions.
struct Words {
  std::uint64_t sent = 0;
  std::uint64_t sent_to_receivers = 0;  // each as often as tiles listen
  std::uint64_t received = 0;
  std::uint64_t passed_on = 0;  // of these, words kept for the partner's sake only
  std::uint64_t asked = 0;      // by the transfers, for all their destinations
};

void count(const ExchangePhase& phase, Words& words) {
  for (const Send& send : phase.plan.sends) {
    words.sent += send.words;
    words.sent_to_receivers += std::uint64_t{send.words} * send.receivers;
  }
  for (const Receive& receive : phase.plan.receives) {
    words.received += receive.words;
    if (phase.transfers.scratch && receive.address == *phase.transfers.scratch) {
      words.passed_on += receive.words;
    }
  }
  for (const Transfer& transfer : phase.transfers.transfers) {
    words.asked += std::uint64_t{transfer.words} * transfer.count;
  }
}

class IpuConservation : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(IpuConservation, WordsSentTimesReceiversAreWordsReceivedAndThoseThatWereAskedFor) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    const Planned planned = draw(seed);
    SCOPED_TRACE(planned.text);
    const Program& program = planned.operation.lowered.program;
    Words words;
    for (const Superstep& step : program.supersteps) {
      if (step.exchange != kNone) count(program.exchanges[step.exchange], words);
    }
    EXPECT_EQ(words.sent_to_receivers, words.received);
    EXPECT_EQ(words.received - words.passed_on, words.asked);
    for (const Engine engine : {Engine::event, Engine::clocked}) {
      const Outcome outcome = simulate({planned.chip, program}, {engine, engine, seed, false});
      EXPECT_EQ(outcome.counters.at("exch_sent"), words.sent);
      EXPECT_EQ(outcome.counters.at("exch_received"), words.received);
      EXPECT_EQ(outcome.counters.at("bytes_exchanged"), 4 * words.received);
    }
  }
}

TEST_P(IpuConservation, ProductsFormedAreThoseOfKeptElementsAndThoseThatAreSaidToBeNone) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    const Planned planned = draw(seed);
    SCOPED_TRACE(planned.text);
    const LayerOp& op = planned.op;
    const Outcome outcome =
        simulate({planned.chip, planned.operation.lowered.program}, {Engine::event, Engine::event});
    const std::uint64_t dense = std::uint64_t{op.m} * op.k * op.n;
    const std::uint64_t kept = op.op == "sddmm" ? planned.mask->nnz() * op.k
                               : planned.mask   ? planned.mask->nnz() * op.n
                                                : dense;
    const auto counter = [&](const char* name) { return outcome.counters.at(name); };
    EXPECT_EQ(counter("mac_actual") - counter("mac_edge") - counter("mac_zero"), kept * op.batch);
    EXPECT_EQ(counter("mac_actual"), counter("amp_macs_fp16") + counter("amp_macs_fp32") +
                                         counter("vec_macs_fp16") + counter("vec_macs_fp32"));
  }
}

// Of a bucket: an end; for each sub-group 9 words and 5 for each of six workers, or 7 with blocks;
// for each of its rows 2, and for each non-zero 1. In 16 bits.
TEST_P(IpuConservation, MetaInformationOfBucketsHasTheWordsOfItsGroupsRowsAndNonZeros) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    Random random(seed);
    const std::vector<unsigned> sides{1, 4, 8, 16};
    const unsigned block = sides[random.bounded(sides.size())];
    PatternSpec spec;
    spec.name = block == 1 ? "unstructured" : "block";
    spec.block_rows = spec.block_cols = block;
    spec.density = Decimal{1 + random.bounded(9), 1};
    const auto side = static_cast<std::uint32_t>(16 * (1 + random.bounded(8)));
    const Mask mask = generate_mask(spec, side, 96, seed);
    const BsrMatrix<std::uint16_t> matrix{
        mask, std::vector<std::uint16_t>(mask.blocks() * block * block, 1)};
    Target target;
    target.tiles = 24;
    const DynamicPlan plan =
        plan_dynamic(target, {DType::fp16, DType::fp32}, {side, 96, 32, block, mask.blocks()}, 0.5);
    const BucketSet set = fill_buckets(plan, mask, target.workers);
    const auto device = to_device(plan, matrix, target.workers);
    std::uint64_t all = 0;
    for (std::size_t b = 0; b < device.size(); ++b) {
      std::uint64_t rows = 0;
      for (const SubGroup& group : set.buckets[b].groups) rows += group.rows.size();
      const std::uint64_t nonzeros = device[b].values.size() / (std::uint64_t{block} * block);
      const std::uint64_t groups = set.buckets[b].groups.size() * (block == 1 ? 9 + 6 * 5 : 7);
      EXPECT_EQ(device[b].meta.size(), groups + 2 * rows + nonzeros + 1) << "bucket " << b;
      all += nonzeros;
    }
    EXPECT_EQ(all, mask.blocks());
  }
}

LayerOp elements(std::uint32_t m, std::uint32_t k, std::uint32_t n, DType dtype, Decimal density) {
  LayerOp op;
  op.id = "row";
  op.op = "gemm";
  op.m = m;
  op.k = k;
  op.n = n;
  op.dtype = dtype;
  op.mode = Mode::static_;
  op.pattern.name = "unstructured";
  op.pattern.density = density;
  return op;
}

// The inner loop of a static product of elements takes eight halves or four singles of a row, with
// the element's offset: one word of 16 bits for every element and every so many columns of a part.
TEST_P(IpuConservation, OffsetsOfStaticElementsAreReadOnceForEveryVectorPairOfColumns) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    Random random(seed);
    const bool half = random.bounded(2) == 0;
    const unsigned parts = 1 + static_cast<unsigned>(random.bounded(3));
    const std::uint32_t group = half ? 8 : 4;
    const auto columns = static_cast<std::uint32_t>(1 + random.bounded(9)) * group;  // of each part
    const auto side = static_cast<std::uint32_t>(16 + random.bounded(60));
    const LayerOp op = elements(side, 64, columns * parts, half ? DType::fp16 : DType::fp32,
                                Decimal{1 + random.bounded(9), 1});
    const Mask mask = generate_mask(op.pattern, op.m, op.k, seed);
    ChipParams chip;
    chip.ipu.tiles = 24U;
    PlannerParams planner;
    planner.static_parts = parts;
    const PlannedOperation planned = plan_operation({chip, planner, op, &mask, seed});
    for (const Engine engine : {Engine::event, Engine::clocked}) {
      const Outcome outcome = simulate({chip, planned.lowered.program}, {engine, engine});
      EXPECT_EQ(outcome.counters.at("meta_words"), mask.nnz() * parts * columns / group);
    }
  }
}

// Beside the values a tile's list has 2 bytes for an element, 2 for a row and 72 for the workers.
// Four full rows of 59 halves: 4 * 59 * (2 + 2) + 4 * 2 + 72 = 1024.
TEST(IpuConservation, TheListOfStaticElementsHasTwoBytesForAnElementAndForARow) {
  ChipParams chip;
  chip.ipu.tiles = 1U;
  chip.tile.memory.element.plain_kib = 1U;
  const auto plan = [&chip](std::uint32_t k) {
    const LayerOp op = elements(4, k, 4, DType::fp16, Decimal{1, 0});
    const Mask mask = generate_mask(op.pattern, op.m, op.k, 1);
    return plan_operation({chip, PlannerParams{}, op, &mask, 1});
  };
  EXPECT_NO_THROW(plan(59));
  try {
    plan(60);
    ADD_FAILURE() << "it fitted";
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("1040 bytes"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Random, IpuConservation,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{61}, test::kSeedsAtOnce));

}  // namespace
}  // namespace lacuna::ipu
