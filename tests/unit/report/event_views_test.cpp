// SPDX-License-Identifier: Apache-2.0
// What is made of event logs: spans, timelines, waves, power over time; and bounds of the cycle
// stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/error.hpp"
#include "sim/report/event_flows.hpp"
#include "sim/report/event_spans.hpp"
#include "sim/report/interval_series.hpp"
#include "sim/report/power_over_time.hpp"
#include "sim/report/tables/table_bounds.hpp"
#include "sim/report/timeline.hpp"
#include "tests/support/csv_table.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two tiles that work, exchange and wait; at 1 GHz a cycle is a nanosecond.
OpRecord a_logged_op() {
  OpRecord op;
  op.row.op_id = "gemm";
  op.result.cycles = 20;
  op.result.clock_ghz = 1;
  op.result.units = 2;
  op.result.event_units = {"tile0", "tile1", "chip"};
  op.result.event_kinds = {"vertex_start", "vertex_end", "sync_arrive",  "sync_release",
                           "queue_push",   "queue_pop",  "exchange_end", "beat_run"};
  op.result.events = {{0, 0, 0, 7},  {0, 1, 0, 8},  {3, 0, 4, 0},  {4, 0, 4, 0},
                      {5, 0, 5, 0},  {9, 0, 1, 7},  {10, 0, 2, 0}, {14, 1, 1, 8},
                      {15, 1, 2, 0}, {16, 2, 3, 0}, {20, 2, 6, 0}};
  return op;
}

std::string words(const EventSpan& span) {
  return span.what + " " + std::to_string(span.unit) + " " + std::to_string(span.from) + "-" +
         std::to_string(span.to);
}

TEST(EventTracks, PairStartsWithEndsAndArrivalsWithTheNextRelease) {
  const EventTracks tracks = event_tracks(a_logged_op().result);
  std::vector<std::string> spans;
  for (const EventSpan& span : tracks.spans) spans.push_back(words(span));
  // an end is the last cycle of its span; a release and a lone end are the first after it
  EXPECT_THAT(spans, ElementsAre("vertex 0 0-10", "vertex 1 0-15", "barrier 0 10-15",
                                 "sync 0 15-16", "sync 1 15-16", "exchange 2 16-20"));
  ASSERT_EQ(tracks.steps.size(), 3U);
  EXPECT_EQ(tracks.steps[2].by, -1);
}

TEST(EventTracks, PutOverlappingSpansOfAUnitIntoLanes) {
  OpResult result;
  result.event_units = {"tile0"};
  result.event_kinds = {"worker_launch", "worker_exit"};
  result.events = {{0, 0, 0, 0}, {1, 0, 0, 1}, {4, 0, 1, 1},
                   {6, 0, 1, 0}, {7, 0, 0, 1}, {9, 0, 1, 1}};
  const EventTracks tracks = event_tracks(result);
  ASSERT_EQ(tracks.spans.size(), 3U);
  EXPECT_EQ(tracks.spans[0].lane, 0U);  // worker 1, 1 to 5
  EXPECT_EQ(tracks.spans[1].lane, 1U);  // worker 0, 0 to 7
  EXPECT_EQ(tracks.spans[2].lane, 0U);
}

TEST(EventTracks, UnitsAreChosenByNameBeginningOrStar) {
  const std::vector<std::string> names = {"wafer.r0.c0.router", "wafer.r0.c0.core",
                                          "wafer.r1.c0.core", "wafer.r10.c0.core"};
  EXPECT_THAT(matching_units(names, {"wafer.r0.c0"}), ElementsAre(0, 1));
  EXPECT_THAT(matching_units(names, {"wafer.r1"}), ElementsAre(2));
  EXPECT_THAT(matching_units(names, {"*.core"}), ElementsAre(1, 2, 3));
}

/// The first span of that name in a timeline; null if there is none.
nlohmann::json named(const std::string& timeline, const std::string& name) {
  const nlohmann::json all = nlohmann::json::parse(timeline);
  for (const nlohmann::json& event : all.at("traceEvents")) {
    if (event.at("ph") == "X" && event.at("name") == name) return event;
  }
  return nullptr;
}

TEST(Timeline, HasASpanForEachPhaseInMicroseconds) {
  RunRecord run;
  run.machine = "bow";
  run.ops = {a_logged_op()};
  const std::string json = timeline_json({run}, {"tile1"}, 1000000);
  const nlohmann::json span = named(json, "vertex 8");
  EXPECT_EQ(span.at("cat"), "compute");
  EXPECT_EQ(span.at("ts"), 0);
  EXPECT_EQ(span.at("dur"), 0.015);
  EXPECT_EQ(span.at("args").at("cycle"), 0);
  EXPECT_EQ(span.at("args").at("cycles"), 15);
  EXPECT_THAT(json, ::testing::Not(HasSubstr("tile0")));
}

// Tile 0 ends its vertex with cycle 9 and the exchange of words begins with the release in 16: what
// lies between is the barrier, no wait of its own. A core has beats in 2 to 5 and from 9 on, and
// the word that was pushed in 8 was the last to happen before.
TEST(Timeline, HasWaitsAndWhatEndedThem) {
  OpResult result;
  result.cycles = 20;
  result.event_units = {"wafer.r0.c0.core"};
  result.event_kinds = {"beat_run", "queue_push", "reduction_start", "reduction_end"};
  result.events = {{0, 0, 2, 0},       {2, 0, 0, 3 << 1U}, {6, 0, 1, 4}, {8, 0, 1, 5},
                   {9, 0, 0, 2 << 1U}, {9, 0, 1, 6},       {10, 0, 3, 0}};
  const std::vector<EventWait> waits = event_waits(result, event_tracks(result));
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].from, 5U);
  EXPECT_EQ(waits[0].to, 9U);
  EXPECT_EQ(waits[0].until, "queue_push 5");
}

/// Tile 0 sends in 10, 14 and 30; what tile 1 receives of it comes 7 cycles later, what tile 2 says
/// it receives fits no sending.
OpResult an_exchange() {
  OpResult result;
  result.cycles = 50;
  result.clock_ghz = 1;
  result.event_units = {"tile0", "tile1", "tile2", "chip"};
  result.event_kinds = {"send_first", "send_last", "receive_first", "receive_last"};
  result.events = {{10, 0, 0, 2}, {11, 0, 1, 2}, {14, 0, 0, 2}, {15, 0, 1, 2}, {17, 1, 2, 0},
                   {18, 1, 3, 0}, {30, 0, 0, 2}, {31, 0, 1, 2}, {37, 1, 2, 0}, {38, 1, 3, 0},
                   {40, 2, 2, 0}, {41, 2, 2, 0}, {42, 2, 3, 0}, {43, 2, 3, 0}};
  return result;
}

TEST(Timeline, HasFlowsFromSenderToReceiver) {
  const OpResult result = an_exchange();
  const EventFlows flows = event_flows(result, event_tracks(result));
  ASSERT_EQ(flows.flows.size(), 2U);
  EXPECT_EQ(flows.flows[0].sent, 10U);
  EXPECT_EQ(flows.flows[0].received, 17U);
  EXPECT_EQ(flows.flows[1].sent, 30U);
  EXPECT_EQ(flows.flows[1].receiver, 1U);
  EXPECT_EQ(flows.ambiguous, 2U);
}

TEST(Timeline, FollowsTheWordsOfAColorFromRouterToRouter) {
  OpResult result;
  result.cycles = 20;
  result.event_units = {"wafer.r0.c0.router", "wafer.r0.c0.core", "wafer.r0.c1.router",
                        "wafer.r0.c1.core"};
  result.event_kinds = {"word_out"};
  // color 3: two words to the east, which the next router sends up its ramp
  const std::uint64_t east = 3U << 8U | 1U;
  const std::uint64_t ramp = 3U << 8U | 4U;
  result.events = {{4, 0, 0, east}, {5, 0, 0, east}, {6, 2, 0, ramp}, {9, 2, 0, ramp}};
  const EventFlows flows = event_flows(result, event_tracks(result));
  ASSERT_EQ(flows.flows.size(), 2U);
  EXPECT_EQ(flows.flows[1].sent, 5U);
  EXPECT_EQ(flows.flows[1].received, 9U);
  EXPECT_EQ(flows.flows[1].receiver, 2U);
  result.events.push_back({10, 2, 0, ramp});  // a word of its own core may have been among them
  EXPECT_TRUE(event_flows(result, event_tracks(result)).flows.empty());
}

// With details every word says when it was sent and where it came in: an injector's in 3, passed on
// south in 4 and up the ramp of the next router in 6, taken in 9.
TEST(Timeline, FollowsEveryWordOfALogWithDetails) {
  OpResult result;
  result.cycles = 20;
  result.event_units = {"wafer.r0.c0.router", "wafer.r0.c0.core", "wafer.r1.c0.router",
                        "wafer.r1.c0.core", "wafer.injector.c0"};
  result.event_kinds = {"word_pass", "word_taken", "wait_weights_run", "beat_run"};
  const auto pass = [](std::uint64_t on_way, std::uint64_t from, std::uint64_t to) {
    return on_way << 24U | from << 16U | 5U << 8U | to;
  };
  result.events = {{0, 3, 2, 9U << 1U},
                   {4, 0, 0, pass(1, 0, 2)},
                   {6, 2, 0, pass(2, 0, 4)},
                   {9, 3, 1, 3U << 8U | 5U},
                   {9, 3, 3, 2U << 1U}};
  const EventTracks tracks = event_tracks(result);
  const EventFlows flows = event_flows(result, tracks);
  EXPECT_EQ(flows.ambiguous, 0U);
  std::vector<std::string> said;
  for (const EventFlow& flow : flows.flows) {
    said.push_back(std::to_string(flow.sender) + "@" + std::to_string(flow.sent) + ">" +
                   std::to_string(flow.receiver) + "@" + std::to_string(flow.received));
  }
  EXPECT_THAT(said, ElementsAre("4@3>0@4", "0@4>2@6", "2@6>3@9"));
  // the log names the wait itself
  EXPECT_TRUE(event_waits(result, tracks).empty());
  RunRecord run;
  run.machine = "wse2";
  OpRecord op;
  op.result = result;
  op.result.clock_ghz = 1;
  run.ops = {op};
  EXPECT_EQ(named(timeline_json({run}, {"*"}, 1000000), "wait_weights").at("cat"), "imbalance");
}

TEST(Timeline, LeavesOutWindowsBeyondItsLimitAndSaysSo) {
  RunRecord run;
  run.machine = "bow";
  OpRecord op;
  op.row.op_id = "gemm";
  op.result.cycles = 64000;
  op.result.clock_ghz = 1;
  op.result.event_units = {"tile0"};
  op.result.event_kinds = {"vertex_start", "vertex_end"};
  for (Cycle at = 0; at < 64000; at += 50) {
    op.result.events.push_back({at, 0, 0, at});
    op.result.events.push_back({at + 49, 0, 1, at});
  }
  run.ops = {op};
  const std::string all = timeline_json({run}, {}, 10000000);
  EXPECT_THAT(all, HasSubstr("every event of the units shown"));
  const std::string some = timeline_json({run}, {}, 70000);
  EXPECT_LE(some.size(), 70000U);
  EXPECT_THAT(some, HasSubstr("of 64 windows of equal length of each operation every 8th"));
  EXPECT_EQ(named(some, "vertex 950").at("args").at("cycle"), 950);    // of window 0
  EXPECT_TRUE(named(some, "vertex 1000").is_null());                   // of window 1
  EXPECT_EQ(named(some, "vertex 8000").at("args").at("cycle"), 8000);  // of window 8
  const nlohmann::json gap = named(some, "left out");                  // windows 1 to 7
  EXPECT_EQ(gap.at("args").at("cycle"), 1000);
  EXPECT_EQ(gap.at("args").at("cycles"), 7000);
  EXPECT_THROW(timeline_json({run}, {}, 33000), RequestError);
}

TEST(Waves, ShowHowManyOfAThingAreUnderWay) {
  const std::string vcd = waves_vcd(a_logged_op(), {"tile0"});
  EXPECT_THAT(vcd, HasSubstr("$timescale 1 fs $end\n$scope module tile0 $end\n"
                             "$var reg 16 ! barrier $end\n"));
  EXPECT_THAT(vcd, HasSubstr("$var reg 16 # queue $end\n"));
  // two words from 4 ns on, one from 5 ns on
  EXPECT_THAT(vcd, HasSubstr("#4000000\nb10 #\n#5000000\nb1 #\n"));
}

TEST(Waves, HaveAScopeInAScopeForEachPartOfAName) {
  OpRecord op = a_logged_op();
  op.result.event_units = {"wafer.r3.c7.router", "wafer.r3.c7.core", "wafer.injector"};
  const std::string vcd = waves_vcd(op, {"*"});
  EXPECT_THAT(vcd, HasSubstr("fs $end\n$scope module wafer $end\n$scope module r3 $end\n"
                             "$scope module c7 $end\n$scope module router $end\n$var"));
  EXPECT_THAT(vcd, HasSubstr("$end\n$upscope $end\n$scope module core $end\n$var"));
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = vcd.find(what); at != std::string::npos; at = vcd.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("$scope"), count("$upscope"));
  EXPECT_EQ(count("$scope module wafer "), 1U);
}

TEST(PowerOverTime, IsWhatAnIntervalCostOverItsTime) {
  OpResult result;
  result.clock_ghz = 2;
  result.peaks.sram_bytes_per_cycle = 16;
  Interval interval;
  interval.from = 10;
  interval.to = 30;  // 20 cycles of half a nanosecond
  interval.sram_bytes = 80;
  interval.io_bytes = 5;
  const PowerInterval power = power_of(interval, {1e-9, 2e-9, 4e-9}, result);
  EXPECT_EQ(power.from, 10U);
  EXPECT_NEAR(power.watts.low, 0.1, 1e-12);
  EXPECT_NEAR(power.watts.nominal, 0.2, 1e-12);
  EXPECT_NEAR(power.watts.high, 0.4, 1e-12);
  EXPECT_NEAR(power.sram_gbps, 8, 1e-12);
  EXPECT_NEAR(*power.sram_share, 80.0 / (16 * 20), 1e-12);
  EXPECT_NEAR(power.io_gbps, 0.5, 1e-12);
  EXPECT_FALSE(power.io_share) << "a machine without an edge";
}

TEST(PowerOverTime, HasItsPeakInOneIntervalAndItsMeanOverAll) {
  PowerInterval low;
  low.to = 10;
  low.watts.nominal = 1;
  PowerInterval high;
  high.from = 10;
  high.to = 15;
  high.watts.nominal = 4;
  const PowerPeak peak = power_peak({low, high});
  EXPECT_NEAR(peak.mean_w, (10 * 1 + 5 * 4) / 15.0, 1e-12);
  EXPECT_NEAR(peak.peak_w, 4, 1e-12);
  EXPECT_EQ(peak.at, 10U);
}

TEST(IntervalSeries, HoldsTheChangesBetweenBordersOfWhatCosts) {
  StatEntry priced;
  priced.name = "reads";
  priced.action = "sram_read";
  StatEntry free;
  free.name = "issues";
  const auto counts = [&](std::uint64_t reads, std::uint64_t busy) {
    priced.value = reads;
    return CountsSoFar{{free, priced}, {{Layer::compute, "worker", busy}}, 8 * reads, 0, 0};
  };
  IntervalSeries series;
  series.border(10, counts(3, 20));
  series.border(15, counts(5, 30));
  const Intervals intervals = series.take();
  ASSERT_EQ(intervals.counters.size(), 1U);
  EXPECT_EQ(intervals.counters[0].value, 5U);
  ASSERT_EQ(intervals.each.size(), 2U);
  EXPECT_EQ(intervals.each[1].from, 10U);
  EXPECT_EQ(intervals.each[1].counters, std::vector<std::uint64_t>{2});
  EXPECT_EQ(intervals.each[1].stack, std::vector<std::uint64_t>{10});
  EXPECT_EQ(intervals.each[1].sram_bytes, 16U);
}

TEST(IntervalSeries, RefusesACountThatGoesBackAndASumThatIsNotTheWhole) {
  OpResult result;
  result.cycles = 10;
  result.units = 2;
  result.stack = {{Layer::compute, "worker", 20}};
  IntervalSeries series;
  series.border(10, counts_of(result));
  result.intervals = series.take();
  EXPECT_NO_THROW(check_intervals(result));
  result.stack[0].cycles = 21;
  EXPECT_THROW(check_intervals(result), InternalError);
  IntervalSeries back;
  back.border(5, counts_of(result));
  result.stack[0].cycles = 20;
  EXPECT_THROW(back.border(10, counts_of(result)), InternalError);
}

TEST(Bounds, AreTheCyclesThatTheMeanUnitHasLeft) {
  OpRecord op = a_logged_op();
  op.result.stack = {
      {Layer::compute, "worker", 25}, {Layer::sync, "sync", 7}, {Layer::exchange, "exchange", 8}};
  RunRecord run;
  run.ops = {op};
  const std::vector<Bound> bounds =
      bounds_of(run, {{"ideal exchange", {"exchange"}}, {"no sync", {"sync.sync"}}});
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_DOUBLE_EQ(bounds[0].cycles, 16);     // (25 + 7) / 2 tiles
  EXPECT_DOUBLE_EQ(bounds[0].speedup, 1.25);  // of 20
  EXPECT_DOUBLE_EQ(bounds[1].cycles, 16.5);
}

TEST(Bounds, AreTheLargestLimitOfAnOperationThatCountedThem) {
  OpRecord op = a_logged_op();
  op.result.stack = {{Layer::compute, "worker", 40}};
  for (const auto& [name, value] : {std::pair{"busiest", 8}, std::pair{"edge", 10}}) {
    StatEntry entry;
    entry.path = "wafer.limits";
    entry.name = name;
    entry.value = static_cast<std::uint64_t>(value);
    op.result.statistics.push_back(entry);
  }
  RunRecord run;
  run.ops = {op};
  const std::vector<Bound> bounds =
      bounds_of(run, {{"both", {}, {"wafer.limits.busiest", "wafer.limits.edge"}},
                      {"one", {}, {"wafer.limits.busiest"}},
                      {"not counted", {}, {"wafer.limits.other"}}});
  ASSERT_EQ(bounds.size(), 3U);
  EXPECT_DOUBLE_EQ(bounds[0].cycles, 10);
  EXPECT_DOUBLE_EQ(bounds[1].speedup, 2.5);  // 20 cycles in 8
  EXPECT_DOUBLE_EQ(bounds[2].cycles, 20) << "the mean of two tiles, by the stack";
}

// Three slots in turn, two workers from cycle 0 on, for 12 and for 6 cycles: of 12 cycles that
// have 18 / 3 = 6 for them, 6 are no work, though the vertex takes 13.
TEST(GanttFigures, PaintAVertexPalerWhereNoWorkerHadTheSlot) {
  RunRecord run;
  run.parameters = {{"tile.workers", "3", ""}};
  OpRecord& op = run.ops.emplace_back();
  op.row.op_id = "gemm";
  op.result.cycles = 13;
  op.result.event_units = {"tile0"};
  op.result.event_kinds = {"vertex_start", "vertex_end", "worker_launch", "worker_exit"};
  op.result.events = {{0, 0, 0, 0}, {0, 0, 2, 0},  {0, 0, 2, 1},
                      {5, 0, 3, 1}, {11, 0, 3, 0}, {12, 0, 1, 0}};
  const std::vector<Figure> figures = gantt_figures({run}, {});
  ASSERT_EQ(figures.size(), 1U);
  const CsvTable vertex(figures[0].csv);
  EXPECT_EQ(vertex.cell("track"), "tile0");
  EXPECT_EQ(vertex.cell("phase"), "vertex");
  EXPECT_EQ(vertex.cell("layer"), "compute");
  EXPECT_EQ(vertex.cell("from"), "0");
  EXPECT_EQ(vertex.cell("to"), "13");
  EXPECT_NEAR(vertex.number("busy"), 7.0 / 13, 0.001);
}

}  // namespace
}  // namespace lacuna::test
