// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machines/summary_rows.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "tests/support/csv_table.hpp"

namespace lacuna::test {
namespace {

using ::testing::EndsWith;

RunRecord a_record() {
  RunRecord record;
  record.run = 3;
  record.machine = "bow";
  record.kind = "ipu";
  record.extent = "1472 tiles";
  record.engine = "event";
  record.seed = 18446744073709551615U;
  record.workload = "w";
  record.varying = {"tile.macs"};
  record.parameters = {{"clock", "1.85", "GHz", true}, {"node", "n7", "", false}};
  record.notes = {{"a", "1"}, {"a", "2"}};
  OpRecord op;
  op.row.run = 3;
  op.row.machine = "bow";
  op.row.op_id = "q,\"1\"";
  op.row.m = 512;
  op.row.varying = {"64"};
  op.request = {{"batch", "1"}};
  op.repeat = 2;
  op.result.cycles = 18446744073709551615U;  // 64 bits survive
  op.result.clock_ghz = 1.85;
  op.result.units = 7;
  op.result.mac_useful = 5;
  op.result.peaks = {0.1, 0.2, 0.3, 0.4};
  StatEntry counter;
  counter.path = "tile";
  counter.name = "macs";
  counter.unit = "MAC";
  counter.value = 9007199254740993U;  // no double holds it
  counter.action = "amp_mac_fp16";
  op.result.statistics = {counter};
  op.result.stack = {{Layer::compute, "amp", 3}, {Layer::imbalance, "wait", 4}};
  op.result.events = {{1, 2, 0, 3}};
  op.result.event_units = {"a", "b", "c"};
  op.result.event_kinds = {"go"};
  op.result.values = ValueCheck{10, 1, 0.25, 0.125, 2, 3, 4, 5};
  op.energy = {{"mac", {1.0, 2.0, 0.3}}};
  op.energy_factor = 1.5;
  add_result(op.row, op.result);
  add_energy(op.row, {0.1, 0.2, 0.3});
  record.ops = {op};
  record.total = total_of(record.ops);
  return record;
}

TEST(Record, ComesBackFromBytesWithNothingLost) {
  const RunRecord before = a_record();
  const RunRecord after = decode_record(encode_record(before));
  EXPECT_EQ(encode_record(after), encode_record(before));
  EXPECT_EQ(summary_csv({after}), summary_csv({before}));
  EXPECT_EQ(statistics_csv({after}), statistics_csv({before}));
  EXPECT_EQ(cycle_stack_csv({after}), cycle_stack_csv({before}));
  EXPECT_EQ(events_csv({after}), events_csv({before}));
  EXPECT_EQ(after.ops[0].result.cycles, 18446744073709551615U);
  EXPECT_EQ(after.ops[0].result.statistics[0].value, 9007199254740993U);
  EXPECT_EQ(after.parameters[0].value, "1.85");
  EXPECT_EQ(after.notes.size(), 2U);
}

TEST(Record, ComesBackFromAResultFile) {
  const RunRecord before = a_record();
  const std::string text = result_text({"0.1.0", {"run"}, "w", "", {}}, {before});
  const std::vector<RunRecord> after = parse_result(text, "x");
  EXPECT_EQ(result_text({"0.1.0", {"run"}, "w", "", {}}, after), text);
}

TEST(Csv, QuotesCellsThatNeedItAndNoOthers) {
  EXPECT_EQ(csv_line({"a b", "c,d", "e\"f", "", "g\nh"}), "a b,\"c,d\",\"e\"\"f\",,\"g\nh\"\n");
}

TEST(Csv, StatisticsAreLong) {
  EXPECT_EQ(statistics_csv({a_record()}),
            "run,op_id,path,name,unit,value\n"
            "3,\"q,\"\"1\"\"\",tile,macs,MAC,9007199254740993\n");
}

TEST(Csv, EventsNameUnitAndKind) {
  EXPECT_EQ(events_csv({a_record()}),
            "run,op_id,cycle,unit,kind,argument\n3,\"q,\"\"1\"\"\",1,c,go,3\n");
}

TEST(Csv, AVaryingParameterIsAColumnAfterTheOthers) {
  const std::string text = summary_csv({a_record()});
  EXPECT_THAT(text.substr(0, text.find('\n')), EndsWith(",status,reason,tile.macs"));
  const CsvTable total = CsvTable(text).where({{"op_id", "TOTAL"}});
  EXPECT_EQ(total.cell("status"), "ok");
  EXPECT_EQ(total.cell("reason"), "");
  EXPECT_EQ(total.cell("tile.macs"), "64");
}

}  // namespace
}  // namespace lacuna::test
