// SPDX-License-Identifier: Apache-2.0
#include "models/system/collectives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "models/system/fabric.hpp"
#include "models/system/simulation.hpp"
#include "sim/base/error.hpp"
#include "tests/support/system/collective_bytes.hpp"
#include "tests/support/system/random_segment.hpp"

namespace lacuna {
namespace {

using system::Chips;
using system::Collective;
using system::Segment;
using system::SystemParams;
using ::testing::ElementsAre;

std::uint64_t bytes_sent(const Segment& segment) {
  std::uint64_t bytes = 0;
  for (const system::Transfer& transfer : segment.transfers) bytes += transfer.bytes;
  return bytes;
}

// Replica i is in group (i mod 2) + 2 floor(i / 8) for groups of 4 with stride 2.
TEST(Collectives, GroupsOfReplicasHaveTheirStride) {
  const std::vector<Chips> groups = system::replica_groups(16, 4, 2);
  EXPECT_THAT(groups, ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7),
                                  ElementsAre(8, 10, 12, 14), ElementsAre(9, 11, 13, 15)));
  EXPECT_THROW(system::replica_groups(16, 3, 1), RequestError);
}

TEST(Collectives, ARingGoesUpTheEvenRailAndDownTheOddOne) {
  EXPECT_THAT(system::ring_order({0, 1, 2, 3, 4, 5}), ElementsAre(0, 2, 4, 5, 3, 1));
}

TEST(Collectives, BytesOnLinksEqualTheClosedForms) {
  for (const unsigned rings : {1U, 2U}) {
    for (const std::uint32_t size : {2U, 4U, 8U, 16U}) {
      SystemParams params = test::small_system(16);
      params.collective.rings = rings;
      for (const Collective kind :
           {Collective::reduce_scatter, Collective::all_gather, Collective::all_reduce,
            Collective::all_to_all, Collective::broadcast, Collective::reduce}) {
        Segment segment = test::empty_segment(params);
        const std::uint64_t bytes = 4800 * size;
        system::add_collective(
            params, {kind, system::replica_groups(16, size, 1), bytes, system::Use::links, 0},
            segment);
        // (p - 1) B for each pass of a ring, and for all-to-all B (p - 1) / p out of each of p;
        // of broadcast and reduce beside a pass p - 1 parts of B / p, which one chip gives or gets
        const std::uint64_t passes = kind == Collective::all_reduce ? 2 : 1;
        const bool one = kind == Collective::broadcast || kind == Collective::reduce;
        const std::uint64_t parts = one ? (size - 1) * (bytes / size) : 0;
        EXPECT_EQ(bytes_sent(segment), 16 / size * (passes * (size - 1) * bytes + parts));
        EXPECT_EQ(bytes_sent(segment), 16 / size * collective_bytes(kind, bytes, size));
      }
    }
  }
}

// What the groups of links have carried in the end is what was sent, once for each of them on its
// way; an all-to-all of 8 chips sends B / 8 from each to each other one: 4 pairs exchange 2 B / 8
// over the links of the pair, all others go over rails.
TEST(Collectives, LinksCarryWhatIsSentOnceForEachHop) {
  const SystemParams params = test::small_system(8);
  const system::Fabric fabric(params);
  for (const Collective kind :
       {Collective::reduce_scatter, Collective::all_gather, Collective::all_reduce,
        Collective::all_to_all, Collective::broadcast, Collective::reduce}) {
    Segment segment = test::empty_segment(params);
    const std::uint64_t bytes = 8 * 1000;
    system::add_collective(params, {kind, {{0, 1, 2, 3, 4, 5, 6, 7}}, bytes, system::Use::links, 0},
                           segment);
    std::vector<std::uint64_t> expected(fabric.resources().size());
    for (const system::Transfer& transfer : segment.transfers) {
      for (const system::ResourceId id : fabric.route(transfer)) expected[id] += transfer.bytes;
    }
    const system::SegmentResult result = run_segment(params, fabric, segment, {});
    EXPECT_EQ(result.bytes, expected);
    if (kind != Collective::all_to_all) continue;
    std::uint64_t pairs = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (fabric.resources()[i].kind == system::ResourceKind::pair) pairs += result.bytes[i];
    }
    EXPECT_EQ(pairs, 4 * 2 * bytes / 8);
  }
}

// Two domains of 4: reduce-scatter and gather move 3 B in each, and 4 pairs across exchange B / 4
// twice, 2 B in all.
TEST(Collectives, OverTwoDomainsOnlyPartsCrossTheGateways) {
  const SystemParams params = test::small_system(8, 4);
  Segment segment = test::empty_segment(params);
  const std::uint64_t bytes = 4000;
  system::add_collective(
      params, {Collective::all_reduce, {{0, 1, 2, 3, 4, 5, 6, 7}}, bytes, system::Use::links, 0},
      segment);
  std::uint64_t across = 0;
  for (const system::Transfer& transfer : segment.transfers) {
    if (transfer.from / 4 != transfer.to / 4) across += transfer.bytes;
  }
  EXPECT_EQ(across, 2 * bytes);
  EXPECT_EQ(bytes_sent(segment) - across, 2 * 2 * 3 * bytes);
}

/// The bytes that come to each chip.
std::vector<std::uint64_t> bytes_to(const Segment& segment, std::uint64_t size) {
  std::vector<std::uint64_t> got(size);
  for (const system::Transfer& transfer : segment.transfers) got[transfer.to] += transfer.bytes;
  return got;
}

// Over two domains of 4 as over one: of a broadcast of B the first chip gives 7 parts of B / 8,
// which are gathered then; of a reduction it gets them, when they have been added up.
TEST(Collectives, OneChipGivesOrGetsThePartsOfAll) {
  const std::uint64_t bytes = 8000;
  for (const unsigned domain : {8U, 4U}) {
    const SystemParams params = test::small_system(8, domain);
    Segment broadcast = test::empty_segment(params);
    const std::vector<Chips> all = {{0, 1, 2, 3, 4, 5, 6, 7}};
    system::add_collective(params, {Collective::broadcast, all, bytes, system::Use::links, 0},
                           broadcast);
    Segment gather = test::empty_segment(params);
    system::add_collective(params, {Collective::all_gather, all, bytes, system::Use::links, 0},
                           gather);
    std::vector<std::uint64_t> more = bytes_to(gather, 8);
    for (std::size_t chip = 1; chip < 8; ++chip) more[chip] += bytes / 8;
    EXPECT_EQ(bytes_to(broadcast, 8), more) << domain;
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(broadcast.transfers[i].from, 0U);

    Segment reduce = test::empty_segment(params);
    system::add_collective(params, {Collective::reduce, all, bytes, system::Use::links, 0}, reduce);
    Segment scatter = test::empty_segment(params);
    system::add_collective(params, {Collective::reduce_scatter, all, bytes, system::Use::links, 0},
                           scatter);
    more = bytes_to(scatter, 8);
    more[0] += 7 * bytes / 8;
    EXPECT_EQ(bytes_to(reduce, 8), more) << domain;
    const std::size_t before = scatter.transfers.size();
    ASSERT_EQ(reduce.transfers.size(), before + 7);
    for (std::size_t i = before; i < before + 7; ++i) EXPECT_EQ(reduce.transfers[i].to, 0U);
  }
}

// Every chip must end with every part: follow who has what through the steps of the ring.
TEST(Collectives, EveryChipEndsWithAllPartsOfAnAllGather) {
  SystemParams params = test::small_system(8);
  params.collective.rings = 1;
  Segment segment = test::empty_segment(params);
  const std::uint32_t size = 8;
  // parts of different lengths name themselves: 1 + ... so that lengths are distinct
  const std::uint64_t bytes = 8 * 1000 + 3;
  system::add_collective(
      params,
      {Collective::all_gather, system::replica_groups(8, 8, 1), bytes, system::Use::links, 0},
      segment);
  std::map<std::uint32_t, std::uint64_t> got;
  for (const system::Transfer& transfer : segment.transfers) got[transfer.to] += transfer.bytes;
  std::uint64_t all = 0;
  for (const auto& [chip, sum] : got) {
    // each gets all parts but the one it begins with
    EXPECT_GE(sum, bytes - bytes / size - 1);
    EXPECT_LE(sum, bytes - bytes / size);
    all += sum;
  }
  EXPECT_EQ(all, (size - 1) * bytes);
}

// A rail of a ladder of 8: up over each chip between; on a torus the end is next to the beginning.
TEST(Fabric, ATorusTakesTheShorterWayAround) {
  const system::Fabric ladder(test::small_system(16));
  const system::Fabric torus(test::small_system(16, 64, system::Topology::torus));
  const system::Transfer transfer{0, 14, 1, system::Way::links};
  EXPECT_EQ(ladder.route(transfer).size(), 7U);
  ASSERT_EQ(torus.route(transfer).size(), 1U);
  EXPECT_EQ(torus.resources()[torus.route(transfer)[0]].name, "chip0.down");
}

TEST(Fabric, AWordToTheOtherRailCrossesFirst) {
  const system::Fabric fabric(test::small_system(16));
  std::vector<std::string> names;
  for (const system::ResourceId id : fabric.route({1, 6, 1, system::Way::links})) {
    names.push_back(fabric.resources()[id].name);
  }
  EXPECT_THAT(names, ElementsAre("chip1.cross", "chip0.up", "chip2.up", "chip4.up"));
}

// One link is 16 GB/s, 0.85 of it usable: 4, 2 and 2 of them.
TEST(Fabric, GroupsOfLinksHaveTheirRates) {
  const system::Fabric fabric(test::small_system(4));
  EXPECT_EQ(fabric.resources()[0].bytes_per_us, 54400U);
  EXPECT_EQ(fabric.resources()[1].bytes_per_us, 27200U);
  EXPECT_EQ(fabric.resources()[2].bytes_per_us, 27200U);
}

// The table of PopLibs' formula: 15 ns a hop, there and back; the chip's own barrier beside it.
TEST(SystemParams, BarriersTakeThePublishedTimes) {
  SystemParams params;
  const std::uint64_t own = params.sync.chip_ns;
  EXPECT_EQ(params.sync_ns(2) - own, 30U);
  EXPECT_EQ(params.sync_ns(4) - own, 60U);
  EXPECT_EQ(params.sync_ns(16) - own, 150U);
  EXPECT_EQ(params.sync_ns(64) - own, 510U);
}

}  // namespace
}  // namespace lacuna
