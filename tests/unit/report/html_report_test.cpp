// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  // 2 machines x 5 patterns: 10 runs, 6 operations and 6 parts of a cycle stack each
  std::size_t rows = 0;
  for (std::size_t at = page.find("<tr><td"); at != std::string::npos;
       at = page.find("<tr><td", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, 130U);
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
  EXPECT_THAT(text, HasSubstr("<h2>metrics</h2>"));
  EXPECT_THAT(text, HasSubstr("<td class=\"text\" data-value=\"step_time\">step_time</td>"));
  EXPECT_THAT(text, HasSubstr("<td data-value=\"1.269006786\">1.269</td>"));
  EXPECT_THAT(text, HasSubstr(">a, b</td><td data-value=\"\"></td>"));
  EXPECT_THAT(text, HasSubstr("alt=\"pipeline\""));
  EXPECT_THAT(text, HasSubstr(">machines</td>"));
}

}  // namespace
}  // namespace lacuna
