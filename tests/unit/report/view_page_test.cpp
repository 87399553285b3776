// SPDX-License-Identifier: Apache-2.0
// The data of the page of --view: what is in it, what is lost, and that a page can be read again.
#include "sim/report/view_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/error.hpp"
#include "sim/report/result.hpp"
#include "sim/report/unit_series.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/report/view_bytes.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three rows of four cores, of which the first two are alike; two steps of 10 cycles.
UnitSeries a_series() {
  UnitSeries series;
  series.unit = "core";
  series.columns = 4;
  series.rows = 3;
  series.source = {0, 0, 1};
  series.stored_rows = series.timed_rows = 2;
  series.timed = {0, 1};
  series.ends = {10, 20};
  UnitChannel fma;
  fma.name = "fma";
  fma.unit = "cycles";
  fma.doc = "Beats </script>.";
  fma.group = UnitChannel::Group::stack;
  fma.layer = Layer::compute;
  fma.values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 300, 0, 0, 1};
  series.channels.push_back(fma);
  return series;
}

TEST(UnitSeries, AddsUpToTheCycleStack) {
  OpResult result;
  // rows 0 and 1 have 10 cycles in the first step and 19 in the second, row 2 has 26 and 301
  result.stack = {{Layer::compute, "fma", 2 * 29 + 327}};
  EXPECT_NO_THROW(check_units(a_series(), result));
  result.stack[0].cycles += 1;
  EXPECT_THROW(check_units(a_series(), result), InternalError);
}

TEST(UnitSeries, InBlocksKeepsSumsAndTheWholeRunOfEachUnit) {
  UnitSeries series = a_series();
  series.channels.push_back(series.channels[0]);
  series.channels[1].name = "wait";
  series.channels[1].values[0] = 100;
  coarsen(series, 16);  // 32 numbers are too many: pairs of columns
  EXPECT_EQ(series.block_columns, 2U);
  EXPECT_EQ(series.block_rows, 1U);
  ASSERT_EQ(series.channels.size(), 4U);
  EXPECT_THAT(series.channels[0].values, ElementsAre(3, 7, 11, 15, 19, 0, 300, 1));
  EXPECT_EQ(series.channels[2].name, "fma of each core");
  EXPECT_THAT(series.channels[2].values, ElementsAre(10, 12, 3, 4, 305, 6, 7, 9));
  EXPECT_EQ(series.channels[3].name, "wait of each core");
  EXPECT_THAT(series.channels[3].values, ElementsAre(109, 12, 3, 4, 305, 6, 7, 9));
  EXPECT_THAT(series.loss, HasSubstr("sum of 2 x 1 neighbouring cores"));
}

TEST(UnitSeries, AllRowsStoredAreAddedUpInSquares) {
  UnitSeries series = a_series();
  series.rows = 2;
  series.source = {0, 1};
  coarsen(series, 4);
  EXPECT_EQ(series.block_rows, 2U);
  EXPECT_EQ(series.timed_rows, 1U);
  EXPECT_THAT(series.channels[0].values, ElementsAre(14, 22, 319, 1));
}

TEST(ViewPage, HoldsItsDataAndGivesThemBack) {
  ViewFacts facts;
  facts.title = "run 0: wse2, </script>";
  facts.cycles = 21;
  const ViewData data = view_data(facts, a_series());
  // the text of a script may not end it
  EXPECT_EQ(data.head.find("</"), std::string::npos);
  const nlohmann::ordered_json head = nlohmann::ordered_json::parse(data.head);
  EXPECT_EQ(test::member_of(head, "source").dump(), "[[0,2],[1,1]]");
  const nlohmann::ordered_json channel = test::member_of(head, "channels").front();
  EXPECT_EQ(channel.at("timed"), true);
  EXPECT_EQ(channel.at("width"), 2);  // 300 takes two bytes
  EXPECT_EQ(channel.at("offset"), 0);
  EXPECT_EQ(test::member_of(head, "bytes"), 32);
  const std::string page = view_page("title & more", {data, data});
  EXPECT_THAT(page, HasSubstr("<title>title &amp; more</title>"));
  const std::vector<ViewData> read = read_views("a.html", page);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].head, data.head);
  EXPECT_EQ(read[1].numbers, data.numbers);
  EXPECT_EQ(unpack_view(pack(data)).numbers, data.numbers);
  // one file, no network
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
}

// 16 numbers of two bytes: the lowest bytes of all, then the highest, which are 0 but that of 300 =
// 256 + 44.
TEST(ViewPage, HasNumbersInPlanesOfBytes) {
  const std::string bytes = test::bytes_of(view_data({}, a_series()));
  std::string low{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 44, 0, 0, 1};
  std::string high(16, '\0');
  high[12] = 1;
  EXPECT_EQ(bytes, low + high);
}

TEST(ViewPage, OfAnotherKindIsRefusedByName) {
  try {
    read_views("report.html", "<html></html>");
    FAIL();
  } catch (const RequestError& error) {
    EXPECT_THAT(error.what(), HasSubstr("found 'report.html'; allowed: a page that --view wrote"));
  }
}

}  // namespace
}  // namespace lacuna::test
