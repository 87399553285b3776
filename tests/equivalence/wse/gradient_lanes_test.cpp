// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_lanes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/sparsity/mask.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/first_gradient.hpp"
#include "tests/support/wse/random_streaming.hpp"
#include "workloads/mapping/wse/gradient.hpp"

namespace lacuna::wse {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct LaneCase {
  HardwareParams params;
  StreamingSetup setup;
  GradientJob job;
  Mask mask;
};

/// Dot products at positions that are drawn.
void draw_mask(Random& random, LaneCase& c) {
  const std::uint64_t density = random.bounded(101);
  c.mask = Mask{};
  c.mask.rows = c.job.m;
  c.mask.cols = c.job.n;
  c.mask.offsets.push_back(0);
  for (std::uint32_t i = 0; i < c.job.m; ++i) {
    for (std::uint32_t j = 0; j < c.job.n; ++j) {
      if (random.bounded(100) < density) c.mask.columns.push_back(j);
    }
    c.mask.offsets.push_back(c.mask.columns.size());
  }
}

/// Every other case has its columns in groups, with rings of their own that may pass through each
/// other, and rows of the gradient or tokens each.
void draw_groups(std::uint64_t seed, LaneCase& c) {
  Random random(stream_seed(seed, "gradient sweep groups"));
  if (random.bounded(2) == 0) return;
  const auto groups = static_cast<unsigned>(2 + random.bounded(3));
  c.setup.ws.groups = groups;
  c.setup.wafer.columns = groups * static_cast<unsigned>(2 + random.bounded(6));
  if (random.bounded(2) == 0) {
    c.setup.ws.share = Share::tokens;
    c.setup.ws.copies = Copies::idealised;
  }
  if (random.bounded(2) == 0) c.setup.ws.lie = Lie::interleaved;
}

LaneCase lane_case(std::uint64_t seed) {
  Random random(stream_seed(seed, "gradient sweep"));
  const auto in = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.bounded(high - low + 1));
  };
  LaneCase c;
  c.params = random_scenario(seed, Rows::one_class).params;
  c.params.router.multicast = Multicast::independent;
  if (in(0, 3) == 0) c.params.core.dispatch = 130;  // numbers that need 16 bits
  c.setup.core = c.params.core;
  c.setup.queue = c.params.queue;
  c.setup.wafer.columns = in(0, 9) == 0 ? in(16, 20) : in(2, 8);
  c.setup.wafer.rows = in(1, 9);
  c.setup.ws.lookahead = in(1, 4);
  c.setup.ws.results = in(1, 4);
  c.setup.ws.gradient = in(0, 1) == 0 ? GradientSums::kept : GradientSums::chained;
  c.setup.ws.row_order = static_cast<RowOrder>(in(0, 2));
  c.setup.ws.ring = in(0, 1) == 0 ? Precision::fp16 : Precision::fp32;
  c.setup.io.duplex = in(0, 1) == 0 ? IoDuplex::half : IoDuplex::full;
  c.setup.io.stream = in(0, 3) == 0 ? IoStream::row_ordered : IoStream::per_column;
  c.setup.io.column_fifo = in(1, 4);
  c.setup.mem.read_bits = in(0, 1) == 0 ? 128 : 32 * in(1, 4);  // a beat reads up to 256 bits
  c.setup.mem.write_bits = in(0, 1) == 0 ? 64 : 16 * in(1, 4);
  c.setup.io.share = 0.001 * in(1, 20);
  c.job.m = in(1, 30);
  c.job.tokens = in(1, 40);
  c.job.n = in(1, 30);
  draw_groups(seed, c);
  draw_mask(random, c);
  return c;
}

class RandomGradientLanes : public ::testing::TestWithParam<std::uint64_t> {};

/// True if words of the chain stood in routers above the last two rows.
bool chain_was_held(const Program& program, const WaferOutcome& outcome) {
  for (std::size_t i = 0; i + 2 * program.columns < outcome.routers.size(); ++i) {
    for (const Color color : program.gradient->down) {
      if (outcome.routers[i].stalls.at(static_cast<std::size_t>(color)) != 0) return true;
    }
  }
  return false;
}

/// Rows of one or two counts of tokens, and numbers of dot products that fill several rows.
LaneCase random_fold(std::uint64_t seed) {
  LaneCase c = lane_case(seed);
  Random random(stream_seed(seed, "gradient fold"));
  const auto in = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.bounded(high - low + 1));
  };
  c.setup.ws.gradient = GradientSums::kept;
  c.setup.io.stream = IoStream::per_column;
  c.setup.wafer.rows = in(1, 14);
  c.params.router.entries = in(2, 3);
  const unsigned shut = in(0, 2) == 0 ? 0 : in(1, c.params.router.ramp);
  c.params.router.link_words = in(0, 1) == 0 ? in(1, 4) : in(5, 12);
  c.params.router.link_cycles = c.params.router.link_words + shut;
  c.params.queue.in = fmt::format("6,6,{},{}", c.params.queue.stream(), in(2, 8));
  c.setup.queue = c.params.queue;
  c.job.tokens = in(1, 3) * c.setup.wafer.rows + (in(0, 1) == 0 ? 0 : in(0, 6));
  // What leaves slowly fills the rows above, and few words fill some of them.
  c.setup.io.share = 0.001 * in(1, in(0, 1) == 0 ? 3 : 60);
  c.job.m = in(1, 60);
  draw_mask(random, c);
  return c;
}

TEST_P(RandomGradientLanes, FoldedCountsTheSame) {
  const std::uint64_t cases = 10 * test::long_factor();
  std::uint64_t folded = 0;
  std::uint64_t held = 0;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + cases; ++seed) {
    LaneCase c = random_fold(seed);
    c.job.mask = &c.mask;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const GradientPlan plan = test::plan_gradient(c.job, c.setup);
    const std::optional<GradientInLanes> in_lanes =
        fold_gradient(c.params, plan.program, {Engine::event});
    if (!in_lanes) continue;
    ++folded;
    const WaferOutcome definition = simulate(c.params, plan.program, {Engine::clocked, seed});
    EXPECT_EQ(difference(definition, in_lanes->outcome), "");
    held += chain_was_held(plan.program, definition) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(10 * folded, 8 * cases);  // elsewhere rows of fewer tokens come later to the chain
  EXPECT_GT(held, 0U);
}

// Hardware and programs as they come: a gradient is folded as the definition runs it, or refused.
TEST_P(RandomGradientLanes, WhatIsFoldedIsRightAndTheRestIsRefused) {
  const std::uint64_t cases = 15 * test::long_factor();
  std::uint64_t refused = 0;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + cases; ++seed) {
    LaneCase c = seed % 3 == 0 ? random_fold(seed) : lane_case(seed);
    c.params = random_scenario(seed + 500, Rows::one_class).params;
    c.setup.core = c.params.core;
    c.setup.queue = c.params.queue;
    c.job.mask = &c.mask;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const GradientPlan plan = test::plan_gradient(c.job, c.setup);
    const std::optional<GradientInLanes> folded =
        fold_gradient(c.params, plan.program, {Engine::event});
    refused += folded ? 0 : 1;
    if (!folded) continue;
    EXPECT_EQ(difference(simulate(c.params, plan.program, {Engine::clocked}), folded->outcome), "");
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 0U);
}

// A row that stands for others says so itself; nobody simulates them all to see it once more.
TEST(FoldedGradient, StandingStillIsADeadlock) {
  LaneCase c = random_fold(3);
  c.job.mask = &c.mask;
  Program program = test::plan_gradient(c.job, c.setup).program;
  program.rate = {1, 1'000'000};  // words are further apart than the 100,000 cycles of a deadlock
  ASSERT_EQ(reason_not_to_fold_gradient(c.params, program, {Engine::event}), "");
  EXPECT_THAT([&] { (void)fold_gradient(c.params, program, {Engine::event}); },
              ThrowsMessage<DeadlockError>(HasSubstr("nothing has moved since cycle")));
}

/// What a result says when all rows are simulated.
TEST(FoldedGradient, TheReasonNotToFoldIsTheFirstThatHolds) {
  const auto reason = [](const auto& change) {
    LaneCase c = random_fold(3);
    c.job.mask = &c.mask;
    c.params = HardwareParams{};
    RunOptions options{Engine::event};
    change(c, options);
    const GradientPlan plan = test::plan_gradient(c.job, c.setup);
    return reason_not_to_fold_gradient(c.params, plan.program, options);
  };
  const auto has = [](const char* text) { return ::testing::HasSubstr(text); };
  EXPECT_EQ(reason([](LaneCase&, RunOptions&) {}), "");
  EXPECT_EQ(reason([](LaneCase& c, auto&) {
              c.setup.ws.groups = 2;
              c.setup.ws.lie = Lie::interleaved;
              c.setup.wafer.columns = 8;
            }),
            "");
  EXPECT_THAT(reason([](LaneCase& c, auto&) {
                c.setup.ws.groups = 2;
                c.setup.ws.share = Share::tokens;
                c.setup.wafer.columns = 8;
              }),
              has("ws.copies = routed"));
  EXPECT_THAT(reason([](LaneCase& c, auto&) { c.setup.ws.gradient = GradientSums::chained; }),
              has("ws.gradient = chained"));
  EXPECT_THAT(reason([](LaneCase& c, auto&) { c.setup.io.stream = IoStream::row_ordered; }),
              has("io.stream = row_ordered"));
  EXPECT_THAT(reason([](LaneCase& c, auto&) { c.params.router.entries = 1; }),
              has("router.entries = 1"));
  const auto shut = [](unsigned cycles) {  // behind each word; a ramp takes two
    return [cycles](LaneCase& c, auto&) { c.params.router.link_cycles = 1 + cycles; };
  };
  EXPECT_EQ(reason(shut(2)), "");
  EXPECT_THAT(reason(shut(3)), has("router.link_cycles"));
  EXPECT_THAT(reason([](LaneCase& c, auto&) { c.params.router.arbiter = Arbiter::oldest; }),
              has("age of words"));
  EXPECT_THAT(reason([](LaneCase&, RunOptions& o) { o.engine = Engine::clocked; }), has("clocked"));
  EXPECT_THAT(reason([](LaneCase&, RunOptions& o) { o.event_log = true; }), has("event log"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGradientLanes,
                         ::testing::Values(0U, 1000U, 2000U, 3000U, 4000U, 5000U, 6000U, 7000U));

}  // namespace
}  // namespace lacuna::wse
