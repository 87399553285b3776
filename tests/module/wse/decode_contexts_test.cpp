// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/random.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"

namespace lacuna::wse {
namespace {

/// Cycles of a layer from its first stamp to its last.
Cycle layer_cycles(const DecoderModel& model, const DecodeBlock& block) {
  const DecodeBench bench;
  const DecodeShape shape(model, block);
  const DecodeLayer layer(shape, bench.costs, bench.params);
  const TaskOutcome outcome = run_tasks(layer.plan());
  return outcome.stamps.at(0).back() - outcome.stamps.at(0).front();
}

// What requests on a wafer take for a step at any context: the slowest of those in which the first
// row of cores has as many positions as at the next multiple of the rows. The new position is in
// the last row, in the first, or in the row whose sum has the longest way.
TEST(DecodeContexts, AStepIsNoLongerThanTheSlowestAtTheNextMultiple) {
  unsigned longer_than_the_last = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    DecoderModel model = grouped_model(16 * (1 + static_cast<std::uint32_t>(random.bounded(4))), 16,
                                       16 * (1 + static_cast<std::uint32_t>(random.bounded(4))));
    model.qk_norm = random.bounded(2) == 0;
    const std::uint32_t rows = 2 + static_cast<std::uint32_t>(random.bounded(15));
    DecodeBlock block = small_block(random.bounded(2) == 0 ? 4 : 8, rows, 1);
    block.batch = 1 + static_cast<std::uint32_t>(random.bounded(3));
    block.receives = random.bounded(2) == 0;
    block.ffn = random.bounded(2) == 0;
    if (random.bounded(3) == 0) {
      block.sees.window = 1 + static_cast<std::uint32_t>(random.bounded(2 * rows));
    }
    block.capacity = 3 * rows;
    const auto at = [&](std::uint32_t context) {
      DecodeBlock one = block;
      one.context = context;
      return layer_cycles(model, one);
    };
    const std::uint32_t farthest = LineSums(rows, LineSums::usual_groups(rows), 0).farthest();
    for (std::uint32_t multiple = rows; multiple <= 3 * rows; multiple += rows) {
      const Cycle last = at(multiple);
      const std::uint32_t first = multiple - rows + 1;
      const Cycle bound = std::max({last, at(first), at(first + farthest)});
      for (std::uint32_t context = multiple - rows + 1; context < multiple; ++context) {
        const Cycle cycles = at(context);
        EXPECT_LE(cycles, bound) << seed << ": " << context << " of " << multiple;
        longer_than_the_last += cycles > last ? 1 : 0;
      }
    }
  }
  // one of the two would not do
  EXPECT_GT(longer_than_the_last, 0U);
}

}  // namespace
}  // namespace lacuna::wse
