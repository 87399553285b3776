// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/schedule_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/csv_table.hpp"

namespace lacuna {
namespace {

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
  const test::CsvTable chip(results_csv({row}));
  EXPECT_EQ(chip.cell("sram_bytes"), "400");
  EXPECT_EQ(chip.cell("fabric_bytes"), "");
  EXPECT_EQ(chip.cell("io_bytes"), "");
  EXPECT_EQ(chip.cell("propagation_steps"), "8");
  EXPECT_EQ(chip.cell("updates"), "0");
  EXPECT_EQ(chip.cell("update_convert_ns"), "1200");
  EXPECT_EQ(chip.cell("update_transfer_ns"), "0");
  EXPECT_EQ(chip.cell("update_exposed_s"), "0");  // hidden behind ten steps of a second
  EXPECT_EQ(chip.cell("step_time"), "1");
  EXPECT_EQ(chip.cell("status"), "ok");
  // a wafer has no host whose work could be counted
  const test::CsvTable wafer(results_csv({sample_row(point, a_record("wse2", 1, 1))}));
  EXPECT_EQ(wafer.cell("sram_bytes"), "400");
  EXPECT_EQ(wafer.cell("propagation_steps"), "");
  EXPECT_EQ(wafer.cell("updates"), "0");
  EXPECT_EQ(wafer.cell("update_convert_ns"), "");
  EXPECT_EQ(wafer.cell("update_exposed_s"), "0");
  EXPECT_EQ(wafer.cell("step_time"), "1");
}

// Ten steps of a second and two updates of 30 s + 6 s: 36 s exposed each, or behind the five steps
// of a phase 30 - 5 = 25 s.
TEST(ScheduleResults, TimeOfAStepHasItsShareOfTheUpdates) {
  SchedulePoint point = a_point(3, 5, 0.1, 1);
  point.steps = 10;
  point.updates = 2;
  RunRecord record = a_record("bow", 1, 1);
  record.ops = {an_op("0", 30000000000)};
  StatEntry transfer = record.ops[0].result.statistics[0];
  transfer.name = "transfer_ns";
  transfer.value = 6000000000;
  record.ops[0].result.statistics.push_back(transfer);
  const SampleRow hidden = sample_row(point, record);
  EXPECT_DOUBLE_EQ(hidden.exposed_s(), 25);
  EXPECT_DOUBLE_EQ(*hidden.step_time(), 1 + 25 * 2 / 10.0);
  record.parameters = {{"host.overlap", "false", "", true}};
  const SampleRow exposed = sample_row(point, record);
  EXPECT_DOUBLE_EQ(exposed.exposed_s(), 36);
  EXPECT_DOUBLE_EQ(*exposed.step_time(), 1 + 36 * 2 / 10.0);
}

// An update of RigL makes the gradient of all positions once: 3 s instead of 0.5 s.
TEST(ScheduleResults, UpdateByGradientsTakesTheDenseGradientOnce) {
  SchedulePoint point = a_point(1, 10, 0.1, 1);
  point.updates = 1;
  RunRecord sparse = a_record("bow", 1, 1);
  RunRecord dense = a_record("bow", 9, 1);
  for (const auto& [record, seconds] : {std::pair(&sparse, 0.5), std::pair(&dense, 3.0)}) {
    record->ops.resize(2);
    record->ops[0].row.op_id = "fwd.l0.q";
    record->ops[0].row.time_s = 0.25;
    record->ops[1].row.op_id = "bwd.l0.q_dw";
    record->ops[1].row.time_s = seconds;
  }
  std::vector<SampleRow> rows = {sample_row(point, sparse)};
  add_dense_gradients(rows, 0, {&sparse}, dense);
  EXPECT_DOUBLE_EQ(*rows[0].step_time(), 1.25);
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
  const auto bar = [&](const char* name) {
    const test::CsvTable row = test::CsvTable(figures[0].csv).where({{"bar", name}});
    return std::vector<std::string>{row.cell("note"), row.cell("pre-training"),
                                    row.cell("fine-tuning")};
  };
  EXPECT_THAT(bar("FLOP"), testing::ElementsAre("3.08x", "22.5", "10"));
  EXPECT_THAT(bar("bow time"), testing::ElementsAre("1.82x", "45", "10"));
}

}  // namespace
}  // namespace lacuna
