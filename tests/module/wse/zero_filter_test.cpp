// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/streaming_bench.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kFeatures = 16;  // of each of the two columns
constexpr std::uint32_t kRows = 10;      // of weights

/// Two cores of one token that get a word every four cycles, both together: the stream is what
/// takes the time.
StreamingScenario stream_bound(std::uint32_t weights, StreamForm form) {
  StreamingScenario scenario;
  scenario.tokens = {1};
  for (std::uint32_t i = 0; i < kRows; ++i) scenario.final_column.push_back(i % 2);
  scenario.counts.assign(std::size_t{2} * kRows, weights);
  scenario.lookahead = 8;
  scenario.rate = {1, 4};
  scenario.form = form;
  return scenario;
}

Cycle filtered_cycles(const StreamingScenario& scenario, Engine engine = Engine::event) {
  return simulate(scenario.params, make_program(scenario), {engine}).cycles;
}

// A row of a column takes d k + 1 words filtered, each with its index, and k / 2 + 1 words
// unfiltered, two weights in each; with k = 16 that is the same for d k = 8. A word is a cycle in
// four of the two columns' I/O: 10 rows of 2 columns make 20 * 4 = 80 cycles for each weight more.
TEST(ZeroFilter, BreaksEvenWhereIndexedAndPackedStreamsAreEquallyLong) {
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const Cycle packed = filtered_cycles(stream_bound(kFeatures, StreamForm::packed), engine);
    const auto filtered = [&](std::uint32_t weights) {
      return filtered_cycles(stream_bound(weights, StreamForm::indexed), engine);
    };
    // The last words of the two columns are commands, in cycles 4 * 179 - 1 and 4 * 180 - 1.
    EXPECT_GT(packed, 719U);
    EXPECT_EQ(filtered(8), packed);
    EXPECT_EQ(filtered(7), packed - 80);
    EXPECT_EQ(filtered(9), packed + 80);
    EXPECT_EQ(filtered(2), packed - 6 * 80);
    EXPECT_EQ(filtered(kFeatures), packed + 8 * 80);  // density 1: the indices cost
  }
}

TEST(ZeroFilter, AnOddRowEndsWithOneWeightInAWord) {
  // 15 weights are 8 words as 16 are: the stream is as long, and beats are one less in a row.
  const StreamingScenario even = stream_bound(16, StreamForm::packed);
  const StreamingScenario odd = stream_bound(15, StreamForm::packed);
  EXPECT_EQ(filtered_cycles(even), filtered_cycles(odd));
  const WaferOutcome outcome = simulate(odd.params, make_program(odd), {Engine::clocked});
  EXPECT_EQ(outcome.cores[0].words, 8 * kRows);
  EXPECT_EQ(outcome.cores[0].weights, 15 * kRows);
  EXPECT_EQ(outcome.cores[0].cycles[kFma], 15 * kRows);
}

Mask half_mask(std::uint32_t rows, std::uint32_t cols) {
  Random random(3);
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.offsets.push_back(0);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < cols; ++j) {
      if (random.bounded(100) < 40) mask.columns.push_back(j);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

TEST(ZeroFilter, OnEveryLinkSentAndFilteredAreTheDenseCount) {
  const Mask mask = half_mask(12, 20);
  StreamingJob job;
  job.gemm.m = 12;
  job.gemm.k = 20;
  job.gemm.n = 12;
  StreamingSetup setup;
  setup.wafer.columns = 4;
  setup.wafer.rows = 3;
  const StreamingPlan dense = plan_streaming(job, setup);
  job.gemm.mask = &mask;
  const StreamingPlan filtered = plan_streaming(job, setup);
  setup.ws.zero_filter = false;
  const StreamingPlan open = plan_streaming(job, setup);
  const HardwareParams params;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const WaferOutcome all = simulate(params, dense.program, {engine});
    const WaferOutcome some = simulate(params, filtered.program, {engine});
    const WaferOutcome zeros = simulate(params, open.program, {engine});
    std::uint64_t left_out = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::uint64_t zero = dense.column_weights[c] - filtered.column_weights[c];
      EXPECT_GT(zero, 0U);
      left_out += zero;
      EXPECT_EQ(some.injectors[c].words + zero, all.injectors[c].words);
      for (std::size_t r = 0; r < 3; ++r) {
        const RouterCounters& thin = some.routers[r * 4 + c];
        const RouterCounters& full = all.routers[r * 4 + c];
        EXPECT_EQ(thin.sent[kSouth] + (r == 2 ? 0 : zero), full.sent[kSouth]);
        EXPECT_EQ(thin.sent[kRamp] + zero, full.sent[kRamp]);
        EXPECT_EQ(thin.sent[kEast], full.sent[kEast]);  // the ring carries sums whatever is zero
        EXPECT_EQ(thin.sent[kWest], full.sent[kWest]);
      }
      EXPECT_EQ(zeros.injectors[c].words, all.injectors[c].words);
    }
    EXPECT_EQ(filtered.left_out, left_out);
    EXPECT_EQ(filtered.tested, 12U * 20U);
    EXPECT_EQ(open.left_out, 0U);
    EXPECT_EQ(zeros.cycles, all.cycles);
    EXPECT_LT(some.cycles, all.cycles);
  }
}

TEST(ZeroFilter, ZerosThatTravelAreMultipliedAndChangeNoResult) {
  const Mask mask = half_mask(9, 14);
  StreamingJob job;
  job.gemm.m = 9;
  job.gemm.k = 14;
  job.gemm.n = 10;
  job.gemm.mask = &mask;
  job.gemm.values = true;
  StreamingSetup setup;
  setup.wafer.columns = 3;
  setup.wafer.rows = 2;
  const StreamingPlan filtered = plan_streaming(job, setup);
  setup.ws.zero_filter = false;
  const StreamingPlan indexed = plan_streaming(job, setup);
  job.packed = true;
  const StreamingPlan packed = plan_streaming(job, setup);
  EXPECT_EQ(packed.program.kernel.form, StreamForm::packed);
  const WaferOutcome expected = simulate({}, filtered.program, {Engine::clocked});
  for (const StreamingPlan* plan : {&indexed, &packed}) {
    const WaferOutcome outcome = simulate({}, plan->program, {Engine::event});
    EXPECT_EQ(outcome.results, expected.results);
    std::uint64_t products = 0;
    for (const CoreCounters& core : outcome.cores) products += core.products;
    EXPECT_EQ(products, 9U * 14U * 10U);
    EXPECT_EQ(plan->useful, mask.nnz() * 10);
  }
}

/// The same with zeros that come to the cores: so many before each weight, and before a command.
Program with_zeros(const StreamingScenario& scenario, std::uint32_t before,
                   std::uint32_t at_end = 0) {
  Program program = make_program(scenario);
  const StreamingKernel& kernel = program.kernel;
  std::vector<std::vector<std::uint32_t>> zeros(program.columns);
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    for (std::uint32_t step = 0; step < kernel.steps; ++step) {
      zeros[c].insert(zeros[c].end(), kernel.words(step, c), before);
      zeros[c].push_back(at_end);
    }
  }
  filter_at_receivers(std::move(zeros), program);
  return program;
}

// Where the stream takes the time, all 16 + 1 words of a row do, however many of them are zeros.
TEST(ReceiverFilter, ZerosTakeTheirTimeOfTheStreamAndNoneOfTheCores) {
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const Cycle dense = filtered_cycles(stream_bound(kFeatures, StreamForm::indexed), engine);
    for (const std::uint32_t kept : {0U, 2U, 8U}) {
      const StreamingScenario some = stream_bound(kept, StreamForm::indexed);
      const std::uint32_t before = kept == 0 ? 0 : kFeatures / kept - 1;
      const Program program = with_zeros(some, before, kept == 0 ? kFeatures : 0);
      const WaferOutcome outcome = simulate(some.params, program, {engine});
      EXPECT_EQ(outcome.cycles, dense);
      const LanesOutcome lanes = *stream_in_lanes(some.params, program, {});
      EXPECT_EQ(lanes.kept.cycles, dense);
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(outcome.cores[c].words, kept * kRows);
        EXPECT_EQ(outcome.cores[c].stream_words, (kept + 1) * kRows);
        EXPECT_EQ(outcome.routers[c].filtered, (kFeatures - kept) * kRows);
        EXPECT_EQ(outcome.injectors[c].words, (kFeatures + 1) * kRows);
        EXPECT_EQ(outcome.injectors[c].zeros, (kFeatures - kept) * kRows);
      }
    }
  }
}

// 64 tokens are 16 beats of a weight, and a word comes in each cycle: a zero before each weight is
// there and gone before the core is done with the weight ahead. Only that before the first weight
// is waited for, a cycle.
TEST(ReceiverFilter, ZerosHideBehindLongVectors) {
  StreamingScenario scenario = stream_bound(4, StreamForm::indexed);
  scenario.rate = {};
  scenario.tokens = {64};
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    const Cycle without = filtered_cycles(scenario, engine);
    EXPECT_EQ(simulate(scenario.params, with_zeros(scenario, 1), {engine}).cycles, without + 1);
  }
}

TEST(ReceiverFilter, WhatIsSentAndWhatIsDroppedAreTheDenseCountAndTheKeptOnes) {
  const Mask mask = half_mask(12, 20);
  StreamingJob job;
  job.gemm.m = 12;
  job.gemm.k = 20;
  job.gemm.n = 12;
  job.gemm.values = true;
  StreamingSetup setup;
  setup.wafer.columns = 4;
  setup.wafer.rows = 3;
  const StreamingPlan dense = plan_streaming(job, setup);
  job.gemm.mask = &mask;
  for (const IoStream order : {IoStream::per_column, IoStream::row_ordered}) {
    setup.io.stream = order;
    setup.zero_filter.at = FilterAt::sender;
    const StreamingPlan sender = plan_streaming(job, setup);
    setup.zero_filter.at = FilterAt::receiver;
    const StreamingPlan receiver = plan_streaming(job, setup);
    EXPECT_EQ(receiver.tested_at_cores, 12U * 20U);
    EXPECT_EQ(receiver.tested + receiver.left_out, 0U);
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      const WaferOutcome few = simulate({}, sender.program, {engine});
      const WaferOutcome all = simulate({}, receiver.program, {engine});
      EXPECT_EQ(all.results, few.results);
      for (std::size_t c = 0; c < 4; ++c) {
        const std::uint64_t zero = dense.column_weights[c] - sender.column_weights[c];
        EXPECT_EQ(all.injectors[c].words, few.injectors[c].words + zero);
        for (std::size_t core = c; core < 12; core += 4) {
          EXPECT_EQ(all.routers[core].filtered, zero);
          EXPECT_EQ(all.routers[core].sent[kRamp], few.routers[core].sent[kRamp] + zero);
          EXPECT_EQ(all.cores[core].products, few.cores[core].products);
          EXPECT_EQ(all.cores[core].received, few.cores[core].received);
        }
      }
    }
  }
}

TEST(ReceiverFilter, WhereItCannotActItIsRefusedByName) {
  const Mask mask = half_mask(8, 8);
  StreamingJob job;
  job.gemm.m = job.gemm.k = job.gemm.n = 8;
  job.gemm.mask = &mask;
  StreamingSetup setup;
  setup.wafer.columns = setup.wafer.rows = 4;
  setup.zero_filter.at = FilterAt::receiver;
  const auto refusal = [&] {
    try {
      plan_streaming(job, setup);
    } catch (const UnsupportedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(), "");
  setup.ws.groups = 2;
  EXPECT_NE(refusal().find("zero_filter.at"), std::string::npos);
  setup.ws.groups = 1;
  job.gemm.dtype = DType::fp32;
  EXPECT_NE(refusal().find("zero_filter.at = receiver"), std::string::npos);
  setup.ws.zero_filter = false;  // nothing is filtered
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace lacuna::wse
