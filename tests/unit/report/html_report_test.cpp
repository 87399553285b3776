// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/html/html_answer.hpp"
#include "tests/support/report/made_up.hpp"

namespace lacuna {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

HtmlReport made_up_page() {
  return {"0.1.0", "lacuna compare --gemm 4x4x4 --pattern 'a<b'", {{"speedup", "<svg>x</svg>"}}};
}

TEST(HtmlReport, NeedsNothingButItself) {
  const std::string page = html_report(made_up_page(), test::made_up_comparison(true, {0.1}));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(ContainsRegex("src=\"[^d]")));
}

TEST(HtmlReport, HoldsEveryFigure) {
  // the base64 of "<svg>x</svg>", by hand
  EXPECT_THAT(html_report(made_up_page(), test::made_up_comparison(false, {0.1})),
              HasSubstr("data:image/svg+xml;base64,PHN2Zz54PC9zdmc+\""));
}

TEST(HtmlReport, PadsWhatIsNotAMultipleOfThreeBytes) {
  HtmlReport page = made_up_page();
  page.figures = {{"one", "M"}, {"two", "Ma"}};
  const std::string text = html_report(page, {});
  EXPECT_THAT(text, HasSubstr("base64,TQ==\""));  // examples of RFC 4648's alphabet
  EXPECT_THAT(text, HasSubstr("base64,TWE=\""));
}

TEST(HtmlReport, TakesWordsFromOutsideLiterally) {
  const std::string page = html_report(made_up_page(), test::made_up_comparison(false, {0.1}));
  EXPECT_THAT(page, HasSubstr("--pattern 'a&lt;b'"));
}

TEST(HtmlReport, SaysWhyARunHasNoNumbers) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.1});
  runs[0].total = SummaryRow{};
  runs[0].total.status = Status::out_of_memory;
  runs[0].total.reason = "needs 700000 of 638976 bytes";
  EXPECT_THAT(html_report(made_up_page(), runs),
              HasSubstr("out_of_memory: needs 700000 of 638976 bytes"));
}

TEST(HtmlReport, HasARowForEachRunAndOperation) {
  const std::string page = html_report(made_up_page(), test::made_up_comparison(true, {0.1}));
  // 2 machines x 5 patterns: 10 runs in the answer, 6 operations, a TOTAL and 6 parts of a cycle
  // stack each
  std::size_t rows = 0;
  for (std::size_t at = page.find("<tr><td"); at != std::string::npos;
       at = page.find("<tr><td", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, 140U);
}

TEST(HtmlReport, BeginsWithTitleCommandAndAnswer) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.1});
  for (RunRecord& run : runs) run.total.speedup_vs_dense = run.total.pattern == "dense" ? 1 : 0.5;
  runs[1].total.speedup_vs_dense = 3.25;
  runs[1].ops[0].result.stack = {{Layer::compute, "mac", 30}, {Layer::stall, "banks", 70}};
  const std::string page = html_report(made_up_page(), runs);
  const std::size_t title = page.find("cores); seed 1, exact</h1>");
  const std::size_t command = page.find("<pre>lacuna compare");
  const std::size_t answer = page.find("3.25 times as fast as dense");
  ASSERT_NE(title, std::string::npos);
  EXPECT_LT(title, command);
  EXPECT_LT(command, answer);
  EXPECT_LT(answer, page.find("<figure"));
  EXPECT_THAT(page, HasSubstr("stall (banks), 70 %"));
  EXPECT_THAT(page, HasSubstr("aria-label=\"compute 30 %, stall 70 %\""));
  EXPECT_THAT(page, HasSubstr("<a href=\"#energy\">"));
}

TEST(HtmlReport, CaptionsSayWhatIsSeenAndLinkToTheData) {
  HtmlReport page = made_up_page();
  page.figures = {{"blas", "<svg/>"}, {"energy", "<svg/>"}, {"speedup", "<svg/>"}};
  const std::string text = html_report(page, {});
  EXPECT_THAT(text, HasSubstr("<b>speedup</b>: Speed-up over each machine's own dense run"));
  EXPECT_THAT(text, HasSubstr("<a href=\"figures/energy.csv\">data</a>"));
  EXPECT_THAT(text, HasSubstr("<a href=\"figures/energy.pdf\">PDF</a>"));
  // what answers first stands with the answer
  EXPECT_LT(text.find("figure-speedup"), text.find("<h2 id=\"figures\">"));
  EXPECT_LT(text.find("figure-speedup"), text.find("figure-energy"));
  EXPECT_LT(text.find("figure-energy"), text.find("figure-blas"));
}

// 40 drawings of 100,000 bytes are 5.3 MB in base64: 15 fit into the two of a page
TEST(HtmlReport, StaysSmallWhereThereAreManyFigures) {
  HtmlReport page = made_up_page();
  page.figures.clear();
  for (int i = 0; i < 40; ++i) {
    page.figures.emplace_back(fmt::format("map_{:02}", i), std::string(100000, 'x'));
  }
  const std::string text = html_report(page, {});
  EXPECT_LT(text.size(), 3000000U);
  EXPECT_THAT(text, HasSubstr("id=\"figure-map_14\""));
  EXPECT_THAT(text, Not(HasSubstr("figure-map_15")));
  EXPECT_THAT(text, HasSubstr("<a href=\"figures/map_39.svg\">drawing</a>"));
}

TEST(HtmlReport, FindsNoFiguresWhereThereIsNoFolder) {
  EXPECT_TRUE(read_figures("/nowhere").empty());
}

// one numeric column after a word: the word is text, the number is rounded and keeps its value, a
// missing one is empty
TEST(HtmlReport, MakesTablesOfCsvAndNamesParameters) {
  HtmlReport page;
  page.figures = {{"pipeline", "<svg/>"}};
  const std::string text =
      html_tables(page, {{"metrics", "quantity,value\nstep_time,1.269006786\n\"a, b\",\n"}},
                  {{"machines", "4", "machines", true}});
  EXPECT_THAT(text, HasSubstr("<h2 id=\"metrics\">metrics</h2>"));
  EXPECT_THAT(text, HasSubstr("<td class=\"text\">step_time</td>"));
  EXPECT_THAT(text, HasSubstr("<td data-value=\"1.269006786\">1.269</td>"));
  EXPECT_THAT(text, HasSubstr(">a, b</td><td></td>"));
  EXPECT_THAT(text, HasSubstr("id=\"figure-pipeline\""));
  EXPECT_THAT(text, HasSubstr(">machines</td>"));
}

}  // namespace
}  // namespace lacuna
