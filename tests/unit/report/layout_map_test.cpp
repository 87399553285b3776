// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/report/figures/figure.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

void add_product(FigureData& data, std::uint64_t run, double density, double speedup) {
  SummaryRow row;
  row.run = run;
  row.machine = "bow";
  row.op_id = "w";
  row.op = "gemm";
  row.m = row.k = row.n = 64;
  row.pattern = "unstructured";
  row.density = density;
  row.speedup_vs_dense = speedup;
  data.rows.push_back(row);
  row.op_id = kTotal;
  data.rows.push_back(row);
}

// 1.5 times at a half is 75 % of linear, 2 at a quarter 50 %. Layouts are numbered as they come;
// what has none is no part of the map.
TEST(LayoutMap, NumbersLayoutsAndShadesThemByTheirShareOfLinear) {
  FigureData data;
  add_product(data, 0, 0.5, 1.5);
  add_product(data, 1, 0.25, 2);
  const auto map_of = [&] {
    const auto figures = make_figures(data);
    const auto at = std::find_if(figures.begin(), figures.end(),
                                 [](const Figure& each) { return each.name == "layout_map"; });
    return at == figures.end() ? Figure() : *at;
  };
  EXPECT_EQ(map_of().name, "");
  data.layouts = {{0, "planner.static_parts=2"}, {1, "as planned"}};
  const Figure map = map_of();
  EXPECT_THAT(map.csv, HasSubstr(",0.25,0,0,50,2\n"));
  EXPECT_THAT(map.csv, HasSubstr(",0.5,0,1,75,1\n"));
  EXPECT_THAT(map.script, HasSubstr("1: static_parts=2"));
  EXPECT_THAT(map.script, HasSubstr("2: as planned"));
  EXPECT_THAT(map.description, HasSubstr("\"value\": \"percent_of_linear\""));
}

}  // namespace
}  // namespace lacuna
