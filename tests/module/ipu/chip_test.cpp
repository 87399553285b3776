// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/ipu/ipu_chip.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"
#include "tests/support/ipu/chip_bench.hpp"
#include "tests/support/stubs.hpp"

namespace lacuna::ipu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr Execution kClocked{Engine::clocked, Engine::clocked, 0, true};
constexpr Execution kEvent{Engine::event, Engine::event, 0, true};

ChipParams chip_of(unsigned tiles) {
  ChipParams params;
  params.ipu.tiles = tiles;
  return params;
}

/// A program under construction, with a vertex that keeps the supervisor busy for some clocks and
/// one whose workers issue some bundles each.
struct Bench {
  explicit Bench(unsigned tiles) : params(chip_of(tiles)), builder(params) {}

  std::uint32_t supervise(std::uint32_t clocks) {
    return builder.vertex({{builder.codelet({issue(idle, 0, 0)}), {clocks, 0, 0}}}, {});
  }
  std::uint32_t workers(const std::vector<std::uint32_t>& bundles) {
    const std::uint32_t code = builder.codelet({issue(work, 0, 0)});
    std::vector<std::uint32_t> set;
    for (const std::uint32_t n : bundles) set.push_back(builder.worker({{code, {n, 0, 0}}}));
    return builder.vertex({{builder.codelet({run(0)}), {0, 0, 0}}}, set);
  }
  Outcome simulate(const Execution& execution = kClocked) {
    return ipu::simulate({params, builder.program()}, execution);
  }

  ChipParams params;
  ProgramBuilder builder;
  std::uint32_t idle = builder.bundle(Bundle("idle"));
  std::uint32_t work = builder.bundle(Bundle("work"));
};

std::vector<Cycle> cycles_of(const Outcome& outcome, std::uint32_t unit, EventKind kind) {
  std::vector<Cycle> cycles;
  for (const Event& event : outcome.events) {
    if (event.unit == unit && event.kind == static_cast<std::uint16_t>(kind)) {
      cycles.push_back(event.cycle);
    }
  }
  return cycles;
}

class Chip : public ::testing::TestWithParam<Execution> {};

INSTANTIATE_TEST_SUITE_P(Engines, Chip, ::testing::Values(kClocked, kEvent),
                         [](const auto& i) { return i.index == 0 ? "clocked" : "event"; });

TEST_P(Chip, AComputeSetBeginsWithElevenClocksOfLaunch) {
  Bench bench(1);
  bench.builder.work(0, bench.supervise(100));
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.cycles, 111U);
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::vertex_start), ElementsAre(11));
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::vertex_end), ElementsAre(110));
}

// Six workers of 10, 9, ..., 5 bundles; launch 11. Worker w issues its bundle i in cycle
// 11 + 6 i + w, so worker 0 exits in 11 + 6 * 9 = 65, worker 5 in 11 + 6 * 4 + 5 = 40.
TEST_P(Chip, AWorkerIssuesOneBundleInSixClocksHoweverManyOthersRun) {
  Bench bench(1);
  bench.builder.work(0, bench.workers({10, 9, 8, 7, 6, 5}));
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.cycles, 11U + 60U);
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::worker_launch), ElementsAre(11, 11, 11, 11, 11, 11));
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::worker_exit), ElementsAre(40, 45, 50, 55, 60, 65));
  EXPECT_EQ(outcome.counters.at("worker"), 45U);
  EXPECT_EQ(outcome.counters.at("slot"), 15U);
}

TEST_P(Chip, VerticesOfATileFollowOneAnother) {
  Bench bench(1);
  bench.builder.work(0, bench.supervise(7));
  bench.builder.work(0, bench.workers({2, 2, 2, 2, 2, 2}));
  bench.builder.work(0, bench.supervise(0));
  bench.builder.work(0, bench.supervise(5));
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  EXPECT_EQ(bench.simulate(GetParam()).cycles, 11U + 7U + 12U + 5U);
}

// Tile 0 computes 11 + 100 clocks, tile 1 11 + 40: the last arrives in 111 and all are released in
// 261. 50 words from tile 0 to tile 1, 31 clocks away, have landed after 81 more.
TEST_P(Chip, ASuperstepIsComputeThenSyncThenExchange) {
  Bench bench(2);
  bench.builder.work(0, bench.supervise(100));
  bench.builder.work(1, bench.supervise(40));
  TransferList list;
  list.add({0, 0}, 50, {{1, 0}});
  const std::uint32_t compute = bench.builder.compute_set("c");
  bench.builder.superstep(compute, bench.builder.exchange("x", list));
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.cycles, 261U + 81U);
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::sync_arrive), ElementsAre(111));
  EXPECT_THAT(cycles_of(outcome, 1, EventKind::sync_arrive), ElementsAre(51));
  EXPECT_THAT(cycles_of(outcome, 2, EventKind::sync_release), ElementsAre(261));
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::send_first), ElementsAre(261));
  EXPECT_THAT(cycles_of(outcome, 0, EventKind::send_last), ElementsAre(310));
  EXPECT_THAT(cycles_of(outcome, 1, EventKind::receive_first), ElementsAre(292));
  EXPECT_THAT(cycles_of(outcome, 1, EventKind::receive_last), ElementsAre(341));
}

// The same run: tile 1 waits 60 clocks for tile 0, both 150 for the barrier; tile 0 is done with
// its words 31 clocks before the phase ends, tile 1 waits 31 for its first.
TEST_P(Chip, BooksWaitingByItsCause) {
  Bench bench(2);
  bench.builder.work(0, bench.supervise(100));
  bench.builder.work(1, bench.supervise(40));
  TransferList list;
  list.add({0, 0}, 50, {{1, 0}});
  const std::uint32_t compute = bench.builder.compute_set("c");
  bench.builder.superstep(compute, bench.builder.exchange("x", list));
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.counters.at("supervisor"), 111U + 51U);
  EXPECT_EQ(outcome.counters.at("barrier"), 60U);
  EXPECT_EQ(outcome.counters.at("sync"), 300U);
  EXPECT_EQ(outcome.counters.at("exchange"), 100U);
  EXPECT_EQ(outcome.counters.at("exchange_gap"), 31U);
  EXPECT_EQ(outcome.counters.at("exchange_tail"), 31U);
  EXPECT_EQ(outcome.counters.at("exch_sent"), 50U);
  EXPECT_EQ(outcome.counters.at("exch_received"), 50U);
}

TEST_P(Chip, TilesWithoutWorkAreIdleAndNobodyWaitsForThem) {
  Bench bench(4);
  bench.builder.work(2, bench.supervise(9));
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.cycles, 20U);
  EXPECT_EQ(outcome.counters.at("idle"), 60U);
}

TEST_P(Chip, AProgramWithoutSuperstepsTakesNoTime) {
  Bench bench(2);
  EXPECT_EQ(bench.simulate(GetParam()).cycles, 0U);
}

// Launch until cycle 11; then a word each cycle leaves for a channel that takes one more.
TEST_P(Chip, APortMovesOneWordPerCycle) {
  Bench bench(1);
  WorkItem item;
  item.kind = WorkItem::Kind::port_send;
  item.words = 3;
  bench.builder.work(0, item);
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_EQ(outcome.cycles, 14U);
  EXPECT_THAT(outcome.ports.at(0), ElementsAre(Pair(12, 0U), Pair(13, 1U)));
}

TEST_P(Chip, WordsReallyTravelWhenTheProgramHasValues) {
  Bench bench(3);
  Program& program = bench.builder.program();
  program.values = true;
  program.memory_words = 8;
  program.images.push_back({{0, 0}, {5, 6, 7}});
  const std::uint32_t doubling = bench.builder.function([](TileMemory& memory) {
    for (std::size_t w = 0; w < 3; ++w) memory.set_word(w, 2 * memory.word(w));
  });
  bench.builder.work(0, bench.supervise(1), doubling);
  TransferList list;
  list.add({0, 0}, 3, {{1, 4}, {2, 5}});
  const std::uint32_t compute = bench.builder.compute_set("c");
  bench.builder.superstep(compute, bench.builder.exchange("x", list));
  const Outcome outcome = bench.simulate(GetParam());
  EXPECT_THAT(outcome.memories.at(1), ElementsAre(0, 0, 0, 0, 10, 12, 14, 0));
  EXPECT_THAT(outcome.memories.at(2), ElementsAre(0, 0, 0, 0, 0, 10, 12, 14));
}

/// A chip whose port is bound to a channel that nobody fills.
std::string report_of_a_port_without_words(Engine engine) {
  Bench bench(2);
  WorkItem item;
  item.kind = WorkItem::Kind::port_receive;
  item.words = 4;
  bench.builder.work(1, item);
  TransferList list;
  list.add({0, 0}, 3, {{1, 4}});
  const std::uint32_t compute = bench.builder.compute_set("c");
  bench.builder.superstep(compute, bench.builder.exchange("x", list));
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  IpuChip chip("chip", clock, bench.params, bench.builder.program(), engine);
  Channel<std::uint32_t> channel(clock, 1);
  chip.tile(1).in.bind(channel);
  try {
    chip.run();
  } catch (const DeadlockError& error) {
    return error.what();
  }
  return "";
}

TEST(ChipDeadlock, NamesTheTileThatWaitsAtItsPortAndTheOneAtTheBarrier) {
  const std::string report = report_of_a_port_without_words(Engine::clocked);
  EXPECT_THAT(report, HasSubstr("chip.tile_1: waits to pop word 1 of 4 at its port"));
  EXPECT_THAT(report, HasSubstr("chip.tile_0: waits at the barrier of superstep 0"));
  EXPECT_EQ(report, report_of_a_port_without_words(Engine::event));
}

TEST(ChipFaults, APortThatNothingIsBoundToIsRefused) {
  Bench bench(1);
  WorkItem item;
  item.kind = WorkItem::Kind::port_send;
  item.words = 1;
  bench.builder.work(0, item);
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), Engine::event);
  IpuChip chip("chip", clock, bench.params, bench.builder.program(), Engine::event);
  EXPECT_THROW(chip.run(), RequestError);
}

/// An exchange of two transfers to one tile, whose plan a test then spoils.
struct SpoiltExchange : Bench {
  SpoiltExchange() : Bench(3) {
    TransferList list;
    list.add({0, 0}, 20, {{2, 0}});
    list.add({1, 0}, 20, {{2, 20}});
    builder.superstep(kNone, builder.exchange("x", list));
  }
  ExchangePlan& plan() { return builder.program().exchanges.front().plan; }
};

TEST_P(Chip, TwoWordsForOnePortInACycleAreADefect) {
  SpoiltExchange bench;
  bench.plan().receives[1].start = bench.plan().receives[0].start + 5;
  EXPECT_THROW(bench.simulate(GetParam()), InternalError);
}

TEST_P(Chip, WordsReceivedThatWereNotSentAreADefect) {
  SpoiltExchange bench;
  bench.plan().receives[1].words = 21;
  EXPECT_THROW(bench.simulate(GetParam()), InternalError);
}

TEST(ChipFaults, ListeningToASilentTileIsADefect) {
  SpoiltExchange bench;
  bench.plan().receives[0].latency -= 1;
  EXPECT_THROW(bench.simulate(kClocked), InternalError);
}

TEST_P(Chip, AnExchangeThatEndsBeforeItsLastWordIsADefect) {
  SpoiltExchange bench;
  bench.plan().length -= 1;
  EXPECT_THROW(bench.simulate(GetParam()), InternalError);
}

TEST_P(Chip, ABundleThatExceedsTheAmpIsADefectAndOneThatExceedsAPortIsNotSupported) {
  for (const auto& [tally, most] : {std::pair{Tally::read_input, 2U},
                                    {Tally::write_output, 1U},
                                    {Tally::amp_mac_fp16, 64U},
                                    {Tally::amp_mac_fp8, 0U}}) {
    Bench good(1);
    good.builder.bundle(Bundle("most").add(tally, most));
    EXPECT_NO_THROW(good.simulate(GetParam()));
    Bench bad(1);
    bad.builder.bundle(Bundle("more").add(tally, most + 1));
    if (tally == Tally::read_input || tally == Tally::write_output) {
      EXPECT_THROW(bad.simulate(GetParam()), UnsupportedError);  // ports are the user's to narrow
    } else {
      EXPECT_THROW(bad.simulate(GetParam()), InternalError);
    }
  }
}

// Of a tile that loads 8 bytes in a clock, two reads of 8 bytes take a slot more.
TEST_P(Chip, ABundleThatLosesSlotsAndComesAfterItsProgramWasTakenIsADefect) {
  ChipParams params = chip_of(1);
  params.tile.memory.load_bytes = 8U;
  Bundle reads("reads");
  reads.add(Tally::read_input, 2);
  ProgramBuilder builder(params);
  builder.bundle(reads);
  Program program = builder.take();
  EXPECT_THAT(program.conflicts, ElementsAre(1));
  EXPECT_NO_THROW(simulate({params, program}, GetParam()));
  program.bundles.push_back(reads);
  EXPECT_THROW(simulate({params, program}, GetParam()), InternalError);
}

TEST_P(Chip, MoreProductsThanTheOperationHasAreADefect) {
  Bench bench(1);
  const std::uint32_t mac = bench.builder.bundle(Bundle("mac").add(Tally::mac_fp16, 8));
  const std::uint32_t code = bench.builder.codelet({issue(mac, 10)});
  bench.builder.work(0, bench.builder.vertex({{code, {0, 0, 0}}}, {}));
  bench.builder.superstep(bench.builder.compute_set("c"), kNone);
  bench.builder.program().mac_algorithmic = 80;
  EXPECT_EQ(bench.simulate(GetParam()).counters.at("mac_actual"), 80U);
  bench.builder.program().mac_algorithmic = 79;
  EXPECT_THROW(bench.simulate(GetParam()), InternalError);
}

TEST(ChipParams, MoreTilesThanTheFloorPlanHasRoomForAreRefused) {
  ChipParams params;
  params.ipu.rows = 19U;
  EXPECT_THROW(params.check(), ParameterError);
  params.ipu.tiles = 1216U;
  EXPECT_NO_THROW(params.check());
}

}  // namespace
}  // namespace lacuna::ipu
