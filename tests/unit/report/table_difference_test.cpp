// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/layout_note.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run of two rows, each with the words of its layout.
RunRecord laid_out(const std::vector<std::string>& words) {
  RunRecord run;
  run.machine = "wafer";
  for (const std::string& each : words) {
    OpRecord op;
    op.row.op_id = "row" + std::to_string(run.ops.size());
    op.result.notes = {{kPlannedLayoutNote, each}};
    run.ops.push_back(op);
  }
  return run;
}

TEST(TableDifference, SaysThatLayoutsDifferAndOnceWhatRowsShare) {
  const RunRecord before = laid_out({"ws.groups=1 ws.reduce=chain", "ws.groups=1"});
  const RunRecord after = laid_out({"ws.groups=5 ws.reduce=chain io.share=1", "ws.groups=5"});
  const std::string text = difference_text({"a", {before}}, {"b", {after}});
  EXPECT_THAT(text, AllOf(HasSubstr("Settings that differ"), HasSubstr("layout: io.share"),
                          Not(HasSubstr("ws.reduce"))));
  const std::size_t groups = text.find("layout: ws.groups");
  ASSERT_NE(groups, std::string::npos);
  EXPECT_EQ(text.find("layout: ws.groups", groups + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace lacuna
