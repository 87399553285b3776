// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/row_program.hpp"

#include <gtest/gtest.h>

#include "tests/support/system/collective_bytes.hpp"

namespace lacuna {
namespace {

using system::ChipCost;
using system::Program;
using system::Step;
using system::Use;
using system::Way;

LayerOp row(const char* op, Phase phase, std::uint32_t m, std::uint32_t n) {
  LayerOp made;
  made.op = op;
  made.phase = phase;
  made.m = m;
  made.k = 10;
  made.n = n;
  made.dtype = DType::fp32;
  return made;
}

/// Two look-ups, an exchange, and the scatter of gradients, which needs no indices again.
std::vector<LayerOp> rows() {
  return {row("embed", Phase::fwd, 8, 1440), row("embed", Phase::fwd, 8, 240),
          row("alltoall", Phase::fwd, 8, 16), row("embed", Phase::bwd, 8, 1440)};
}

TEST(RowProgram, IndicesOfLookUpsAreFourBytesEach) {
  EXPECT_EQ(system::index_bytes(rows()), 4U * (1440 + 240));
  EXPECT_EQ(system::index_bytes({row("gemm", Phase::fwd, 8, 8)}), 0U);
}

// Four chips: each takes 6,720 bytes from the host in a micro-batch, sends a quarter of 8 x 16 x 4
// bytes to each of three others, and gives the host a loss of 4 bytes for each of 48 at the end.
TEST(RowProgram, AMicroBatchTakesIndicesExchangesRowsAndEndsWithItsLoss) {
  const system::SystemParams params;
  ChipCost cost;
  cost.cycles = 1300;
  const Program program =
      system::row_program(params, rows(), {cost, cost, ChipCost{}, cost}, {4, 48, 1.3});
  ASSERT_EQ(program.order.size(), 2U);
  EXPECT_EQ(program.order[0].times, 48U);
  std::uint64_t from_host = 0;
  std::uint64_t links = 0;
  for (const system::Transfer& transfer : program.segments[program.order[0].segment].transfers) {
    (transfer.way == Way::from_host ? from_host : links) += transfer.bytes;
  }
  EXPECT_EQ(from_host, 4U * 6720);
  EXPECT_EQ(links, 4U * 3 * 128);
  const system::Segment& last = program.segments[program.order[1].segment];
  ASSERT_EQ(last.transfers.size(), 4U);
  EXPECT_EQ(last.transfers[0].bytes, 192U);
  EXPECT_EQ(last.transfers[0].way, Way::to_host);
}

// A forward row that is done again before the backward pass takes its 1,000 ns and its joules, and
// what it computes a second time is no use: 7 FLOP of 14.
TEST(RowProgram, ARowThatIsDoneAgainIsRecomputed) {
  LayerOp first = row("gemm", Phase::fwd, 8, 8);
  first.id = "fwd.l0.q";
  LayerOp again = first;
  again.id = "bwd.l0.q_again";
  ChipCost cost;
  cost.cycles = 1300;
  cost.flop = 7;
  cost.joules.nominal = 2;
  const Program program = system::row_program({}, {first, again}, {cost, cost}, {1, 1, 1.3});
  const system::Segment& batch = program.segments[0];
  const std::vector<Step>& steps = batch.chips[0].lanes[system::kMain];
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].use, Use::forward);
  EXPECT_EQ(steps[1].use, Use::recompute);
  EXPECT_EQ(steps[1].ns, 1000U);
  EXPECT_EQ(batch.flop, 7U);
  EXPECT_EQ(batch.joules.nominal, 4);
}

// Of 8 x 16 numbers of 4 B a quarter is kept, whose places both ends know: two chips send each
// other half of 128 B twice.
TEST(RowProgram, ACollectiveOfAPatternMovesWhatItKeeps) {
  LayerOp sum = row("allreduce", Phase::upd, 8, 16);
  sum.pattern.name = "unstructured";
  sum.pattern.density = Decimal{25, 2};
  const Program program = system::row_program({}, {sum}, {ChipCost{}}, {2, 1, 1.0});
  std::uint64_t links = 0;
  for (const system::Transfer& transfer : program.segments[0].transfers) links += transfer.bytes;
  EXPECT_EQ(links, collective_bytes(system::Collective::all_reduce, 128, 2));
}

// 1300 cycles of 1.3 GHz are 1000 ns for each of three rows, two of them forward.
TEST(RowProgram, RowsTakeTheTimesOfTheirCosts) {
  const system::SystemParams params;
  ChipCost cost;
  cost.cycles = 1300;
  const Program program =
      system::row_program(params, rows(), {cost, cost, ChipCost{}, cost}, {1, 1, 1.3});
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  for (const Step& step : program.segments[0].chips[0].lanes[system::kMain]) {
    if (step.kind != Step::Kind::work) continue;
    if (step.use == Use::forward) forward += step.ns;
    if (step.use == Use::backward) backward += step.ns;
  }
  EXPECT_EQ(forward, 2000U);
  EXPECT_EQ(backward, 1000U);
}

}  // namespace
}  // namespace lacuna
