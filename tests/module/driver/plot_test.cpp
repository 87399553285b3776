// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A comparison whose figures are there to be drawn otherwise.
class PlotTest : public ::testing::Test {
 protected:
  PlotTest() {
    lacuna("compare --machine fake --gemm 64x64x64 --density 1,0.5,0.25 --quiet --out " +
           lacuna.path("out"));
  }

  Ran plot(const std::string& options) const {
    return lacuna("plot " + lacuna.path("out") + " --out " + lacuna.path("new") + " " + options);
  }

  ProgramBench lacuna;
};

TEST_F(PlotTest, DrawsWhatIsAskedForInTheLookOfAStyle) {
  const std::string style =
      lacuna.file("paper.yaml",
                  "width: 3.5\nfont: Times\npoints: 8\npalette: grey\nformat: pdf\n"
                  "labels:\n  fake: A machine\n");
  const Ran ran = plot("--style " + style + " --only speedup --width 7.16");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(lacuna.path("new/speedup.pdf")));
  EXPECT_FALSE(std::filesystem::exists(lacuna.path("new/speedup.svg")));
  EXPECT_FALSE(std::filesystem::exists(lacuna.path("new/throughput.pdf")));
  // what the command line says stands over the style
  EXPECT_THAT(lacuna.read("new/speedup.gp"),
              AllOf(HasSubstr("\nwidth = 7.16 "), HasSubstr("\nfont = 'Times'\n"),
                    HasSubstr("title 'A machine unstructured'")));
}

TEST_F(PlotTest, AFontThatIsNotThereIsSaidToBeReplaced) {
  if (std::system("fc-match > /dev/null 2>&1") != 0) GTEST_SKIP() << "no fc-match";
  // for Arial and Times free fonts of the same measures are taken, and nothing needs to be said
  EXPECT_THAT(plot("--only speedup --format svg --font Arial").err, Not(HasSubstr("the font")));
  EXPECT_THAT(plot("--only speedup --format svg --font Times,8").err, Not(HasSubstr("the font")));
  EXPECT_THAT(plot("--only speedup --format svg --font Nonesuch-Roman,8").err,
              HasSubstr("the font 'Nonesuch-Roman' is not on this machine: PDF, PNG and EPS are "
                        "drawn with '"));
}

TEST_F(PlotTest, RefusesWordsThatAreNone) {
  EXPECT_THAT(plot("--only speedupp").err, HasSubstr("did you mean 'speedup'?"));
  EXPECT_THAT(plot("--palette gray").err, HasSubstr("did you mean 'grey'?"));
  EXPECT_THAT(plot("--width 0.1").err, HasSubstr("--width: found '0.1'; allowed: a number from 1"));
  EXPECT_THAT(plot("--format pdf,gif").err, HasSubstr("found 'gif'"));
  EXPECT_THAT(plot("--labels fake").err, HasSubstr("allowed: OLD=NEW"));
  EXPECT_THAT(plot("--run 3").err, HasSubstr("a whole number from 0 to 2"));
  EXPECT_THAT(plot("--normalise half").err, HasSubstr("share, sum, time, dense"));
  const std::string style = lacuna.file("s.yaml", "width: 3\nfnt: Times\n");
  EXPECT_THAT(plot("--style " + style).err,
              AllOf(HasSubstr("s.yaml:2:1"), HasSubstr("did you mean 'font'?")));
  EXPECT_FALSE(std::filesystem::exists(lacuna.path("new")));
}

TEST_F(PlotTest, ChoosesRunsAndNormalisesTheirStacks) {
  const Ran ran = plot("--run 1 --run 0 --normalise dense --only cycle_stack --matplotlib");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(lacuna.read("new/cycle_stack.gp"), HasSubstr("\nnormalise = 'dense' "));
  EXPECT_EQ(member_of(lacuna.read("new/cycle_stack.json"), "normalise"), "dense");
  EXPECT_THAT(CsvTable(lacuna.read("new/cycle_stack.csv")).column("bar"),
              AllOf(Contains(EndsWith("0.5")), Not(Contains(EndsWith("0.25")))));
}

TEST_F(PlotTest, ALabelOfNothingThatIsShownIsRefused) {
  const Ran ran = plot("--only speedup --labels fake=mine --labels nosuch=thing");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--labels: no figure here shows 'nosuch'"));
}

TEST_F(PlotTest, AScriptThatWasChangedStaysWhenTheRunIsRepeated) {
  std::string script = lacuna.read("out/figures/speedup.gp");
  script.replace(script.find("width = 3.35"), 12, "width = 5.00");
  std::ofstream(lacuna.path("out/figures/speedup.gp")) << script;
  const Ran again =
      lacuna("compare --machine fake --gemm 64x64x64 --density 1,0.5 --out " + lacuna.path("out"));
  EXPECT_THAT(again.err, HasSubstr("speedup.gp was changed by hand: drawn as it is"));
  EXPECT_EQ(lacuna.read("out/figures/speedup.gp"), script);
}

// A figure that no run of the result has, such as those of a language model or of a search.
TEST_F(PlotTest, AFigureBesideThoseOfTheRunsHasTheLookToo) {
  const std::filesystem::path figures = lacuna.path("out/figures");
  for (const char* const end : {".csv", ".gp"}) {
    std::filesystem::copy(figures / (std::string("speedup") + end),
                          figures / (std::string("own") + end));
  }
  // its description stands beside it from the run on
  std::string about = lacuna.read("out/figures/speedup.json");
  about.replace(about.find("\"speedup\""), 9, "\"own\"");
  std::ofstream(figures / "own.json") << about;
  ASSERT_EQ(plot("--only own --width 5 --format svg --labels fake=mine --matplotlib").status, 0);
  EXPECT_EQ(member_of(lacuna.read("new/own.json"), "width"), 5);
  EXPECT_EQ(member_of(lacuna.read("new/own.json"), "fake"), "mine");
  EXPECT_THAT(lacuna.read("new/redraw.py"), HasSubstr("def draw("));
  EXPECT_THAT(lacuna.read("new/own.gp"),
              AllOf(HasSubstr("\nwidth = 5 "), HasSubstr("title 'mine unstructured'")));
  EXPECT_THAT(lacuna.read("new/own.svg"), HasSubstr("mine unstructured"));
  // a look is added to the one that it has
  std::filesystem::copy(lacuna.path("new/own.json"), figures / "own.json",
                        std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(plot("--only own --font Times --format svg").status, 0);
  EXPECT_THAT(lacuna.read("new/own.gp"),
              AllOf(HasSubstr("\nwidth = 5 "), HasSubstr("\nfont = 'Times'\n"),
                    HasSubstr("title 'mine unstructured'")));
  // a description of somebody else is none that can be drawn
  std::ofstream(figures / "own.json") << "{}";
  EXPECT_THAT(plot("--only own").err, HasSubstr("no figure is called 'own'"));
  std::ofstream(figures / "own.json") << about;
  // what was changed by hand is nobody's to restyle, and runs that are chosen have none beside them
  EXPECT_THAT(plot("--only own --run 0").err, HasSubstr("no figure is called 'own'"));
  std::ofstream(figures / "own.gp", std::ios::app) << "# mine\n";
  EXPECT_THAT(plot("--only own").err, HasSubstr("no figure is called 'own'"));
}

TEST(CompareDensities, AreThoseOfEachPatternThatTakesOne) {
  const ProgramBench lacuna;
  const Ran ran = lacuna(
      "compare --machine fake --gemm 64x64x64 --pattern unstructured --pattern block8 --density "
      "1,0.5,0.25 --json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  // dense once, then two densities of each pattern: five runs
  EXPECT_EQ(nlohmann::json::parse(ran.out).back().at("run"), 4);
  const Ran single = lacuna("run --machine fake --gemm 64x64x64 --density 0.5,0.25");
  EXPECT_EQ(single.status, 2);
  EXPECT_THAT(single.err, HasSubstr("several are for lacuna compare"));
  EXPECT_THAT(lacuna("compare --machine fake --gemm 64x64x64 --density 0.5,x").err,
              HasSubstr("'x'"));
}

TEST(DescribeProgram, CompletionAndManualAreOfTheDeclaredOptions) {
  const ProgramBench lacuna;
  const std::string completion = lacuna("describe completion").out;
  const std::string manual = lacuna("describe manual").out;
  // an option of one verb, one of a verb below a verb, and all verbs
  for (const char* const word :
       {"--normalise", "--picture", "compare", "--palette) COMPREPLY=($(compgen -W 'colour grey'",
        "' describe') words='machines systems", "' trace make') words='gemm ",
        "' trace schedule') words='dynamic set ",
        "plot--format) COMPREPLY=($(compgen -W 'svg pdf png eps' ",
        "''|' trace'|' trace make'|' trace schedule') ;;"}) {
    EXPECT_THAT(completion, HasSubstr(word));
  }
  EXPECT_THAT(manual, AllOf(HasSubstr(".TH LACUNA 1"), HasSubstr("\\-\\-normalise HOW"),
                            HasSubstr(".SS lacuna trace show")));
  const std::string index = lacuna("describe index").out;
  EXPECT_THAT(index, HasSubstr("fake slow"));
  EXPECT_THAT(words_of(index), ::testing::IsSupersetOf({"bert-base", "--density"}));
  EXPECT_EQ(lacuna("describe").out, index);
  EXPECT_THAT(lacuna("describe groups").out, AllOf(HasSubstr("groups of"), Not(HasSubstr("bert"))));
  // twelve layers, words and positions of the published model
  EXPECT_THAT(printed_row(lacuna("describe models").out, "bert-base 12"),
              ::testing::IsSupersetOf({"30522", "512"}));
  EXPECT_THAT(lacuna("describe bert-base").out, HasSubstr("of the family bert, an encoder"));
}

TEST(DescribeProgram, JsonHasParametersWithTheirValues) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe unit.macs --machine fake --json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(member_of(ran.out, "machine"), "fake");
  EXPECT_EQ(member_of(ran.out, "path"), "unit.macs");
  EXPECT_EQ(member_of(ran.out, "allowed"), "[1, 64]");
  EXPECT_FALSE(member_of(lacuna("describe patterns --json").out, "needs_density").is_null());
  EXPECT_THAT(lacuna("describe manual --json").err, HasSubstr("a text for man"));
}

TEST(DescribeProgram, JsonOfAPageHasTheRowsOfItsTables) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe index --json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(member_of(ran.out, "subject"), "index");
  const nlohmann::json index = nlohmann::json::parse(ran.out);
  std::map<std::string, std::string> names;
  for (const nlohmann::json& row : index.at("sections").at(0).at("rows")) {
    names[row.at("kind")] = row.at("names");
  }
  EXPECT_EQ(names["machines"], "fake slow");
  // a name whose page is a line of text
  EXPECT_TRUE(member_of(lacuna("describe unstructured --json").out, "text").is_array());
  EXPECT_EQ(lacuna("describe nothing_such --json").status, 2);
  EXPECT_THAT(lacuna("describe index --json --markdown").err, HasSubstr("give one"));
}

}  // namespace
}  // namespace lacuna::test
