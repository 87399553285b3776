// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/dynamic/codelets.hpp"

namespace lacuna::ipu {
namespace {

/// Clocks of the transposed product of one bucket whose rows have these numbers of non-zeros.
Cycle clocks(const Types& types, unsigned block, const std::vector<std::uint32_t>& rows,
             std::uint64_t columns) {
  ProgramBuilder builder{ChipParams()};
  DynamicCodelets codelets(builder, Target(), types, block, 4, SparsePass::transposed);
  const std::uint32_t vertex = codelets.vertex({{rows, 0}}, columns);
  std::vector<std::uint64_t> issues(builder.program().bundles.size(), 0);
  return vertex_cost(builder.program(), builder.program().vertices[vertex], issues).cycles;
}

// 30 + 44 + 68 of the supervisor; six workers share the 12 non-zeros of each of three rows, two
// each: 20 + 3 (18 + 10 x 2) = 134 bundles; 142 + 6 x 134 = 946.
TEST(TransposedCodelets, WorkersShareTheNonzerosOfEachRow) {
  EXPECT_EQ(clocks(kMixed, 1, {12, 12, 12}, 8), 946U);
}

// A row of 13 gives one worker a third one: 20 + 2 (18 + 10 x 2) + (18 + 10 x 3) = 144.
TEST(TransposedCodelets, ANonzeroMoreCostsOneWorkerABundleForEachOfItsSteps) {
  EXPECT_EQ(clocks(kMixed, 1, {12, 13, 12}, 8), 142U + 6U * 144U);
}

// FP32, 8 columns: 23 + X (24 + 8 + (2 + 3 x 4) y'): two rows of six: 23 + 2 x 46 = 115.
TEST(TransposedCodelets, SinglesTakeThreeBundlesForEachPairOfColumns) {
  EXPECT_EQ(clocks(kSingle, 1, {6, 6}, 8), 142U + 6U * 115U);
}

// Blocks of 16 in FP16 with FP32 partials, 24 columns, 4 of each worker: 40 + 46 + 56 + 2, for each
// of three blocks 64 + 3 + 12 x 2; workers 23 + 3 x 2 x (24 + 4 x 4), nothing retained. Rows cost
// nothing by themselves.
TEST(TransposedCodelets, BlocksRetainNothingFromOneToTheNext) {
  const Cycle expected = 144 + 3 * 91 + 6 * (23 + 6 * 40);
  EXPECT_EQ(clocks(kMixed, 16, {1, 2}, 24), expected);
  EXPECT_EQ(clocks(kMixed, 16, {3}, 24), expected);
}

// Blocks of 4 in FP16 are one grain: 7 + 6 (37 + (T' - 2) 4), T' = 3 of 18 blocks: 7 + 6 x 41.
TEST(TransposedCodelets, ABucketOfBlocksIsTransposedByAllWorkers) {
  ProgramBuilder builder{ChipParams()};
  DynamicCodelets codelets(builder, Target(), kMixed, 4, 4, SparsePass::transposed);
  const std::uint32_t vertex = codelets.transpose_vertex(18);
  std::vector<std::uint64_t> issues(builder.program().bundles.size(), 0);
  EXPECT_EQ(vertex_cost(builder.program(), builder.program().vertices[vertex], issues).cycles,
            253U);
}

}  // namespace
}  // namespace lacuna::ipu
