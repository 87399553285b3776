// SPDX-License-Identifier: Apache-2.0
#include "sim/report/validation_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/figures/validation_figure.hpp"
#include "sim/report/layouts/layout_figure.hpp"
#include "sim/report/layouts/layout_gains.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

ValidationOutcome outcome(double published, double simulated, bool ratio = false) {
  ValidationOutcome result;
  result.id = "P";
  result.family = "curve";
  result.published = published;
  result.simulated = simulated;
  result.ratio = ratio;
  return result;
}

TEST(ValidationReport, GivesMedianPercentileWorstAndBiasOfAFamily) {
  // errors +10 %, -20 %, +30 %
  const auto families = summarise({outcome(10, 11), outcome(10, 8), outcome(10, 13)});
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].compared, 3U);
  EXPECT_DOUBLE_EQ(families[0].median, 0.2);
  EXPECT_NEAR(families[0].p95, 0.29, 1e-12);  // 0.2 + 0.9 * 0.1
  EXPECT_DOUBLE_EQ(families[0].worst, 0.3);
  EXPECT_NEAR(families[0].bias, 0.2 / 3, 1e-12);
}

TEST(ValidationReport, CountsWinnersOnlyOfRatiosThatAreDecided) {
  // 1.05 is too near to 1 to have a winner; 2 is on the wrong side, 0.5 and 3 on the right one
  const auto families =
      summarise({outcome(1.05, 0.5, true), outcome(2, 0.9, true), outcome(0.5, 0.7, true),
                 outcome(3, 1.2, true), outcome(2, 0.9, false)});
  EXPECT_EQ(families[0].decided, 3U);
  EXPECT_EQ(families[0].same_side, 2U);
}

TEST(ValidationReport, TellsAPredictedLackOfMemoryFromAMissingResult) {
  ValidationOutcome predicted;
  predicted.family = "curve";
  predicted.status = Status::out_of_memory;
  ValidationOutcome missed = predicted;
  missed.published = 3;
  ValidationOutcome unforeseen;
  unforeseen.family = "curve";
  unforeseen.simulated = 3;
  ValidationOutcome other = predicted;
  other.status = Status::unsupported;
  const auto families = summarise({predicted, missed, unforeseen, other});
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].points, 3U);
  EXPECT_EQ(families[0].blank, 2U);
  EXPECT_EQ(families[0].blank_predicted, 1U);
  EXPECT_EQ(families[0].missing, 1U);
  EXPECT_EQ(families[0].compared, 0U);
}

TEST(ValidationReport, PartsFamiliesByFurtherCells) {
  ValidationOutcome four = outcome(1, 2);
  four.cells = {{"n", "4"}};
  ValidationOutcome eight = outcome(1, 1);
  eight.cells = {{"n", "8"}};
  const auto families = summarise_by({four, eight, four}, {"n"});
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0].name, "curve, n 4");
  EXPECT_EQ(families[0].compared, 2U);
  EXPECT_EQ(families[1].name, "curve, n 8");
}

TEST(ValidationReport, WritesARowOfErrorsForEachPointAndEmptyCellsForWhatIsNotThere) {
  ValidationOutcome some = outcome(2, 1.5);
  some.system = "Bow";
  some.workload = "gemm";
  some.metric = "throughput";
  some.unit = "TFLOP/s";
  some.cells = {{"n", "4"}};
  ValidationOutcome none = some;
  none.simulated.reset();
  none.status = Status::unsupported;
  none.reason = "of another maker, for example";
  EXPECT_EQ(errors_csv({some, none}),
            "id,system,workload,metric,published,simulated,relative_error,status,reason,unit,"
            "family,n\n"
            "P,Bow,gemm,throughput,2,1.5,-0.25,ok,,TFLOP/s,curve,4\n"
            "P,Bow,gemm,throughput,2,,,unsupported,\"of another maker, for example\",TFLOP/s,"
            "curve,4\n");
  EXPECT_THAT(unsupported_table({some, none}), HasSubstr("of another maker"));
}

// 150 cycles planned and 100 laid out: 1.5 times as fast; published 2, as planned 1.6 (20 % off),
// alone 2.4 (20 %), all laid out 1.5 (25 %).
TEST(LayoutGains, SayHowFarProductsAreFromTheirPlanAndFromMeasurement) {
  EXPECT_EQ(layout_gains_table({outcome(2, 1.5)}), "");
  EXPECT_EQ(layout_gains_csv({outcome(2, 1.5)}), "");
  EXPECT_TRUE(layout_figures({outcome(2, 1.5)}).empty());
  ValidationOutcome laid = outcome(2, 1.5, true);
  laid.cells = {{"n", "4"}, {"block", "8"}};
  laid.laid_out = LaidOutPoint{"parts=2", "a search", 100, 150, 1.6, 2.4};
  const std::string table = layout_gains_table({laid});
  EXPECT_THAT(test::words_of(table), ::testing::IsSupersetOf({"1.500", "20.0", "25.0"}));
  EXPECT_EQ(layout_gains_csv({laid}),
            "id,family,m,k,n,density,block,mode,planned_cycles,cycles,times_as_fast,published,"
            "as_planned,product_alone,all,layout,from\n"
            "P,curve,,,4,,8,,150,100,1.5000,2,1.6,2.4,1.5,parts=2,a search\n");
  ValidationOutcome slow = laid;
  slow.laid_out->planned = 300;
  const auto figures = layout_figures({laid, slow});
  ASSERT_EQ(figures.size(), 2U);
  const std::string points = figures[0].csv.substr(figures[0].csv.find('\n') + 1);
  EXPECT_EQ(points,
            "equal,150,1,1,1\nequal,300,1,1,1\nblock 8,150,1.5,1.5,1.5\nblock 8,300,3,3,3\n");
  EXPECT_EQ(figures[1].name, "layout_agreement");
  EXPECT_FALSE(figures[1].description.empty());
}

// gnuplot's strcol() ends a cell at a comma, even within quotes: such series were not drawn.
TEST(ValidationFigure, NamesSeriesInItsDataWithoutCommas) {
  ValidationOutcome point = outcome(2, 3);
  point.family = "static, best n";
  const auto figures = validation_figures({point, point});
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].csv,
            "series,id,published,simulated\n"
            "static; best n,P,2,3\n"
            "static; best n,P,2,3\n");
  EXPECT_THAT(figures[0].script, HasSubstr("strcol(1) eq 'static; best n'"));
  EXPECT_THAT(figures[0].script, HasSubstr("title 'static, best n'"));
}

}  // namespace
}  // namespace lacuna
