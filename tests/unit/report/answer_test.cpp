// SPDX-License-Identifier: Apache-2.0
#include "sim/report/answer/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/text_table.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/report/made_up.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunRecord answered(std::uint64_t index, double seconds, double pj,
                   const std::string& machine = "bow", std::uint64_t seed = 1) {
  RunRecord run;
  run.run = index;
  run.machine = machine;
  run.workload = "w";
  run.pattern = "block16:0.1";
  run.seed = seed;
  run.total.op_id = kTotal;
  run.total.pattern = "block";
  run.total.run = index;
  run.total.time_s = seconds;
  run.total.cycles = static_cast<std::uint64_t>(seconds * 1e9);
  run.total.useful_flop = 1000;
  run.total.useful_tflops = 1 / seconds;
  run.total.pj_per_useful_flop = pj;
  run.total.energy_j = JouleRange{pj * 500e-12, pj * 1000e-12, pj * 2000e-12};
  return run;
}

TEST(Answer, HasMeansOverSeedsWithTheirSpreadAndTheWidestRange) {
  // 1 and 4 pJ: 1000 and 250 GFLOP/s per watt, mean 625; deviation 530.3, t of 1 degree 12.706:
  // 12.706 * 530.3 / sqrt(2) = 4765. From 0.5 pJ, the low end of 1, to 8 pJ, the high end of 4.
  const std::vector<RunRecord> runs = {answered(0, 1, 1), answered(1, 1, 4, "bow", 2)};
  const Answer answer = answer_of(runs);
  ASSERT_EQ(answer.points.size(), 1U);
  EXPECT_EQ(quantity_text(Quantity::per_watt, answer.points[0].mean(Quantity::per_watt)),
            "625.0 +- 4765");
  EXPECT_NEAR(answer.points[0].energy_per_flop->low, 0.5, 1e-12);
  EXPECT_NEAR(answer.points[0].energy_per_flop->high, 8, 1e-12);
}

// 4 wafers of 64 cores of 2 mm2 each are 512 mm2 in the row TOTAL, whatever one of them has.
TEST(Answer, TheSiliconOfASystemIsThatOfItsTotal) {
  std::vector<RunRecord> runs = {answered(0, 1, 1)};
  runs[0].silicon.emplace().mm2 = {1, 2, 4};
  EXPECT_FALSE(answer_of(runs).points[0].silicon_mm2);  // no operation has run
  runs[0].total.silicon_mm2 = 4 * 64 * 2;
  const auto mm2 = answer_of(runs).points[0].silicon_mm2;
  ASSERT_TRUE(mm2);
  EXPECT_DOUBLE_EQ(mm2->low, 256);
  EXPECT_DOUBLE_EQ(mm2->nominal, 512);
  EXPECT_DOUBLE_EQ(mm2->high, 1024);
}

// Seeds of 1 and 3 s: the mean is 2, half of the interval 12.706 * 1.414 / 1.414 = 12.7, so that a
// machine of 1.5 s, which is first by its mean, is not told apart.
TEST(Answer, TheFastestIsByTheMeanAndSaysWhoIsNotToldApart) {
  const std::vector<RunRecord> runs = {answered(0, 1, 1), answered(1, 3, 1, "bow", 2),
                                       answered(2, 1.5, 1, "wse2")};
  const Answer answer = answer_of(runs);
  EXPECT_EQ(answer.fastest, 1U);
  EXPECT_THAT(answer.not_told_apart, ElementsAre(0));
  EXPECT_THAT(sentences(answer)[0], HasSubstr("Fastest: wse2, block16:0.1, 1.500 s"));
}

TEST(Answer, OfSeveralWorkloadsNoneIsFastest) {
  std::vector<RunRecord> runs = {answered(0, 1, 1), answered(1, 2, 1)};
  runs[1].workload = "v";
  runs[1].total.useful_tflops = 9;
  EXPECT_THAT(sentences(answer_of(runs))[0], HasSubstr("Most useful FLOP/s: bow, block16:0.1, 9"));
}

TEST(Answer, RanksEnergyOnlyWhereRangesDoNotOverlap) {
  // 1 pJ: 0.5 to 2; 3 pJ: 1.5 to 6; 5 pJ: 2.5 to 10
  const std::vector<RunRecord> near = {answered(0, 1, 1), answered(1, 1, 3, "wse2")};
  EXPECT_THAT(energy_rank_text(answer_of(near)), HasSubstr("no machine is surely less"));
  const std::vector<RunRecord> far = {answered(0, 1, 5, "wse2"), answered(1, 1, 1)};
  EXPECT_THAT(energy_rank_text(answer_of(far)), HasSubstr("bow < wse2 for block16:0.1"));
}

TEST(Answer, TheLargestPartMayBeArithmetic) {
  RunRecord run = answered(0, 1, 1);
  run.ops.resize(1);
  run.ops[0].result.stack = {
      {Layer::compute, "mac", 60}, {Layer::stall, "banks", 25}, {Layer::stall, "ports", 15}};
  const std::vector<RunRecord> runs = {run};
  const Answer answer = answer_of(runs);
  EXPECT_EQ(largest_text(answer.points[0].waits), "compute (mac), 60 %; then stall (banks), 25 %");
  EXPECT_DOUBLE_EQ(answer.points[0].waits.share(Layer::stall), 0.4);
}

// Two operations say the same of other numbers, a third something else.
TEST(Answer, CountsRemarksByTheirKind) {
  RunRecord run = answered(0, 1, 1);
  run.ops.resize(3);
  run.ops[0].result.remarks = {"weights are streamed (residency auto): 10 cycles"};
  run.ops[1].result.remarks = {"weights are streamed (residency auto): 99 cycles"};
  run.ops[2].result.remarks = {"not exact: 26 of 128 rows"};
  const std::vector<RunRecord> runs = {run};
  EXPECT_EQ(note_lines(answer_of(runs)),
            "lacuna: note: weights are streamed: 2 operations of 1 run; --explain has each\n"
            "lacuna: note: not exact: 26 of 128 rows\n");
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Ten points of a layer: all of them, in the 24 lines and 100 letters of a first screen.
TEST(Screen, HoldsTenPointsIn24LinesOf100Letters) {
  TextTable::fit(100);
  const std::vector<RunRecord> runs = made_up_comparison(true, {0.1});
  const ScreenWords words{screen_title(runs), false, "", "More: here\n"};
  const std::string text = points_screen(answer_of(runs), words);
  TextTable::fit(0);
  EXPECT_LE(lines_of(text), kScreenLines) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(text, Not(HasSubstr("fastest points of"))) << text;
}

TEST(Screen, LeavesOutRowsAndSaysHowMany) {
  TextTable::fit(100);
  const std::vector<RunRecord> runs = made_up_comparison(true, {0.1, 0.2, 0.3, 0.4});
  const ScreenWords words{screen_title(runs), false, "", "More: here\n"};
  const std::string text = points_screen(answer_of(runs), words);
  EXPECT_LE(lines_of(text), kScreenLines) << text;
  EXPECT_THAT(text, HasSubstr("fastest points of 34; --wide has all)\n"));
  const std::string all = points_screen(answer_of(runs), {"", true, "", ""});
  TextTable::fit(0);
  EXPECT_THAT(all, Not(HasSubstr("fastest points")));
}

// 16 operations: the longest ones are shown in their order, and TOTAL.
TEST(Screen, OfALongWorkloadHasTheLongestOperations) {
  TextTable::fit(100);
  RunRecord run = made_up_comparison(true, {0.1})[1];
  const OpRecord one = run.ops[0];
  for (std::uint64_t i = run.ops.size(); i < 16; ++i) {
    run.ops.push_back(one);
    run.ops.back().row.op_id = "short" + std::to_string(i);
    run.ops.back().row.cycles = 1;
  }
  const std::vector<RunRecord> runs = {run};
  const std::string text = run_screen(answer_of(runs), {screen_title(runs), false, "", "More\n"});
  TextTable::fit(0);
  EXPECT_LE(lines_of(text), kScreenLines) << text;
  EXPECT_THAT(printed_row(text, "ffn_2"), Not(IsEmpty()));
  EXPECT_THAT(printed_row(text, "TOTAL"), Not(IsEmpty()));
  EXPECT_THAT(text, Not(HasSubstr("short15")));
}

TEST(Screen, GivesAReasonOfSeveralOperationsOnce) {
  RunRecord run = made_up_comparison(true, {0.1})[0];
  const auto refuse = [&](std::size_t op, const char* reason) {
    run.ops[op].row.status = Status::unsupported;
    run.ops[op].row.reason = reason;
  };
  refuse(1, "no bf16");
  refuse(2, "too long");
  refuse(3, "no bf16");
  const std::vector<RunRecord> runs = {run};
  const std::string text = run_screen(answer_of(runs), {});
  EXPECT_THAT(text,
              HasSubstr("key and 1 more: unsupported: no bf16\nvalue: unsupported: too long"));
}

}  // namespace
}  // namespace lacuna::test
