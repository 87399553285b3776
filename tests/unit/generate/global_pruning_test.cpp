// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/global_pruning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// bert-tiny: a layer has 12 * 128^2 = 196,608 weights. floor(0.1 * 16,384) = 1,638 of each of four
// and 6,553 of each of two: 19,658 in all, however they fall.
TEST(GlobalPruning, KeepsAsManyAsEachWouldAloneWhileDensitiesEmerge) {
  const WorkloadTrace trace = generate_workload(
      "bert-tiny",
      {{"part", "weights"}, {"layers", "1"}, {"tokens", "8"}, {"pattern", "magnitude:0.1"}});
  const std::vector<RowMask> pruned = prune_together(trace, 1);
  ASSERT_EQ(pruned.size(), 6U);
  std::uint64_t kept = 0;
  bool differs = false;
  for (const RowMask& row : pruned) {
    kept += row.mask.nnz();
    const Mask alone = *make_mask(trace.ops[row.row], trace, 1);
    EXPECT_EQ(row.mask.rows, alone.rows);
    differs = differs || row.mask.nnz() != alone.nnz();
  }
  EXPECT_EQ(kept, 19658U);
  EXPECT_TRUE(differs);
}

// With one matrix the threshold is its own.
TEST(GlobalPruning, OfOneMatrixIsItsOwnPruning) {
  const WorkloadTrace trace = generate_workload(
      "gemm", {{"shape", "64x96x8"}, {"pattern", "magnitude4:0.25:norm=l2:preset=skewed"}});
  const std::vector<RowMask> pruned = prune_together(trace, 7);
  ASSERT_EQ(pruned.size(), 1U);
  EXPECT_EQ(pruned[0].mask, *make_mask(trace.ops[0], trace, 7));
}

TEST(GlobalPruning, NeedsMagnitudes) {
  const WorkloadTrace dense = generate_workload("gemm", {{"shape", "8x8x8"}});
  EXPECT_THAT([&] { prune_together(dense, 1); },
              ThrowsMessage<RequestError>(HasSubstr("no row of pattern magnitude")));
}

}  // namespace
}  // namespace lacuna
