// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lacuna {
namespace {

using ::testing::HasSubstr;

RunRecord a_record(const std::string& machine, double seconds, double joules) {
  RunRecord record;
  record.machine = machine;
  record.total.cycles = static_cast<std::uint64_t>(seconds * 1000);
  record.total.time_s = seconds;
  record.total.energy_j = JouleRange{joules / 2, joules, joules * 2};
  record.total.sram_read_bytes = 300;
  record.total.sram_write_bytes = 100;
  return record;
}

OpRecord an_op(const std::string& steps, std::uint64_t convert) {
  OpRecord op;
  op.result.notes = {{"mode", "dynamic"}, {"propagation steps", steps}};
  StatEntry entry;
  entry.path = "host";
  entry.name = "convert_ns";
  entry.value = convert;
  op.result.statistics.push_back(entry);
  return op;
}

SchedulePoint a_point(std::uint64_t index, std::uint64_t steps, double density, double flop,
                      bool dense = false) {
  SchedulePoint point;
  point.phase.index = index;
  point.phase.steps = steps;
  point.phase.density = density;
  point.phase.dense = dense;
  point.flop = flop;
  point.steps = steps;
  return point;
}

TEST(ScheduleResults, AddUpSpillsAndTheHostsWorkOverTheProductsOfAStep) {
  const SchedulePoint point = a_point(3, 10, 0.1, 1);
  RunRecord record = a_record("bow", 1, 1);
  record.ops = {an_op("2", 500), an_op("3", 700)};
  record.ops[1].repeat = 2;
  const SampleRow row = sample_row(point, record);
  EXPECT_EQ(row.propagation, 8U);  // 2 + 2 * 3
  ASSERT_TRUE(row.update.has_value());
  EXPECT_EQ(row.update->convert_ns, 1200U);
  // sram_bytes, fabric_bytes, io_bytes, propagation_steps, update_convert_ns, ...
  EXPECT_THAT(results_csv({row}), HasSubstr(",400,,,8,1200,0,0,ok\n"));
  EXPECT_THAT(results_csv({sample_row(point, a_record("wse2", 1, 1))}),
              HasSubstr(",400,,,,,,,ok\n"));
}

// 300 of 1,000 FLOP; 500 of 2,000 cycles; 400 of 400 bytes.
TEST(ScheduleResults, RoundsOfPruningAreSharesOfTheDenseStep) {
  const std::vector<SchedulePoint> points = {a_point(0, 1, 0.25, 300), a_point(1, 1, 0.2, 250)};
  const SampleRow row = sample_row(points[0], a_record("bow", 0.5, 1));
  const Figure figure = rounds_figure(points, 1000, {row}, {a_record("bow", 2, 4).total});
  EXPECT_EQ(figure.csv,
            "round,density,FLOP,bow cycles,bow SRAM bytes\n"
            "0,0.25,0.3,0.25,1\n"
            "1,0.2,0.25,,\n");
}

// 90 steps of a quarter and 10 of all: 22.5 + 10 = 32.5 % of the FLOP, 3.08 times less; time half
// and half: 45 + 10 = 55 %, 1.82 times less.
TEST(ScheduleResults, StackPreTrainingAndFineTuning) {
  const std::vector<SchedulePoint> points = {a_point(0, 90, 0.25, 250),
                                             a_point(1, 10, 1, 1000, true)};
  const std::vector<SampleRow> rows = {sample_row(points[0], a_record("bow", 1, 2)),
                                       sample_row(points[1], a_record("bow", 2, 4))};
  const std::vector<Figure> figures =
      phases_figure(points, 1000, rows, {a_record("bow", 2, 4).total});
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].csv, HasSubstr("FLOP,pre-training,0,0,22.5,22.5,3.08x\n"
                                        "FLOP,fine-tuning,0,22.5,32.5,10,3.08x\n"));
  EXPECT_THAT(figures[0].csv, HasSubstr("bow time,fine-tuning,1.6,45,55,10,1.82x\n"));
}

}  // namespace
}  // namespace lacuna
