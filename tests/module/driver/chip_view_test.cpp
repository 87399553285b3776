// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/system/event_kinds.hpp"
#include "sim/base/error.hpp"

namespace lacuna::test {
namespace {

using system::Use;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t at(Use use) { return static_cast<std::size_t>(use); }

/// Two chips that work 10 ns and 4 ns, after which a barrier takes 2 ns, run `times` times; a third
/// unit is a link.
struct TwoChips {
  explicit TwoChips(std::uint64_t times) {
    program.segments.resize(1);
    program.segments[0].name = "layer";
    program.order = {{0, times}};
    system::SegmentResult segment;
    segment.ns = 12;
    segment.chips.resize(2);
    const auto does = [&](std::uint32_t chip, Use use, Cycle first, Cycle last) {
      segment.events.push_back({first, chip, system::first_of(use), 0});
      segment.events.push_back({last, chip, system::last_of(use), 0});
      segment.chips[chip][at(use)] += last + 1 - first;
    };
    does(0, Use::forward, 0, 9);
    does(0, Use::sync, 10, 11);
    does(1, Use::forward, 0, 3);
    does(1, Use::imbalance, 4, 9);
    does(1, Use::sync, 10, 11);
    segment.events.push_back({2, 2, system::kCarryFirst, 0});
    segment.events.push_back({7, 2, system::kCarryLast, 0});
    run.segments = {segment};
  }

  const std::vector<std::uint64_t>& values(const UnitSeries& series, Use use) const {
    return series.channels.at(at(use)).values;
  }

  system::Program program;
  system::ProgramResult run;
};

// Chip 1 is through after 4 ns, chip 0 after 10, the barrier after 12: three steps a run.
TEST(ChipSeries, HasAStepWhereverAChipBeginsSomethingElse) {
  const TwoChips two(2);
  const UnitSeries series = chip_series(two.program, two.run, 1, 2);
  EXPECT_THAT(series.ends, ElementsAre(4, 10, 12, 16, 22, 24));
  EXPECT_THAT(series.step_names, ElementsAre("layer 1 of 2", "layer 1 of 2", "layer 1 of 2",
                                             "layer 2 of 2", "layer 2 of 2", "layer 2 of 2"));
  EXPECT_THAT(two.values(series, Use::forward), ElementsAre(4, 4, 6, 0, 0, 0, 4, 4, 6, 0, 0, 0));
  EXPECT_THAT(two.values(series, Use::imbalance), ElementsAre(0, 0, 0, 6, 0, 0, 0, 0, 0, 6, 0, 0));
  EXPECT_THAT(two.values(series, Use::sync), ElementsAre(0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 2, 2));
  EXPECT_THAT(series.numbers, ElementsAre(1, 2));
}

// 1,366 runs of three steps are 4,098, of which a page has at most 4,096. A run has one step that
// is shorter than the others, so that 16,392 ns are cut every 16,392 / (4,096 - 1,366) = 7 ns: each
// run ends its steps after 7 and 12.
TEST(ChipSeries, OfALongProgramHasStepsOfEqualLengthAndSaysWhatIsLost) {
  const UnitSeries fine = chip_series(TwoChips(1365).program, TwoChips(1365).run, 1, 2);
  EXPECT_EQ(fine.ends.size(), 4095U);
  EXPECT_THAT(fine.loss, HasSubstr("nothing is lost"));
  const TwoChips two(1366);
  const UnitSeries series = chip_series(two.program, two.run, 1, 2);
  ASSERT_EQ(series.ends.size(), 2732U);
  EXPECT_EQ(series.ends[0], 7U);
  EXPECT_EQ(series.ends[1], 12U);
  EXPECT_EQ(series.ends[2], 19U);
  EXPECT_EQ(series.ends.back(), 1366U * 12);
  EXPECT_THAT(series.loss, HasSubstr("A step is 7 ns, or what is left of its segment"));
  const std::vector<std::uint64_t>& works = two.values(series, Use::forward);
  EXPECT_THAT(std::vector<std::uint64_t>(works.begin(), works.begin() + 4),
              ElementsAre(7, 4, 3, 0));
}

// With 2,049 runs two steps of each would be 4,098.
TEST(ChipSeries, OfAProgramOfManySegmentsHasAStepForEach) {
  const TwoChips two(2049);
  const UnitSeries series = chip_series(two.program, two.run, 1, 2);
  ASSERT_EQ(series.ends.size(), 2049U);
  EXPECT_EQ(series.ends.back(), 2049U * 12);
  EXPECT_THAT(series.loss, HasSubstr("Each of the 2049 segments that are run is a step"));
  EXPECT_THAT(two.values(series, Use::sync), Each(2U));
}

/// A training step that `two` is the program of, with `of_replica` chips of different memory.
TrainingResult result_of(const TwoChips& two, unsigned of_replica) {
  TrainingResult result;
  result.program = two.program;
  result.run = two.run;
  for (unsigned chip = 0; chip < of_replica; ++chip) {
    system::MemoryAccount account;
    account.chip = chip;
    account.use.bytes[0] = 100 + chip;
    result.memory.push_back(account);
  }
  return result;
}

// A replica of two stages is a row; two replicas of a chip each are one above the other.
TEST(TrainingSeries, HasTheChipsOfAReplicaBesideEachOther) {
  system::TrainingParams piped;
  piped.set("pipeline", "2", "here");
  const UnitSeries row = training_series(piped, result_of(TwoChips(1), 2));
  EXPECT_EQ(row.columns, 2U);
  EXPECT_EQ(row.rows, 1U);
  EXPECT_THAT(row.row_notes, ElementsAre("replica 0 of 1"));
  EXPECT_THAT(row.column_notes, ElementsAre("place 0 of the pipeline", "place 1 of the pipeline"));
  EXPECT_EQ(row.channels.back().name, "memory");
  EXPECT_THAT(row.channels.back().values, ElementsAre(100, 101));
  system::TrainingParams copied;
  copied.set("replicas", "2", "here");
  const UnitSeries pile = training_series(copied, result_of(TwoChips(1), 1));
  EXPECT_EQ(pile.columns, 1U);
  EXPECT_EQ(pile.rows, 2U);
  EXPECT_TRUE(pile.row_notes.empty());
  EXPECT_THAT(pile.channels.back().values, ElementsAre(100, 100));
}

/// Two wafers, of which the first waits 2 ns for weights, works 6 in its first pass and 4 in its
/// second, and the other waits 3, works 8 and is through; the store takes 3 ns more.
WaferSystemRun two_wafers() {
  WaferSystemRun run;
  run.params.set("machines", "2", "here");
  run.passes.resize(3);
  run.passes[0].name = "a";
  run.passes[1].name = "b";
  run.passes[2].name = "nothing";
  run.result.ns = 15;
  run.result.chips.resize(2);
  run.result.first_wafer = {{2, 8}, {8, 12}, {12, 12}};
  const auto does = [&](std::uint32_t wafer, Use use, Cycle first, Cycle last) {
    run.result.events.push_back({first, wafer, system::first_of(use), 0});
    run.result.events.push_back({last, wafer, system::last_of(use), 0});
    run.result.chips[wafer].at(static_cast<std::size_t>(use)) += last + 1 - first;
  };
  does(0, Use::weights, 0, 1);
  does(0, Use::work, 2, 11);
  does(0, Use::idle, 12, 14);
  does(1, Use::weights, 0, 2);
  does(1, Use::work, 3, 10);
  does(1, Use::idle, 11, 14);
  run.memory.resize(1);
  run.memory[0].use.bytes[0] = 7;
  return run;
}

// Parts end with the passes of the first wafer, in 8 and 12; the last has no time of its own. Steps
// end there too, and wherever a wafer begins something else.
TEST(WaferSeries, HasThePassesOfTheFirstWaferAsParts) {
  const UnitSeries series = wafer_series(two_wafers());
  EXPECT_EQ(series.rows * series.columns, 2U);
  EXPECT_THAT(series.ends, ElementsAre(2, 3, 8, 11, 12, 15));
  const std::string after = "until the store has all";
  EXPECT_THAT(series.step_names, ElementsAre("a", "a", "a", "b", "b", after));
  EXPECT_EQ(series.channels.at(0).name, "work");
  EXPECT_THAT(series.channels.at(0).values, ElementsAre(0, 0, 1, 0, 5, 5, 3, 3, 1, 0, 0, 0));
  EXPECT_THAT(series.channels.at(1).values, ElementsAre(2, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(series.channels.at(4).values, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3));
  EXPECT_THAT(series.channels.back().values, ElementsAre(7, 7));
  WaferSystemRun wrong = two_wafers();
  ++wrong.result.chips[1][at(Use::work)];
  EXPECT_THROW(wafer_series(wrong), InternalError);
}

TEST(ChipSeries, AgreesWithTheAccountsOfItsChips) {
  TwoChips two(1);
  ++two.run.segments[0].chips[1][at(Use::links)];
  EXPECT_THROW(chip_series(two.program, two.run, 1, 2), InternalError);
}

}  // namespace
}  // namespace lacuna::test
