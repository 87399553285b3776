// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "tests/support/wse/cases.hpp"
#include "tests/support/wse/random_streaming.hpp"

namespace lacuna::wse {
namespace {

struct ExchangeBatch {
  Rows rows;
  std::uint64_t first_seed;
  bool wide = false;          // numbers that need 16 bits
  std::uint32_t columns = 0;  // of a group, at least; 0: few
  bool copies = false;        // or groups of the same stream
};

/// A random product in groups of columns: of rows that they exchange, or do not, or of the same
/// stream.
StreamingScenario grouped_exchange(std::uint64_t seed, const ExchangeBatch& batch) {
  StreamingScenario scenario = random_reduction(seed, batch.rows);
  Random random(stream_seed(seed, "groups"));
  const auto in = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random.bounded(high - low + 1));
  };
  scenario.groups = in(2, 4);
  const std::uint32_t width = batch.columns == 0 ? in(1, 6) : in(batch.columns, batch.columns + 9);
  scenario.columns = scenario.groups * width;
  if (batch.copies) scenario.entry = 0;  // the row that copies is above the others
  scenario.interleaved = in(0, 1) == 1;
  scenario.copies = batch.copies && scenario.interleaved && in(0, 2) != 0;
  // Colors of four rings that pass through each other, an exchange and the weights: 19.
  if (scenario.interleaved) scenario.reduce = in(0, 1) == 0 ? Reduce::ring : Reduce::chain;
  scenario.buses = scenario.copies || in(0, 5) == 0 ? 0 : std::min(width, in(1, 2));
  scenario.bus_order = static_cast<RowOrder>(in(0, 2));
  scenario.send_cycles = in(1, 8) == 1 ? 2 : 1;
  scenario.take_cycles = in(1, 8) == 1 ? 3 : 1;
  const ColumnGroups groups{scenario.groups, width, scenario.interleaved};
  const std::uint32_t steps = in(1, 12);
  scenario.final_column.clear();
  for (std::uint32_t s = 0; s < steps; ++s) {
    std::uint32_t place = in(0, width - 1);
    for (std::uint32_t g = 0; g < scenario.groups; ++g) {
      scenario.final_column.push_back(groups.column_of(g, place));
      if (!scenario.copies) place = in(0, width - 1);
    }
  }
  scenario.counts.clear();
  for (std::uint32_t s = 0; s < steps; ++s) {
    std::vector<std::uint32_t> counts(scenario.columns);
    for (std::uint32_t c = 0; c < scenario.columns; ++c) {
      const std::uint32_t first = groups.column_of(0, groups.place_of(c));
      counts[c] = scenario.copies && c != first ? counts[first] : in(0, 5);
    }
    scenario.counts.insert(scenario.counts.end(), counts.begin(), counts.end());
  }
  scenario.params.queue.in = fmt::format("6,6,{},{},1,1,1,1", scenario.params.queue.stream(),
                                         scenario.params.queue.sums_in());
  scenario.input_queues = 5;
  scenario.params.router.multicast = Multicast::independent;
  scenario.params.router.entries = std::max(2U, scenario.params.router.entries.value());
  scenario.held = 0;
  if (scenario.rate.words != 0) scenario.rate = {in(3, 10 * scenario.columns), 10};
  if (batch.wide) scenario.params.core.dispatch = 130;
  return scenario;
}

class Exchange : public ::testing::TestWithParam<ExchangeBatch> {};

/// In lanes, folded and not, and unit by unit, in the order of rows and in any.
TEST_P(Exchange, IsTheSameUnitByUnitAndInLanes) {
  // wide groups take longest
  const std::uint64_t cases = (GetParam().columns == 0 ? 12 : 4) * test::long_factor();
  for (std::uint64_t seed = GetParam().first_seed; seed < GetParam().first_seed + cases; ++seed) {
    const StreamingScenario scenario = grouped_exchange(seed, GetParam());
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ": groups " << scenario.groups << " buses " << scenario.buses
                 << " interleaved " << scenario.interleaved << " copies " << scenario.copies
                 << " order " << static_cast<int>(scenario.bus_order) << " " << describe(scenario));
    Program program = make_program(scenario);
    if (seed % 3 == 0) share_stream(1 + static_cast<std::uint32_t>(seed % 5), program);
    const WaferOutcome definition = simulate(scenario.params, program, {Engine::clocked});
    EXPECT_EQ(difference(definition, simulate(scenario.params, program, {Engine::event})), "");
    EXPECT_EQ(difference(definition, simulate(scenario.params, program, {Engine::event, seed + 1})),
              "");
    const auto lanes = stream_in_lanes(scenario.params, program, {});
    if (scenario.copies && scenario.params.router.turn != 0) {
      // the row that copies turns words out of the way down into its own
      EXPECT_FALSE(lanes);
      EXPECT_EQ(reason_against_own_time(program, scenario.params, {}),
                "words take longer around a corner (router.turn)");
      if (HasFailure()) return;
      continue;
    }
    ASSERT_TRUE(lanes);
    const LanesOutcome& folded = *lanes;
    EXPECT_EQ(
        difference(definition, unfold(folded.kept, folded.fold, program, scenario.params.router)),
        "");
    RunOptions each_row;
    each_row.fold = false;
    const LanesOutcome each = *stream_in_lanes(scenario.params, program, each_row);
    EXPECT_EQ(difference(definition, each.kept), "");
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, Exchange,
    ::testing::Values(ExchangeBatch{Rows::one_class, 1000},
                      ExchangeBatch{Rows::one_class, 2000, true},
                      ExchangeBatch{Rows::remainder, 3000}, ExchangeBatch{Rows::unequal, 4000},
                      ExchangeBatch{Rows::random_blocks, 5000},
                      ExchangeBatch{Rows::one_class, 6000, false, 12},
                      ExchangeBatch{Rows::remainder, 7000, true, 12},
                      ExchangeBatch{Rows::one_class, 8000, false, 0, true},
                      ExchangeBatch{Rows::remainder, 9000, false, 0, true},
                      ExchangeBatch{Rows::unequal, 10000, true, 12, true},
                      ExchangeBatch{Rows::random_blocks, 11000, false, 6, true}));

}  // namespace
}  // namespace lacuna::wse
