// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/sparsity/mask.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/first_gradient.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

struct GradientCase {
  HardwareParams params;
  StreamingSetup setup;
  GradientJob job;
  Mask mask;
};

GradientCase gradient_case(std::uint64_t seed) {
  Random random(stream_seed(seed, "gradient"));
  const auto in = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.bounded(high - low + 1));
  };
  GradientCase c;
  c.params = random_scenario(seed, Rows::one_class).params;
  c.setup.core = c.params.core;
  c.setup.queue = c.params.queue;
  c.setup.wafer.columns = in(1, 7);
  c.setup.wafer.rows = in(1, 7);
  c.setup.ws.lookahead = in(1, 4);
  c.setup.ws.results = in(1, 4);
  c.setup.ws.gradient = in(0, 1) == 0 ? GradientSums::kept : GradientSums::chained;
  c.setup.ws.psum = in(0, 1) == 0 ? Precision::fp16 : Precision::fp32;
  c.setup.ws.ring = in(0, 1) == 0 ? Precision::fp16 : Precision::fp32;
  c.setup.io.duplex = in(0, 1) == 0 ? IoDuplex::half : IoDuplex::full;
  c.setup.io.stream = in(0, 3) == 0 ? IoStream::row_ordered : IoStream::per_column;
  c.setup.io.column_fifo = in(1, 4);
  c.setup.io.share = 0.001 * in(1, 20);
  c.setup.map.align = in(0, 2) == 0 ? Alignment::bad : Alignment::good;
  c.job.m = in(1, 20);
  c.job.tokens = in(1, 50);
  c.job.n = in(1, 20);
  c.job.dtype = in(0, 3) == 0 ? DType::fp32 : DType::fp16;
  c.job.seed = seed;
  c.job.values = true;
  const std::uint64_t density = random.bounded(101);
  c.mask.rows = c.job.m;
  c.mask.cols = c.job.n;
  c.mask.offsets.push_back(0);
  for (std::uint32_t i = 0; i < c.job.m; ++i) {
    for (std::uint32_t j = 0; j < c.job.n; ++j) {
      if (random.bounded(100) < density) c.mask.columns.push_back(j);
    }
    c.mask.offsets.push_back(c.mask.columns.size());
  }
  return c;
}

/// What left the wafer is what the machine's arithmetic gives, and its integers are exact: those of
/// a column, or of the columns of a place together if each had a part of the tokens.
void expect_values(const GradientCase& c, const GradientPlan& plan, const WaferOutcome& outcome) {
  const auto reference = gradient_reference(plan.program);
  const auto exact = exact_gradient(c.job, plan);
  ASSERT_EQ(outcome.collected.size(), reference.size());
  const StreamingKernel& k = plan.program.kernel;
  std::vector<std::vector<float>> sums(reference.size());  // by first column of a place
  for (std::uint32_t column = 0; column < reference.size(); ++column) {
    ASSERT_EQ(outcome.collected[column].size(), reference[column].size());
    const std::uint32_t place = k.groups.place_of(column);
    auto& sum = sums[plan.element_shares == 1 ? column : k.groups.column_of(0, place)];
    sum.resize(reference[column].size());
    for (std::size_t i = 0; i < reference[column].size(); ++i) {
      const std::uint32_t word = outcome.collected[column][i];
      const float value =
          k.ring_fp32 ? detail::float_of(word) : to_float(static_cast<Half>(word & 0xffffU));
      EXPECT_EQ(value, reference[column][i]);
      sum[i] += value;
    }
  }
  for (std::size_t column = 0; column < sums.size(); ++column) {
    for (std::size_t i = 0; i < sums[column].size(); ++i) {
      EXPECT_EQ(sums[column][i], static_cast<float>(exact[column][i]));  // up to 16 * 50
    }
  }
}

/// The same in groups of columns that share the rows of the gradient, or the tokens.
GradientCase grouped_case(std::uint64_t seed) {
  GradientCase c = gradient_case(seed);
  Random random(stream_seed(seed, "gradient groups"));
  const auto groups = static_cast<unsigned>(2 + random.bounded(3));
  c.setup.ws.groups = groups;
  c.setup.ws.lie = random.bounded(2) == 0 ? Lie::side_by_side : Lie::interleaved;
  c.setup.ws.exchange = random.bounded(2) == 0 ? wse::Exchange::product : wse::Exchange::next;
  c.setup.wafer.columns = groups * static_cast<unsigned>(1 + random.bounded(4));
  Random share(stream_seed(seed, "gradient shares"));
  if (share.bounded(2) == 0) return c;
  c.setup.ws.share = Share::tokens;
  c.setup.ws.exchange = wse::Exchange::product;
  c.setup.ws.copies = share.bounded(3) == 0 ? Copies::idealised : Copies::routed;
  c.setup.wafer.rows = static_cast<unsigned>(2 + share.bounded(6));  // one may copy
  return c;
}

class RandomGradient : public ::testing::TestWithParam<std::uint64_t> {};

void expect_one_result(const GradientCase& c, const GradientPlan& plan, std::uint64_t seed) {
  for (const Cycle jitter : {0U, 3U}) {
    RunOptions options{Engine::clocked, 0, jitter, seed, true};
    const WaferOutcome definition = simulate(c.params, plan.program, options);
    expect_values(c, plan, definition);
    for (const CoreCounters& core : definition.cores) {
      Cycle booked = 0;
      for (const std::uint64_t cycles : core.cycles) booked += cycles;
      EXPECT_EQ(booked, definition.cycles);
    }
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      options.engine = engine;
      options.shuffle = seed + 1;
      const WaferOutcome outcome = simulate(c.params, plan.program, options);
      EXPECT_EQ(difference(definition, outcome), "");
      EXPECT_EQ(outcome.collected, definition.collected);
      options.modules = true;
      const WaferOutcome apart = simulate(c.params, plan.program, options);
      options.modules = false;
      EXPECT_EQ(difference(definition, apart), "");
      EXPECT_EQ(apart.collected, definition.collected);
    }
  }
}

TEST_P(RandomGradient, GivesOneResultByEitherEngineInAnyOrderWithAnyDelay) {
  const std::uint64_t cases = 10 * test::long_factor();
  for (std::uint64_t seed = GetParam() * 100; seed < GetParam() * 100 + cases; ++seed) {
    GradientCase c = gradient_case(seed);
    if (seed % 5 != 0) c.job.mask = &c.mask;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    expect_one_result(c, test::plan_gradient(c.job, c.setup), seed);
    if (HasFailure()) return;
  }
}

/// Every kept position of all parts, in the group that has its row, or in all that have tokens, and
/// the column that has its feature, once.
void expect_positions(const GradientCase& c, const std::vector<GradientPlan>& parts) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  std::size_t count = 0;
  for (const GradientPlan& plan : parts) {
    const StreamingKernel& k = plan.program.kernel;
    std::vector<std::size_t> next(plan.program.columns, 0);
    for (std::uint32_t s = 0; s < k.steps; ++s) {
      for (std::uint32_t column = 0; column < plan.program.columns; ++column) {
        const std::uint32_t group = k.groups.group_of(column);
        const std::uint32_t row = plan.row_of_step[std::size_t{s} * k.groups.count + group];
        for (std::uint32_t i = 0; i < k.count(s, column); ++i, ++count) {
          found.emplace(row, plan.feature_of[column][k.payloads[column][next[column]++]]);
        }
      }
    }
  }
  EXPECT_EQ(count, found.size() * parts.front().element_shares);
  std::set<std::pair<std::uint32_t, std::uint32_t>> kept;
  for (std::uint32_t i = 0; i < c.job.m; ++i) {
    for (std::uint32_t j = 0; j < c.job.n; ++j) {
      const auto begin = c.mask.columns.begin() + static_cast<std::ptrdiff_t>(c.mask.offsets[i]);
      const auto end = c.mask.columns.begin() + static_cast<std::ptrdiff_t>(c.mask.offsets[i + 1]);
      if (c.job.mask == nullptr || std::find(begin, end, j) != end) kept.emplace(i, j);
    }
  }
  EXPECT_EQ(found, kept);
}

TEST_P(RandomGradient, InGroupsOfColumnsGivesTheSameSums) {
  const std::uint64_t cases = 10 * test::long_factor();
  for (std::uint64_t seed = GetParam() * 100; seed < GetParam() * 100 + cases; ++seed) {
    GradientCase c = grouped_case(seed);
    if (seed % 5 != 0) c.job.mask = &c.mask;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::vector<GradientPlan> parts;
    plan_gradient_parts(c.job, c.setup, [&](const GradientPlan& plan) { parts.push_back(plan); });
    expect_positions(c, parts);
    for (const GradientPlan& plan : parts) expect_one_result(c, plan, seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGradient,
                         ::testing::Values(0U, 100U, 200U, 300U, 400U, 500U));

}  // namespace
}  // namespace lacuna::wse
