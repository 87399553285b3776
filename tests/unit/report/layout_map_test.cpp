// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/layout_note.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/json_member.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

void add_product(std::vector<RunRecord>& runs, double density, double speedup) {
  RunRecord& run = runs.emplace_back();
  run.machine = "bow";
  SummaryRow row;
  row.run = run.run = runs.size() - 1;
  row.machine = "bow";
  row.op_id = "w";
  row.op = "gemm";
  row.m = row.k = row.n = 64;
  row.pattern = "unstructured";
  row.density = density;
  row.speedup_vs_dense = speedup;
  run.ops.emplace_back().row = row;
  row.op_id = kTotal;
  run.total = row;
}

// 1.5 times at a half is 75 % of linear, 2 at a quarter 50 %. Layouts are numbered as they come;
// what has none is no part of the map.
TEST(LayoutMap, NumbersLayoutsAndShadesThemByTheirShareOfLinear) {
  std::vector<RunRecord> runs;
  add_product(runs, 0.5, 1.5);
  add_product(runs, 0.25, 2);
  const auto map_of = [&] {
    const auto figures = make_figures(runs);
    const auto at = std::find_if(figures.begin(), figures.end(),
                                 [](const Figure& each) { return each.name == "layout_map"; });
    return at == figures.end() ? Figure() : *at;
  };
  EXPECT_EQ(map_of().name, "");
  runs[0].ops[0].result.notes = {{kLayoutNote, "planner.static_parts=2"}};
  runs[1].ops[0].result.notes = {{kLayoutNote, "as planned"}};
  const Figure map = map_of();
  const auto cell_of = [&](const char* density, const char* column) {
    return test::CsvTable(map.csv).where({{"density", density}}).cell(column);
  };
  EXPECT_EQ(cell_of("0.25", "percent_of_linear"), "50");
  EXPECT_EQ(cell_of("0.25", "text"), "2");
  EXPECT_EQ(cell_of("0.5", "percent_of_linear"), "75");
  EXPECT_EQ(cell_of("0.5", "text"), "1");
  EXPECT_THAT(map.script, HasSubstr("1: static_parts=2"));
  EXPECT_THAT(map.script, HasSubstr("2: as planned"));
  EXPECT_EQ(test::member_of(map.description, "value"), "percent_of_linear");
}

}  // namespace
}  // namespace lacuna
