// SPDX-License-Identifier: Apache-2.0
// What a critical path says of records that are written by hand.
#include "sim/machines/wse/view/critical_path.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/wse/program/event_kinds.hpp"
#include "sim/base/error.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace wse;  // kinds of events

std::vector<std::string> lines(const CriticalPath& path) {
  std::vector<std::string> text;
  Cycle at = path.window.from;
  for (const PathStep& step : path.steps) {
    EXPECT_EQ(step.from, at);  // neither gap nor overlap
    at = step.to;
    text.push_back(
        fmt::format("{}-{} c{} {}", step.from, step.to, step.column, path.whats.at(step.what)));
  }
  EXPECT_EQ(at, path.window.to);
  return text;
}

std::uint64_t pass(Cycle on_way, Port from, unsigned color, Port to) {
  return std::uint64_t{on_way} << 24U | std::uint64_t{from} << 16U | color << 8U | to;
}

Event run(Cycle at, std::uint32_t unit, EventKind kind, Cycle length) {
  return {at, unit, kind, length << 1U};
}

// Two cores side by side; a ramp takes two cycles, a link one. Units: 0 router, 1 core, 2 router, 3
// core. Core 0 works in 0 to 5 and puts a word out in 4, which goes up in 5, is at its router in 7
// and goes on at once, is at the next in 8, and comes down the ramp by 10. Core 1 has waited for it
// and works until 14.
PathRecords a_word_that_is_waited_for() {
  PathRecords records;
  records.columns = 2;
  records.rows = 1;
  records.ramp = 2;
  records.entry = -1;
  records.events = {run(0, 1, kBeatRun, 5),
                    run(0, 3, kWaitSumsRun, 10),
                    {5, 1, kWordUp, 1U << 8U | 3U},
                    {7, 0, kWordPass, pass(2, kRamp, 3, kEast)},
                    {8, 2, kWordPass, pass(1, kWest, 3, kRamp)},
                    {10, 3, kWordTaken, 2U << 8U | 3U},
                    run(10, 3, kBeatRun, 4)};
  return records;
}

TEST(CriticalPath, FollowsAWordBackToWhoeverSentIt) {
  const CriticalPath path = critical_path({0, 15, 0, 0, 2, 1}, a_word_that_is_waited_for());
  EXPECT_THAT(
      lines(path),
      ElementsAre("0-4 c0 multiplies and adds", "4-5 c0 a word is put into the output queue",
                  "5-7 c0 a word goes up the ramp", "7-8 c1 a word comes over a link",
                  "8-10 c1 a word comes down the ramp", "10-14 c1 multiplies and adds",
                  "14-15 c1 all has ended"));
}

// The same word stands in the second router from 8 to 11, because the one ahead of it in its buffer
// left in 10 alone; that one had come in 7 from the west, where nobody has a record of it.
TEST(CriticalPath, SaysWhatAWordStoodBehind) {
  PathRecords records = a_word_that_is_waited_for();
  records.events = {run(0, 1, kBeatRun, 5),
                    run(0, 3, kWaitSumsRun, 13),
                    {5, 1, kWordUp, 1U << 8U | 3U},
                    {7, 0, kWordPass, pass(2, kRamp, 3, kEast)},
                    {10, 2, kWordPass, pass(4, kWest, 3, kRamp)},
                    {11, 2, kWordPass, pass(4, kWest, 3, kRamp)},
                    {13, 3, kWordTaken, 2U << 8U | 3U},
                    run(13, 3, kBeatRun, 2)};
  EXPECT_THAT(lines(critical_path({0, 15, 0, 0, 2, 1}, records)),
              ElementsAre("0-6 c0 before the records", "6-7 c1 a word comes over a link",
                          "7-10 c1 a word waits for its link or switch",
                          "10-11 c1 a word stands behind another",
                          "11-13 c1 a word comes down the ramp", "13-15 c1 multiplies and adds"));
}

// Of the second core alone the path ends where its word came from.
TEST(CriticalPath, EndsAtTheBorderOfTheWindow) {
  EXPECT_THAT(lines(critical_path({0, 14, 1, 0, 1, 1}, a_word_that_is_waited_for())),
              ElementsAre("0-7 c0 outside of the chosen cores", "7-8 c1 a word comes over a link",
                          "8-10 c1 a word comes down the ramp", "10-14 c1 multiplies and adds"));
  EXPECT_THAT(lines(critical_path({9, 14, 0, 0, 2, 1}, a_word_that_is_waited_for())),
              ElementsAre("9-10 c1 a word comes down the ramp", "10-14 c1 multiplies and adds"));
}

// A word enters in each of the cycles 3 and 4; before, the wafer's I/O rate brought none, and the
// one of cycle 4 is taken a link and a ramp later.
TEST(CriticalPath, EndsAtTheEdge) {
  PathRecords records;
  records.columns = records.rows = 1;
  records.events = {run(0, 1, kWaitWeightsRun, 6),
                    run(0, 2, kIoRateRun, 3),
                    {5, 0, kWordPass, pass(1, kNorth, 0, kRamp)},
                    {6, 1, kWordTaken, 1U << 8U},
                    run(6, 1, kDispatchRun, 2),
                    run(8, 1, kBeatRun, 1)};
  EXPECT_THAT(lines(critical_path({0, 9, 0, 0, 1, 1}, records)),
              ElementsAre("0-3 c0 the wafer's I/O rate", "3-4 c0 words enter one after the other",
                          "4-5 c0 a word comes in at the edge", "5-6 c0 a word comes down the ramp",
                          "6-8 c0 a task is dispatched", "8-9 c0 multiplies and adds"));
}

TEST(CriticalPath, WindowsAreCutToTheRun) {
  const PathWindow cut = fitted({10, 10000, 4, 0, 64, 64}, 6, 5, 300);
  EXPECT_EQ(cut.to, 300U);
  EXPECT_EQ(cut.columns, 2U);
  EXPECT_EQ(cut.rows, 5U);
  try {
    fitted({300, 400, 0, 0, 64, 64}, 6, 5, 300);
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--view-path: found cycle 300; it ends with cycle 300"));
  }
  EXPECT_THROW(fitted({0, 400, 6, 0, 64, 64}, 6, 5, 300), UnsupportedError);
}

}  // namespace
}  // namespace lacuna::test
