// SPDX-License-Identifier: Apache-2.0
// Intervals of a streamed product whose rows lanes have folded are those of all rows, stepped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/report/interval_series.hpp"

namespace lacuna {
namespace {

Mask random_mask(std::uint32_t rows, std::uint32_t columns, std::uint64_t percent, Random& random) {
  Mask mask;
  mask.rows = rows;
  mask.cols = columns;
  mask.offsets.push_back(0);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (random.bounded(100) < percent) mask.columns.push_back(c);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

// Rows without tokens, fewer tokens in the last rows, and words that enter in the middle row:
// lanes keep some rows, and the run without folding all of them.
TEST(IntervalsOfAWafer, AreTheSameOfRowsThatLanesFolded) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(stream_seed(seed, "interval rows"));
    LayerOp op;
    op.op = "gemm";
    op.m = 8 + static_cast<std::uint32_t>(random.bounded(24));
    op.k = 8 + static_cast<std::uint32_t>(random.bounded(24));
    op.n = 8 + static_cast<std::uint32_t>(random.bounded(40));
    op.residency = Residency::streamed;
    const Mask mask = random_mask(op.m, op.k, 20 + random.bounded(60), random);
    const auto machine = make_wse_machine("wse2");
    machine->set("wafer.columns", std::to_string(2 + random.bounded(5)), "");
    machine->set("wafer.rows", std::to_string(3 + random.bounded(7)), "");
    machine->set("ws.inject", random.bounded(2) == 0 ? "middle_row" : "column_top", "");
    Execution folded;
    folded.interval = 37;
    Execution all = folded;
    all.fold = false;
    const OpResult a = machine->run(op, &mask, 5, folded);
    const OpResult b = machine->run(op, &mask, 5, all);
    ASSERT_EQ(a.cycles, b.cycles);
    ASSERT_GT(a.intervals.each.size(), 2U);
    ASSERT_EQ(a.intervals.each.size(), b.intervals.each.size());
    for (std::size_t i = 0; i < a.intervals.each.size(); ++i) {
      const Interval& mine = a.intervals.each[i];
      const Interval& other = b.intervals.each[i];
      EXPECT_EQ(mine.counters, other.counters);
      EXPECT_EQ(mine.stack, other.stack);
      EXPECT_EQ(mine.sram_bytes, other.sram_bytes);
      EXPECT_EQ(mine.fabric_bytes, other.fabric_bytes);
      EXPECT_EQ(mine.io_bytes, other.io_bytes);
    }
  }
}

// A core that has all its sums and still sends results to other groups, or takes theirs, has not
// ended: the cycles of each interval are those of its units, of whichever modules.
TEST(IntervalsOfAWafer, HaveWhatGroupsExchangeAfterTheLastSum) {
  Random random(stream_seed(1, "interval groups"));
  LayerOp op;
  op.op = "gemm";
  op.m = 32;
  op.k = 16;
  op.n = 24;
  op.residency = Residency::streamed;
  const Mask mask = random_mask(op.m, op.k, 20, random);
  std::vector<OpResult> results;
  for (const char* const modules : {"rows", "per_core"}) {
    const auto machine = make_wse_machine("wse2");
    machine->set("wafer.columns", "8", "");
    machine->set("wafer.rows", "3", "");
    machine->set("wafer.modules", modules, "");
    machine->set("ws.groups", "4", "");
    Execution execution;
    execution.interval = 10;
    results.push_back(machine->run(op, &mask, 5, execution));
    EXPECT_NO_THROW(check_intervals(results.back()));
  }
  ASSERT_GT(results[0].intervals.each.size(), 2U);
  ASSERT_EQ(results[0].intervals.each.size(), results[1].intervals.each.size());
  for (std::size_t i = 0; i < results[0].intervals.each.size(); ++i) {
    EXPECT_EQ(results[0].intervals.each[i].stack, results[1].intervals.each[i].stack);
  }
}

// 850,000 cores for 2,400 cycles are 2.04e9 cycles of cores.
TEST(IntervalsOfAWafer, ThatWouldTakeTooLongAreRefusedByName) {
  EXPECT_NO_THROW(require_stepped(850000, 2300));
  EXPECT_THAT([] { require_stepped(850000, 2400); },
              ::testing::ThrowsMessage<UnsupportedError>(::testing::AllOf(
                  ::testing::HasSubstr("--interval: 850000 cores"),
                  ::testing::HasSubstr("2400 cycles"), ::testing::HasSubstr("--view"))));
}

}  // namespace
}  // namespace lacuna
