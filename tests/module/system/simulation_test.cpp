// SPDX-License-Identifier: Apache-2.0
#include "models/system/simulation.hpp"

#include <gtest/gtest.h>

#include "models/system/collectives.hpp"
#include "sim/base/error.hpp"
#include "tests/support/system/random_segment.hpp"

namespace lacuna {
namespace {

using system::Fabric;
using system::Program;
using system::Segment;
using system::SegmentResult;
using system::SystemParams;
using system::Use;
using system::Way;

std::uint64_t of(const system::TimeStack& stack, Use use) {
  return stack[static_cast<std::size_t>(use)];
}

/// Four chips with round numbers: a link carries 1 byte/ns, hops take 10 ns, a barrier of the four
/// takes 20 ns on the chip and 2 hops of 5 ns there and back.
SystemParams round_system() {
  SystemParams params = test::small_system(4);
  params.links.link_gbps = 1;
  params.links.efficiency = 1;
  params.links.hop_ns = 10;
  params.sync.chip_ns = 20;
  params.sync.hop_ns = 5;
  return params;
}
constexpr std::uint64_t kBarrier = 20 + 2 * 2 * 5;

SegmentResult run(const SystemParams& params, const Segment& segment) {
  return run_segment(params, Fabric(params), segment, {});
}

TEST(System, ASegmentLastsAsLongAsItsLongestWorkAndTheBarrier) {
  const SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  segment.work(0, Use::forward, 300);
  segment.work(1, Use::backward, 500);
  const SegmentResult result = run(params, segment);
  EXPECT_EQ(result.ns, 500 + kBarrier);
  EXPECT_EQ(of(result.chips[0], Use::forward), 300U);
  EXPECT_EQ(of(result.chips[0], Use::imbalance), 200U);
  EXPECT_EQ(of(result.chips[0], Use::sync), kBarrier);
  EXPECT_EQ(of(result.chips[1], Use::backward), 500U);
  EXPECT_EQ(of(result.chips[2], Use::bubble), 500U);
}

// 400 bytes to the pair neighbour, in one chunk, over 4 links of 1 byte/ns: the chunk is with the
// carrier in cycle 1, is carried for 100 ns up to cycle 100, and is there 10 ns later.
TEST(System, AChunkIsThereAfterItsTimeOnTheLinkAndAHop) {
  const SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  segment.receive(1, segment.send({0, 1, 400, Way::links}), Use::links);
  const SegmentResult result = run(params, segment);
  EXPECT_EQ(of(result.chips[1], Use::links), 110U);
  EXPECT_EQ(result.ns, 110 + kBarrier);
}

// From 0 to 3: 100 bytes cross over 2 links in 50 ns (cycles 1 to 50), leave for the rail with a
// hop (60), go up 2 links in 50 ns (60 to 109) and arrive a hop later.
TEST(System, AChunkChangesItsRailBeforeItGoesUp) {
  const SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  segment.receive(3, segment.send({0, 3, 100, Way::links}), Use::links);
  EXPECT_EQ(of(run(params, segment).chips[3], Use::links), 119U);
}

// Two transfers of 200 bytes over the same 2 links take 100 ns each, one after the other.
TEST(System, TransfersThatShareALinkTakeTurns) {
  const SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  const std::uint32_t first = segment.send({0, 2, 200, Way::links});
  const std::uint32_t second = segment.send({0, 2, 200, Way::links});
  segment.receive(2, first, Use::links);
  segment.receive(2, second, Use::links);
  EXPECT_EQ(of(run(params, segment).chips[2], Use::links), 210U);
}

// Four chips of a machine load 1000 bytes each from a memory of 10 bytes/ns: 400 ns in all.
TEST(System, TheStreamingMemoryOfAMachineIsSharedByItsChips) {
  SystemParams params = round_system();
  params.gateway.ddr_gbps = 10;
  params.gateway.ddr_efficiency = 1;
  params.gateway.pcie_gbps = 1000;
  params.gateway.ddr_ns = 40;
  params.gateway.pcie_ns = 30;
  Segment segment = test::empty_segment(params);
  for (std::uint32_t chip = 0; chip < 4; ++chip) {
    segment.transfer_and_wait({chip, chip, 1000, Way::load}, Use::streaming);
  }
  // the last chunk leaves the memory in cycle 400, is on the bus 40 ns later for 1 ns, and 30 more
  EXPECT_EQ(run(params, segment).ns, 470 + kBarrier);
}

TEST(System, WorkHidesLoadsOfTheBackgroundAndIsNotLongerForThem) {
  SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  segment.transfer_and_wait({0, 0, 4096, Way::load}, Use::streaming, system::kBackground);
  segment.work(0, Use::forward, 2000);
  segment.await_background(0, Use::streaming);
  const SegmentResult result = run(params, segment);
  EXPECT_EQ(of(result.chips[0], Use::streaming), 0U);
  EXPECT_EQ(result.ns, 2000 + kBarrier);
}

TEST(System, WaitingForWhatNobodySendsIsADeadlock) {
  const SystemParams params = round_system();
  Segment segment = test::empty_segment(params);
  const std::uint32_t number = segment.send({0, 1, 10, Way::links});
  segment.receive(1, number, Use::links);
  segment.chips[0].lanes[system::kMain].clear();
  EXPECT_THROW(run(params, segment), DeadlockError);
}

TEST(System, ARepeatedSegmentCountsAsOftenAsItIsRun) {
  const SystemParams params = round_system();
  Program program;
  for (int i = 0; i < 2; ++i) {
    Segment segment = test::empty_segment(params);
    segment.work(0, Use::forward, 100);
    program.add(segment, 3);
  }
  ASSERT_EQ(program.segments.size(), 1U);
  const system::ProgramResult result = run_program(params, Fabric(params), program, {});
  EXPECT_EQ(result.ns, 6 * (100 + kBarrier));
  EXPECT_EQ(of(result.stack(), Use::forward), 600U);
}

// 2 (p - 1) steps of B / p bytes over one ring of pair neighbours, rails and pair: the slowest link
// has 2 bytes/ns. A step begins with a barrier of the four and 50 ns, then 500 bytes take 250 ns
// and a hop of 10, and the cycle in which the chunk is handed over.
TEST(System, AnAllReduceTakesTwiceSizeLessOneSteps) {
  SystemParams params = round_system();
  params.collective.rings = 1;
  params.sync.exchange_ns = 50;
  Segment segment = test::empty_segment(params);
  system::add_collective(
      params, {system::Collective::all_reduce, {{0, 1, 2, 3}}, 2000, Use::all_reduce, 0}, segment);
  EXPECT_EQ(run(params, segment).ns, 6 * (kBarrier + 50 + 250 + 10) + kBarrier);
}

}  // namespace
}  // namespace lacuna
