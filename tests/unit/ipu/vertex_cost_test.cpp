// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/ipu/program.hpp"

namespace lacuna::ipu {
namespace {

/// A block row of the static block-sparse vertex, 16 x 16 in fp16: `blocks` blocks, each with a
/// weight load of 64 clocks and workers of `columns` columns.
struct BlockRow {
  ProgramBuilder builder{ChipParams()};
  std::uint32_t supervise = builder.bundle(Bundle("supervise"));
  std::uint32_t load = builder.bundle(Bundle("load").add(Tally::read_weight, 1));
  std::uint32_t fill = builder.bundle(Bundle("fill"));
  std::uint32_t amp = builder.bundle(Bundle("amp").add(Tally::amp_mac_fp16, 64));

  std::uint32_t vertex(std::uint32_t blocks, std::uint32_t columns) {
    const std::uint32_t block =
        builder.codelet({loop(5, 0, 0), issue(supervise, 2), issue(load, 64), issue(supervise, 6),
                         run(0), issue(supervise, 8)});
    const std::uint32_t column = builder.codelet({issue(fill, 15), loop(1, 0, 0), issue(amp, 4)});
    const std::uint32_t worker = builder.worker({{column, {columns, 0, 0}}});
    return builder.vertex({{block, {blocks, 0, 0}}}, std::vector<std::uint32_t>(6, worker));
  }
};

// One block: 1 + 64 + 1 + 6 + 6 * (19 + 4 * 10) + 6 + 2 = 434 clocks for 11 columns per worker.
TEST(VertexCost, ABlockOfSixteenWithElevenColumnsPerWorkerTakes434Clocks) {
  BlockRow row;
  const std::uint32_t vertex = row.vertex(1, 11);
  std::vector<std::uint64_t> issues(row.builder.program().bundles.size(), 0);
  const VertexCost cost =
      vertex_cost(row.builder.program(), row.builder.program().vertices[vertex], issues);
  EXPECT_EQ(cost.cycles, 434U);
  EXPECT_EQ(cost.supervisor, 80U);
  EXPECT_EQ(cost.worker, 354U);
  EXPECT_EQ(cost.slot, 0U);
  EXPECT_EQ(issues[row.load], 64U);
  EXPECT_EQ(issues[row.amp], 6U * 44U);
}

TEST(VertexCost, LoopsMultiplyWhatIsInThem) {
  BlockRow row;
  const std::uint32_t vertex = row.vertex(48, 11);
  std::vector<std::uint64_t> issues(row.builder.program().bundles.size(), 0);
  const VertexCost cost =
      vertex_cost(row.builder.program(), row.builder.program().vertices[vertex], issues);
  EXPECT_EQ(cost.cycles, 48U * 434U);
  EXPECT_EQ(issues[row.amp], 48U * 264U);
}

TEST(VertexCost, ALoopOfNoTripsCostsNothing) {
  BlockRow row;
  const std::uint32_t vertex = row.vertex(0, 11);
  std::vector<std::uint64_t> issues(row.builder.program().bundles.size(), 0);
  EXPECT_EQ(
      vertex_cost(row.builder.program(), row.builder.program().vertices[vertex], issues).cycles,
      0U);
}

// Workers of 10, 4 and no bundles: 60 clocks, of which 14 issue; the rest of the slots is lost.
TEST(VertexCost, TheLongestWorkerDecidesAndEmptySlotsAreCounted) {
  ProgramBuilder builder{ChipParams()};
  const std::uint32_t bundle = builder.bundle(Bundle("work"));
  const std::uint32_t code = builder.codelet({issue(bundle, 0, 0)});
  const std::uint32_t ten = builder.worker({{code, {10, 0, 0}}});
  const std::uint32_t four = builder.worker({{code, {4, 0, 0}}});
  const std::uint32_t launch = builder.codelet({run(0)});
  const std::uint32_t vertex =
      builder.vertex({{launch, {0, 0, 0}}}, {ten, four, kNone, kNone, kNone, kNone});
  std::vector<std::uint64_t> issues(1, 0);
  const VertexCost cost =
      vertex_cost(builder.program(), builder.program().vertices[vertex], issues);
  EXPECT_EQ(cost.cycles, 60U);
  EXPECT_EQ(cost.worker, 14U);
  EXPECT_EQ(cost.slot, 46U);
}

// The supervisor of a 1x1 convolution runs ahead: max(6 * longest, 6 * shortest + 14).
TEST(VertexCost, WorkAheadOfTheSlowestWorkerMayOutlastIt) {
  ProgramBuilder builder{ChipParams()};
  const std::uint32_t bundle = builder.bundle(Bundle("work"));
  const std::uint32_t code = builder.codelet({issue(bundle, 0, 0)});
  const std::uint32_t ten = builder.worker({{code, {10, 0, 0}}});
  const std::uint32_t nine = builder.worker({{code, {9, 0, 0}}});
  const std::uint32_t eight = builder.worker({{code, {8, 0, 0}}});
  const std::uint32_t launch = builder.codelet({run(0, 14, 0)});
  const std::uint32_t ahead =
      builder.vertex({{launch, {0, 0, 0}}, {launch, {1, 0, 0}}}, {ten, ten, nine, ten, ten, ten,  //
                                                                  ten, ten, eight, ten, ten, ten});
  std::vector<std::uint64_t> issues(1, 0);
  const VertexCost cost = vertex_cost(builder.program(), builder.program().vertices[ahead], issues);
  EXPECT_EQ(cost.cycles, 68U + 62U);  // max(60, 54 + 14) and max(60, 48 + 14)
  EXPECT_EQ(cost.supervisor, 8U + 2U);
}

}  // namespace
}  // namespace lacuna::ipu
