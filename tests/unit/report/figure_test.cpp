// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/json_figure.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/report/made_up.hpp"

namespace lacuna {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const char* const kDensity = "Density of the weights";

std::vector<std::string> names(const std::vector<Figure>& figures) {
  std::vector<std::string> result;
  for (const Figure& figure : figures) result.push_back(figure.name);
  return result;
}

const Figure& find(const std::vector<Figure>& figures, const std::string& name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return figure;
  }
  throw std::out_of_range(name);
}

std::vector<Figure> of_product(const std::vector<double>& densities) {
  return make_figures(test::made_up_comparison(false, densities));
}

TEST(Figures, OfOneProductAtSeveralDensitiesAreCurvesAndStacks) {
  EXPECT_THAT(names(of_product({0.25, 0.1})),
              ElementsAre("throughput", "speedup", "throughput_per_unit", "share_of_peak", "energy",
                          "cycle_stack", "roofline", "bandwidth"));
}

TEST(Figures, OfBlasLevelsAreDrawnWhereSuchRowsRan) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25});
  runs[0].ops[0].row.n = 1;  // a matrix and a vector
  EXPECT_THAT(names(make_figures(runs)), ::testing::IsSupersetOf({"blas", "blas_share"}));
}

TEST(Figures, OfALayerShowItsOperationsToo) {
  const std::vector<RunRecord> runs = test::made_up_comparison(true, {0.1});
  const std::vector<std::string> all = names(make_figures(runs));
  EXPECT_THAT(all,
              ::testing::IsSupersetOf({"throughput_by_op", "speedup_by_op", "cycle_stack_ops"}));
}

TEST(Figures, OfADenseLayerShowNoSpeedUpOverItself) {
  const std::vector<std::string> all = names(make_figures(test::made_up_comparison(true, {})));
  EXPECT_THAT(all, ::testing::Contains("throughput_by_op"));
  EXPECT_THAT(all, ::testing::Not(::testing::Contains("speedup_by_op")));
}

TEST(Figures, OfNothingAreNone) { EXPECT_THAT(make_figures({}), IsEmpty()); }

TEST(Figures, AreTheSameForBothEnginesAndNameNone) {
  std::vector<RunRecord> runs = test::made_up_comparison(true, {0.25, 0.1});
  const std::vector<Figure> event = make_figures(runs);
  for (RunRecord& run : runs) {
    run.engine = "clocked";
    run.total.engine = "clocked";
    for (OpRecord& op : run.ops) op.row.engine = "clocked";
  }
  const std::vector<Figure> clocked = make_figures(runs);
  ASSERT_EQ(event.size(), clocked.size());
  for (std::size_t i = 0; i < event.size(); ++i) {
    EXPECT_EQ(event[i].csv, clocked[i].csv);
    EXPECT_EQ(event[i].script, clocked[i].script);
    EXPECT_THAT(event[i].csv + event[i].script, Not(HasSubstr("event")));
  }
}

TEST(Figures, NameTheSizeOfTheSimulatedRectangle) {
  for (const Figure& figure : of_product({0.25, 0.1})) {
    EXPECT_THAT(figure.script, HasSubstr("wse2: 64 x 64 of 750 x 994 cores"));
  }
}

TEST(Figures, SpeedupHasTheIdealLineAndBreakEven) {
  const std::vector<Figure> figures = of_product({0.25, 0.1});
  // 1 / 0.1 at density 0.1, and 1 at density 1
  const test::CsvTable drawn(find(figures, "speedup").csv);
  const test::CsvTable ideal = drawn.where({{"series", "ideal (1/density)"}});
  EXPECT_THAT(ideal.column(kDensity), ElementsAre("0.1", "1"));
  EXPECT_THAT(ideal.column("Speed-up over dense"), ElementsAre("10", "1"));
  EXPECT_THAT(drawn.where({{"series", "break-even"}}).column("Speed-up over dense"),
              ElementsAre("1", "1"));
}

TEST(Figures, EnergyHasItsRange) {
  // the made-up range is 0.45 to 2.1 times the nominal
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.5});
  runs[1].total.energy_j = JouleRange{0.001, 0.002, 0.004};
  runs[1].total.useful_flop = 1000000000;
  const test::CsvTable point = test::CsvTable(find(make_figures(runs), "energy").csv)
                                   .where({{"series", "bow unstructured"}, {kDensity, "0.5"}});
  EXPECT_EQ(point.number("Energy per useful FLOP (pJ)"), 2);
  EXPECT_EQ(point.number("low"), 1);
  EXPECT_EQ(point.number("high"), 4);
}

TEST(Figures, LeaveOutRunsThatDidNotFinish) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25, 0.1});
  for (RunRecord& run : runs) {
    if (run.machine != "bow") continue;
    run.total = SummaryRow{};
    run.total.run = run.run;
    run.total.machine = run.machine;
    run.total.op_id = kTotal;
    run.total.status = Status::out_of_memory;
  }
  EXPECT_THAT(find(make_figures(runs), "throughput").csv, Not(HasSubstr("bow")));
}

TEST(Figures, ShowRunsWithoutValuesAsEmptyMarkersWithTheReason) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25, 0.1});
  for (RunRecord& run : runs) {
    const SummaryRow& op = run.ops.front().row;
    if (run.machine != "bow" || op.pattern != "block" || op.density > 0.2) continue;
    SummaryRow total;
    total.run = run.run;
    total.machine = run.machine;
    total.workload = run.total.workload;
    total.op_id = kTotal;
    total.density = 0.1;
    total.status = Status::out_of_memory;
    total.reason = "needs 5 bytes";
    run.total = total;
  }
  const std::vector<Figure> figures = make_figures(runs);
  const Figure& throughput = find(figures, "throughput");
  const test::CsvTable marker =
      test::CsvTable(throughput.csv).where({{"series", "bow block 16: out of memory"}});
  EXPECT_EQ(marker.cell(kDensity), "0.1");
  EXPECT_EQ(marker.cell("reason"), "needs 5 bytes");
  EXPECT_THAT(throughput.script, HasSubstr("pointtype 6 pointsize 0.7*size title "
                                           "'bow block 16: out of memory'"));
  const Figure& stack = find(figures, "cycle_stack");
  const test::CsvTable bar = test::CsvTable(stack.csv).where({{"bar", "bow block 16 at 0.1"}});
  EXPECT_EQ(bar.cell("note"), "out of memory");
  EXPECT_EQ(bar.cell("time_us"), "");
  EXPECT_EQ(bar.cell("compute"), "0");
  EXPECT_THAT(stack.script, HasSubstr("point pointtype 6"));
  EXPECT_THAT(find(figures, "roofline").script,
              HasSubstr("no value: bow block 16 at 0.1: out of memory"));
}

TEST(Figures, OfAnInterruptedRunSaySoAcrossTheirData) {
  std::vector<Figure> figures = of_product({0.25, 0.1});
  mark_interrupted(figures);
  for (const Figure& figure : figures) {
    const std::size_t mark = figure.script.find("'interrupted: not all was simulated'");
    ASSERT_NE(mark, std::string::npos) << figure.name;
    EXPECT_LT(mark, figure.script.find("  plot ")) << figure.name;
    EXPECT_FALSE(is_edited(figure.script)) << figure.name;
    EXPECT_EQ(test::member_of(figure.description, "interrupted"), true) << figure.name;
  }
}

TEST(Figures, TellRunsOfOnePatternApartByTheirShape) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25});
  const std::size_t count = runs.size();
  for (std::size_t i = 0; i < count; ++i) {
    RunRecord other = runs[i];
    other.run += count;
    other.total.run = other.ops[0].row.run = other.run;
    other.ops[0].row.n = 64;
    runs.push_back(other);
  }
  const test::CsvTable drawn(find(make_figures(runs), "throughput").csv);
  EXPECT_THAT(
      drawn.where({{kDensity, "0.25"}}).column("series"),
      ::testing::IsSupersetOf({"bow block 16 4096x4096x1024", "bow block 16 4096x4096x64"}));
}

TEST(Figures, NameAndPlaceALayerByItsWeightsThoughItsOtherRowsAreDense) {
  std::vector<RunRecord> runs = test::made_up_comparison(true, {0.25, 0.1});
  for (RunRecord& run : runs) {
    OpRecord scores = run.ops.front();
    scores.row.op = "bmm";
    scores.row.op_id = "scores";
    scores.row.pattern = "dense";
    scores.row.block = scores.row.mode = "";
    scores.row.density = 1;
    run.ops.push_back(scores);
    run.total.density = run.ops.front().row.density;
  }
  const test::CsvTable drawn(find(make_figures(runs), "speedup").csv);
  EXPECT_THAT(drawn.where({{"series", "bow block 16"}}).column(kDensity),
              ::testing::UnorderedElementsAre("0.1", "0.25"));
  EXPECT_THAT(drawn.where({{"series", "bow unstructured"}}).column(kDensity),
              ::testing::UnorderedElementsAre("0.1", "0.25"));
  EXPECT_THAT(drawn.column("series"), Each(Not(HasSubstr("mixed"))));
}

/// Runs of one pattern, over sizes and columns.
std::vector<RunRecord> made_up_grid() {
  const test::MadeUpMachine bow{"bow", "ipu", "1472 tiles", 1472, 1.85, 348.9, 0.62};
  std::vector<RunRecord> runs;
  for (const std::uint64_t size : {256U, 4096U}) {
    for (const std::uint64_t n : {16U, 16384U}) {
      runs.push_back(test::made_up_run(runs.size(), bow, {"block", "16", 0.85}, 0.0625, false));
      SummaryRow& row = runs.back().ops[0].row;
      row.m = row.k = size;
      row.n = n;
      row.speedup_vs_dense = size == 256 ? 0.5 : 4;
    }
  }
  runs.back().ops[0].row.status = Status::out_of_memory;
  return runs;
}

TEST(SpeedupMap, HasACellForEachSizeAndNumberOfColumns) {
  const std::vector<Figure> figures = make_figures(made_up_grid());
  const std::string csv = find(figures, "speedup_map_bow_block_16_at_0_0625_static_fp16").csv;
  EXPECT_EQ(csv,
            "m_and_k,n,speedup_vs_dense,status,row,column,text\n"
            "256,16,0.5,ok,0,0,0.50\n"
            "256,16384,0.5,ok,0,1,0.50\n"
            "4096,16,4,ok,1,0,4.00\n"
            "4096,16384,NaN,oom,1,1,oom\n");
}

TEST(Roofline, PlacesRunsByTheirTrafficUnderTheRoofsOfTheirMachine) {
  const test::CsvTable drawn(find(of_product({0.5, 0.25}), "roofline").csv);
  const auto intensities = [&](const std::string& series) {
    std::vector<double> values;
    for (const std::string& cell :
         drawn.where({{"series", series}}).column("Useful FLOP per byte of tile or core memory")) {
      values.push_back(std::stod(cell));
    }
    return values;
  };
  // made up: a read byte for 6 FLOP, a written one for 20: 1 / (1/6 + 1/20) = 4.62 FLOP per byte
  EXPECT_THAT(intensities("bow block 16"), Each(DoubleNear(4.61538, 0.00001)));
  // 348.9 TFLOP/s over 24 bytes x 1472 tiles x 1.85 GHz = 65.36 TB/s: the ridge is at 5.338
  EXPECT_THAT(intensities("bow roof"), Contains(DoubleNear(5.338, 0.001)));
  EXPECT_THAT(intensities("wse2 roof"), Not(IsEmpty()));
}

TEST(Bandwidth, IsAShareOfWhatThereIs) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.5});
  runs[0].total.fabric_gbps = 544.64;
  // 4 bytes x 1472 tiles x 1.85 GHz = 10892.8 GB/s
  const test::CsvTable fabric = test::CsvTable(find(make_figures(runs), "bandwidth").csv)
                                    .where({{"way", "fabric"}, {"bar", "bow dense"}});
  EXPECT_EQ(fabric.number("percent_of_peak"), 5);
  EXPECT_EQ(fabric.number("gbps"), 544.64);
  EXPECT_DOUBLE_EQ(fabric.number("peak_gbps"), 10892.8);
}

TEST(Bandwidth, TakesAnotherPageForMoreRunsThanOneHolds) {
  // 2 machines x (1 dense + 4 patterns x 5 densities) = 42 runs, 36 to a page: six on the second
  const std::vector<RunRecord> runs =
      test::made_up_comparison(false, {0.5, 0.25, 0.125, 0.0625, 0.03125});
  const std::vector<Figure> figures = make_figures(runs);
  EXPECT_THAT(find(figures, "bandwidth_2").script, HasSubstr("'bandwidth_2.csv'"));
  EXPECT_THAT(find(figures, "bandwidth_2").script, HasSubstr(" 5)\n"));
}

TEST(EnergyParts, AreStackedPerUsefulFlop) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.5});
  runs[0].total.useful_flop = 1000000000;
  runs[0].total.energy_j = JouleRange{0.001, 0.002, 0.004};
  runs[0].ops[0].energy = {{"mac", {0.0002, 0.0005, 0.001}}, {"sram", {0.0008, 0.0015, 0.003}}};
  const test::CsvTable bar =
      test::CsvTable(find(make_figures(runs), "energy_parts").csv).where({{"bar", "bow dense"}});
  EXPECT_EQ(bar.cell("note"), "1 - 4");
  // 0.5 mJ over 10^9 FLOP is 0.5 pJ
  EXPECT_EQ(bar.number("mac"), 0.5);
  EXPECT_EQ(bar.number("vector"), 0);
  EXPECT_EQ(bar.number("sram"), 1.5);
  EXPECT_EQ(bar.number("issue"), 0);
}

TEST(CycleStackFigure, HasTheUnitCyclesOfEachLayerAndTheTimes) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25});
  for (RunRecord& run : runs) {
    run.ops[0].result.stack = {{Layer::compute, "mac", 30}, {Layer::stall, "wait", 10}};
    run.total.time_s = 4e-6;
    run.total.speedup_vs_dense = 2;
  }
  const test::CsvTable bars(find(make_figures(runs), "cycle_stack").csv);
  EXPECT_THAT(bars.column("time_us"), Each("4"));
  EXPECT_THAT(bars.column("dense_time_us"), Each("8"));  // 2 times as fast as a dense run
  EXPECT_THAT(bars.column("compute"), Each("30"));
  EXPECT_THAT(bars.column("stall"), Each("10"));
  for (const char* const none : {"exchange", "sync", "imbalance", "idle"}) {
    EXPECT_THAT(bars.column(none), Each("0")) << none;
  }
}

TEST(CycleStackFigure, TakesAnotherPageForMoreBarsThanOneHolds) {
  // 2 machines x (1 dense + 4 patterns x 5 densities) = 42 bars, 36 to a page
  EXPECT_THAT(names(of_product({0.5, 0.25, 0.125, 0.0625, 0.03125})),
              ::testing::IsSupersetOf({"cycle_stack", "cycle_stack_2"}));
}

TEST(FigureStyle, TellsPatternsByColourAndMachinesByMarkerAndDash) {
  const SeriesStyle first = series_style(0, "block 16", 0);
  const SeriesStyle second = series_style(1, "block 16", 0);
  EXPECT_EQ(first.colour, second.colour);
  EXPECT_NE(first.marker, second.marker);
  EXPECT_NE(first.dash, second.dash);
  EXPECT_NE(series_style(0, "block 8", 0).colour, first.colour);
  EXPECT_NE(series_style(0, "block 8", 0).marker, first.marker);
}

TEST(FigureStyle, WritesNumbersInAsFewDigitsAsSayThem) {
  EXPECT_EQ(short_number(0.0999756), "0.1");
  EXPECT_EQ(short_number(0.03125), "0.03125");
  EXPECT_EQ(short_number(1), "1");
}

TEST(DensityAxis, MarksMasksThatWereAskedForAlikeOnceAndRound) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.5, 0.1});
  runs[2].total.density = 0.09961;
  EXPECT_THAT(find(make_figures(runs), "speedup").script,
              HasSubstr("set xtics ('0.1' 0.1, '0.5' 0.5, '1' 1)"));
}

TEST(FigureStyle, TakesDensitiesThatDifferByARoundingForOne) {
  const std::vector<std::string> texts = round_texts({0.0999, 0.1, 0.25, 0.2501});
  EXPECT_THAT(texts, ElementsAre("0.1", "0.25"));
  EXPECT_EQ(nearest_text(texts, 0.0999), "0.1");
}

TEST(FigureStyle, QuotesWhatGnuplotWouldTakeForTheEnd) { EXPECT_EQ(quoted("it's"), "'it''s'"); }

TEST(LogMarks, EncloseTheDataWithOneTwoAndFive) {
  EXPECT_THAT(log_marks(3, 40), ElementsAre(2, 5, 10, 20, 50));
  EXPECT_THAT(log_marks(1, 10), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(log_marks(774, 893), ElementsAre(700, 800, 900));
  EXPECT_THAT(log_marks(1.7, 4.2), ElementsAre(1.5, 2, 3, 4, 5));
  EXPECT_THAT(log_marks(0.5, 2000), ElementsAre(0.1, 1, 10, 100, 1000, 10000));
}

TEST(LogMarks, AreNeverOneAlone) {
  EXPECT_THAT(log_marks(1, 1), ElementsAre(1, 1.5));
  EXPECT_THAT(log_marks(10, 10), ElementsAre(10, 15));
  EXPECT_THAT(log_marks(7, 7), ElementsAre(7, 10));
}

/// Runs over one axis of the hardware, of several values.
std::vector<RunRecord> made_up_sweep(const std::vector<std::string>& values) {
  std::vector<RunRecord> runs;
  for (const std::string& value : values) {
    for (RunRecord run : test::made_up_comparison(false, {0.25})) {
      run.run = run.total.run = run.ops[0].row.run = runs.size();
      run.varying = {"tile.amp.fp16_macs"};
      run.total.varying = run.ops[0].row.varying = {value};
      runs.push_back(run);
    }
  }
  return runs;
}

TEST(SweepFigures, HaveTicksAtTheValuesOfTheirAxis) {
  const std::vector<Figure> figures = make_figures(made_up_sweep({"16", "24", "64"}));
  EXPECT_THAT(find(figures, "throughput_against_tile_amp_fp16_macs").script,
              HasSubstr("set xtics ('16' 16, '24' 24, '64' 64)"));
}

// Names that leave less than 0.7 inches for the bars are written smaller; of the page's own width
// they leave 1.2 inches.
TEST(CycleStackFigure, LeavesRoomForItsBarsBesideLongNames) {
  std::vector<RunRecord> runs = test::made_up_comparison(false, {0.25});
  const std::string value(40, '7');
  for (RunRecord& run : runs) {
    run.varying = {"tile.workers"};
    run.total.varying = run.ops[0].row.varying = {run.run == 0 ? "1" : value};
  }
  const std::string script = find(make_figures(runs), "cycle_stack").script;
  EXPECT_THAT(script, Not(HasSubstr("\nwidth = 3.35 ")));
  EXPECT_THAT(script, HasSubstr("spare = (width - right - 0.70*unit)/left"));
  EXPECT_THAT(script, HasSubstr("points*squeeze*"));
}

}  // namespace
}  // namespace lacuna
