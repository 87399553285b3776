// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/driver/result/result_json.hpp"
#include "tests/support/json_member.hpp"

namespace lacuna::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

RunRecord explained() {
  RunRecord record;
  record.machine = "bow";
  OpRecord op;
  op.row.op_id = "q 1";
  op.row.op = "gemm";
  op.row.m = op.row.k = op.row.n = 16;
  Explanation& explanation = op.result.explanation;
  ExplainSection& section = explanation.section("plan");
  section.fact("rows", "4 parts");
  section.tables.push_back({"phases", {{"phase", ""}, {"time", "cycles"}}, {{"multiply", "12"}}});
  const double none = std::numeric_limits<double>::quiet_NaN();
  explanation.maps.push_back({"tile_load", "Load", "Busy, %", 2, {1.5, none, 0, 3}});
  record.ops.push_back(op);
  return record;
}

TEST(Explain, PrintsSectionsWithFactsAndTables) {
  EXPECT_EQ(explain_text(explained()),
            "q 1: gemm 16x16x16\n"
            "  plan\n"
            "    rows  4 parts\n"
            "    phases\n"
            "    phase       time\n"
            "              cycles\n"
            "    ----------------\n"
            "    multiply      12\n");
}

TEST(Explain, EndsWithThePlanAndHowItWasSimulated) {
  RunRecord record = explained();
  record.ops[0].result.notes = {{"simulated", "unit by unit; not in lanes: filters"}};
  EXPECT_THAT(explain_text(record),
              EndsWith("    multiply      12\n"
                       "  Plan\n"
                       "    simulated  unit by unit; not in lanes: filters\n"));
}

TEST(Explain, OfAnOperationWithoutValuesIsItsReason) {
  RunRecord record = explained();
  record.ops[0].result.status = Status::out_of_memory;
  record.ops[0].result.reason = "needs 9 bytes";
  EXPECT_EQ(explain_text(record), "q 1: gemm 16x16x16\n  out_of_memory: needs 9 bytes\n");
}

TEST(Explain, WithoutSectionsShowsTheNotes) {
  RunRecord record = explained();
  record.ops[0].result.explanation = {};
  record.ops[0].result.notes = {{"mode", "static"}};
  EXPECT_EQ(explain_text(record), "q 1: gemm 16x16x16\n    mode  static\n");
}

TEST(Explain, SurvivesTheWayToAnotherProcess) {
  const Explanation back = decode_record(encode_record(explained())).ops.at(0).result.explanation;
  ASSERT_THAT(back.sections, SizeIs(1));
  EXPECT_EQ(back.sections[0].tables.at(0).columns.at(1).unit, "cycles");
  EXPECT_EQ(explain_text(decode_record(encode_record(explained()))), explain_text(explained()));
  ASSERT_THAT(back.maps, SizeIs(1));
  EXPECT_TRUE(std::isnan(back.maps[0].values.at(1)));
  EXPECT_EQ(back.maps[0].values.at(3), 3);
}

TEST(Explain, IsInTheJsonOfASummaryOnRequestOnly) {
  EXPECT_FALSE(test::member_of(summary_json({explained()}, true), "explanation").is_null());
  EXPECT_TRUE(test::member_of(summary_json({explained()}), "explanation").is_null());
}

TEST(Explain, MapsAreThoseOfTheLongestOperationOfEachRun) {
  RunRecord record = explained();
  ASSERT_THAT(explain_figures({record}), SizeIs(1));
  EXPECT_EQ(explain_figures({record})[0].name, "tile_load");
  record.ops.push_back(record.ops[0]);
  record.ops[1].row.op_id = "longer";
  record.ops[1].result.cycles = 1;
  ASSERT_THAT(explain_figures({record}), SizeIs(1));
  EXPECT_THAT(explain_figures({record})[0].script, HasSubstr("longer"));
  EXPECT_EQ(explain_figures({record, record})[0].name, "tile_load_0");
}

}  // namespace
}  // namespace lacuna::test
