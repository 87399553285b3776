// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "sim/base/error.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_time.hpp"
#include "sim/report/json_figure.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/report/made_up.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

/// The files of a folder by name.
std::map<std::string, std::string> files(const fs::path& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    result[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file),
                                                std::istreambuf_iterator<char>()};
  }
  return result;
}

/// A quote and a blank in the path must not matter to shell or gnuplot.
const char* const kFigures = "lacuna's figures ";

TEST(FigureDrawing, MakesFiveFilesOfEachFigure) {
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  draw_figures(make_figures(test::made_up_comparison(true, {0.25, 0.1})), folder.string());
  std::map<std::string, std::string> drawn = files(folder);
  for (const char* name : {"throughput", "speedup", "energy", "cycle_stack"}) {
    const std::string stem = name;
    EXPECT_THAT(drawn[stem + ".svg"], AllOf(StartsWith("<?xml"), HasSubstr("</svg>")));
    EXPECT_THAT(drawn[stem + ".pdf"],
                AllOf(StartsWith("%PDF"), HasSubstr("/CreationDate (D:20000101000000")));
    EXPECT_THAT(drawn[stem + ".png"], StartsWith("\x89PNG"));
    EXPECT_THAT(drawn[stem + ".gp"], HasSubstr(stem + ".csv"));
    EXPECT_THAT(test::CsvTable(drawn[stem + ".csv"]).rows(), Not(IsEmpty()));
  }
}

TEST(FigureDrawing, TextOfAnSvgIsText) {
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  draw_figures(make_figures(test::made_up_comparison(false, {0.25, 0.1})), folder.string());
  EXPECT_THAT(files(folder)["throughput.svg"], HasSubstr("Useful TFLOP/s</text>"));
}

TEST(FigureDrawing, GivesTheSameBytesAtAnotherTime) {
  const std::vector<Figure> data = make_figures(test::made_up_comparison(false, {0.25, 0.1}));
  const test::TempFolder temporary(kFigures);
  const fs::path first = temporary.path() / "first";
  const fs::path second = temporary.path() / "second";
  draw_figures(data, first.string());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // a PDF is dated to the second
  draw_figures(data, second.string());
  EXPECT_EQ(files(first), files(second));
}

TEST(FigureDrawing, WithoutGnuplotSaysSoAndKeepsDataAndScripts) {
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const std::vector<Figure> data = make_figures(test::made_up_comparison(false, {0.25, 0.1}));
  EXPECT_THAT([&] { draw_figures(data, folder.string()); },
              ThrowsMessage<SimulationError>(
                  AllOf(HasSubstr("there is no gnuplot on the PATH"), HasSubstr("gnuplot-nox"))));
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(fs::exists(folder / "throughput.csv"));
  EXPECT_TRUE(fs::exists(folder / "throughput.gp"));
}

TEST(FigureDrawing, AnotherLookIsThatOfThePage) {
  LookWords look;
  look["width"] = 3.5;
  look["font"] = "Times";
  look["points"] = 8;
  look["formats"] = "pdf eps";
  for (const auto& [name, colour] : grey_colours()) look["colours"][name] = colour;
  std::vector<Figure> figures;
  for (Figure& figure : make_figures(test::made_up_comparison(true, {0.25, 0.1}))) {
    figures.push_back(with_look(figure, look));
  }
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  draw_figures(figures, folder.string());
  std::map<std::string, std::string> drawn = files(folder);
  EXPECT_THAT(drawn["speedup.pdf"], HasSubstr("/MediaBox [ 0 0 252 "));  // 3.5 x 72 points
  EXPECT_THAT(drawn["cycle_stack.eps"], HasSubstr("%%CreationDate: Sat Jan  1 00:00:00 2000\n"));
  EXPECT_EQ(drawn.count("speedup.svg"), 0U);
  // the widest line of the figure, 1.2, is 0.6 points: cairo's lines are half as wide in EPS, and
  // drawn twice as wide
  EXPECT_THAT(drawn["speedup.eps"], ContainsRegex("\n0\\.6 w\n"));
}

// Blue is 0x0072B2. A third of it is 255 - 255/3 = 170, 255 - 141/3 = 208, 255 - 77/3 = 229.333.
// With another blue, 0x333333, a third is 255 - 204/3 = 187.
TEST(FigureDrawing, SpansHaveTheColoursOfTheirLayersAndOfTheLook) {
  const Figure spans = draw_phases("phases", {},
                                   {{"tiles", "matmul", Layer::compute, 0, 100, 1},
                                    {"tiles", "reduce", Layer::compute, 130, 150, 0}});
  LookWords look;
  look["formats"] = "svg";
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  draw_figures({with_look(spans, look)}, folder.string());
  EXPECT_THAT(files(folder)["phases.svg"], AllOf(ContainsRegex("rgb\\( *0, *114, *178\\)"),
                                                 ContainsRegex("rgb\\( *170, *208, *229\\)")));
  look["colours"]["blue"] = "#333333";
  draw_figures({with_look(spans, look)}, folder.string());
  EXPECT_THAT(files(folder)["phases.svg"], AllOf(ContainsRegex("rgb\\( *51, *51, *51\\)"),
                                                 ContainsRegex("rgb\\( *187, *187, *187\\)")));
}

TEST(FigureDrawing, AScriptThatWasChangedIsDrawnAndKept) {
  const std::vector<Figure> figures = make_figures(test::made_up_comparison(false, {0.25, 0.1}));
  const test::TempFolder temporary(kFigures);
  const fs::path folder = temporary.path() / "drawn";
  EXPECT_THAT(draw_figures(figures, folder.string()), ::testing::IsEmpty());
  std::string script = files(folder)["speedup.gp"];
  script.replace(script.find("width = 3.35"), 12, "width = 5.00");
  std::ofstream(folder / "speedup.gp") << script;
  EXPECT_THAT(draw_figures(figures, folder.string()), ::testing::ElementsAre("speedup.gp"));
  EXPECT_EQ(files(folder)["speedup.gp"], script);
  EXPECT_THAT(files(folder)["speedup.pdf"], HasSubstr("/MediaBox [ 0 0 360 "));
  const fs::path other = temporary.path() / "elsewhere";
  EXPECT_THAT(draw_figures(figures, other.string(), folder.string()),
              ::testing::ElementsAre("speedup.gp"));
  EXPECT_EQ(files(other)["speedup.gp"], script);
}

TEST(FigureDrawing, SaysWhatGnuplotSaid) {
  const Figure broken{"broken", "", "plot nonsense\n"};
  const test::TempFolder temporary(kFigures);
  EXPECT_THAT(
      [&] { draw_figures(std::vector<Figure>{broken}, (temporary.path() / "broken").string()); },
      ThrowsMessage<SimulationError>(
          AllOf(HasSubstr("gnuplot did not draw"), HasSubstr("undefined variable: nonsense"))));
}

}  // namespace
}  // namespace lacuna
