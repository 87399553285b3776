// SPDX-License-Identifier: Apache-2.0
// What is made of event logs: spans, timelines, waves, power over time; and bounds of the cycle
// stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/event_spans.hpp"
#include "sim/report/power_over_time.hpp"
#include "sim/report/table_bounds.hpp"
#include "sim/report/timeline.hpp"

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
  EXPECT_THAT(spans, ElementsAre("vertex 0 0-10", "vertex 1 0-15", "sync 0 10-16", "sync 1 15-16",
                                 "exchange 2 16-20"));
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

TEST(Timeline, HasASpanForEachPhaseInMicroseconds) {
  RunRecord run;
  run.machine = "bow";
  run.ops = {a_logged_op()};
  const std::string json = timeline_json({run}, {"tile1"});
  EXPECT_THAT(json,
              HasSubstr(R"("name":"vertex 8","cat":"compute","pid":1,"tid":1,"ts":0,"dur":0.015,)"
                        R"("args":{"cycle":0,"cycles":15})"));
  EXPECT_THAT(json, ::testing::Not(HasSubstr("tile0")));
}

TEST(Waves, ShowHowManyOfAThingAreUnderWay) {
  const std::string vcd = waves_vcd(a_logged_op(), {"tile0"});
  EXPECT_THAT(vcd, HasSubstr("$timescale 1 fs $end\n$scope module tile0 $end\n"
                             "$var reg 16 ! queue $end\n"));
  // two words from 4 ns on, one from 5 ns on
  EXPECT_THAT(vcd, HasSubstr("#4000000\nb10 !\n#5000000\nb1 !\n"));
}

TEST(PowerOverTime, AddsUpToTheEnergyAndFollowsTheActivity) {
  OpRecord op = a_logged_op();
  op.energy = {{"mac", {25e-9, 25e-9, 25e-9}}, {"leakage", {20e-9, 20e-9, 20e-9}}};
  const std::vector<PowerInterval> power = power_over_time(op, 10, {"vertex", {}, {}});
  ASSERT_EQ(power.size(), 2U);
  // 25 unit-cycles of work: 20 in the first ten cycles, 5 in the next; 10 ns each
  EXPECT_NEAR(power[0].watts.nominal, (20e-9 + 10e-9) / 10e-9, 1e-12);
  EXPECT_NEAR(power[1].watts.nominal, (5e-9 + 10e-9) / 10e-9, 1e-12);
  const PowerPeak peak = power_peak(power);
  EXPECT_NEAR(peak.mean_w * 20e-9, 45e-9, 1e-20);
  EXPECT_NEAR(peak.peak_w, 3, 1e-12);
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

}  // namespace
}  // namespace lacuna::test
