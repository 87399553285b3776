// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/json_figure.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/report/made_up.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

Figure made_up(const std::string& name) {
  for (Figure& figure : make_figures(test::made_up_comparison(false, {0.25, 0.1}))) {
    if (figure.name == name) return figure;
  }
  throw std::out_of_range(name);
}

TEST(FigureLook, IsVariablesAtTheHeadOfAScript) {
  LookWords look;
  look["width"] = 7.16;
  look["font"] = "Times";
  look["points"] = 8;
  look["title"] = {"It's mine"};
  look["legend"] = false;
  look["colours"]["blue"] = "#333333";
  look["formats"] = "pdf eps";
  const Figure figure = with_look(made_up("throughput"), look);
  for (const char* const line :
       {"\nwidth = 7.16  #", "\nfont = 'Times'\n", "\npoints = 8\n", "\nshow_legend = 0\n",
        "\nblue = '#333333'\n", "\nformats = 'pdf eps'  #"}) {
    EXPECT_THAT(figure.script, HasSubstr(line));
  }
  const auto description = nlohmann::ordered_json::parse(figure.description).at("look");
  EXPECT_EQ(test::member_of(description, "width"), 7.16);
  EXPECT_EQ(test::member_of(description, "font"), "Times");
  EXPECT_EQ(test::member_of(description, "points"), 8);
  EXPECT_EQ(test::member_of(description, "legend"), false);
  EXPECT_EQ(test::member_of(description, "blue"), "#333333");
  EXPECT_EQ(test::member_of(description, "formats"), "pdf eps");
  EXPECT_THAT(figure.description, HasSubstr("\"It's mine\""));
  EXPECT_THAT(figure.script, HasSubstr("\nown_title = 'It''s mine'"));
  EXPECT_THAT(formats_of(figure.script), ElementsAre("pdf", "eps"));
  EXPECT_EQ(figure.csv, made_up("throughput").csv);
}

TEST(FigureLook, LayOutAndColoursFollowFromTheVariables) {
  const std::string script = made_up("throughput").script;
  const std::string body = script.substr(script.find("# the lay-out"));
  // no size and no colour of a series stands below the head
  EXPECT_THAT(body, Not(HasSubstr("3.35")));
  EXPECT_THAT(body, Not(HasSubstr("#0072B2")));
  EXPECT_THAT(body, HasSubstr("linecolor rgb blue"));
}

TEST(FigureLook, LabelsAreWholeWordsOfWhatIsShownAndNotOfTheData) {
  LookWords look;
  look["labels"] = {
      {"bow", "Bow 2000"}, {"block 16", "blocks"}, {"Density of the weights", "Density"}};
  const Figure figure = with_look(made_up("throughput"), look);
  EXPECT_THAT(figure.script, HasSubstr("title 'Bow 2000 blocks'"));
  EXPECT_THAT(figure.script, HasSubstr("strcol(1) eq 'bow block 16'"));
  EXPECT_THAT(figure.script, HasSubstr("set xlabel 'Density'"));
  EXPECT_THAT(figure.script, HasSubstr("'Bow 2000: 1472 tiles"));
  look["labels"] = {{"ow", "x"}, {"bloc", "y"}};
  EXPECT_EQ(with_look(made_up("throughput"), look).script, made_up("throughput").script);
}

TEST(FigureLook, AScriptThatWasChangedIsKnown) {
  const Figure figure = made_up("speedup");
  EXPECT_FALSE(is_edited(figure.script));
  std::string edited = figure.script;
  edited.replace(edited.find("width = 3.35"), 12, "width = 5.00");
  EXPECT_TRUE(is_edited(edited));
  EXPECT_FALSE(is_edited("plot x\n"));  // none of ours
  EXPECT_FALSE(is_edited(with_look(figure, {}).script));
}

TEST(FigureLook, StackedBarsAreNormalisedToWhatTheyHave) {
  std::vector<Figure> figures = {made_up("cycle_stack"), made_up("throughput")};
  normalise(figures, "time");
  EXPECT_THAT(figures[0].script, HasSubstr("\nnormalise = 'time'  #"));
  EXPECT_EQ(test::member_of(figures[0].description, "normalise"), "time");
  EXPECT_FALSE(is_edited(figures[0].script));
  EXPECT_THAT([&] { normalise(figures, "half"); },
              ThrowsMessage<RequestError>(
                  AllOf(HasSubstr("found 'half'"), HasSubstr("share, sum, time, dense"))));
  std::vector<Figure> curve = {made_up("throughput")};
  EXPECT_THROW(normalise(curve, "share"), RequestError);
}

// The bars leave the name of their axis less than half of its length to the right, beside long
// labels: it moves to the left, by as much as it would be cut off, and --labels finds it.
TEST(FigureLook, TheAxisOfStackedBarsIsNamedWithinThePage) {
  const Figure figure = made_up("cycle_stack");
  const std::string axis = "Share of the cycles of all tiles or cores";
  // 41 letters of 0.5 * 7 / 72 inches
  EXPECT_THAT(figure.script,
              HasSubstr("set xlabel '" + axis + "' offset screen aside(1.99306),character low"));
  EXPECT_TRUE(shows(figure, axis));
  LookWords look;
  look["labels"][axis] = "Cycles";
  EXPECT_THAT(with_look(figure, look).script, HasSubstr("set xlabel 'Cycles' offset screen"));
}

// The svg terminal has its own idea of the width of a letter.
TEST(FigureLook, TheLegendIsAsWideAsItsLettersInSvgToo) {
  EXPECT_THAT(made_up("throughput").script,
              HasSubstr("spacing (format eq 'svg' ? 0.78 : 1) width (format eq 'svg' ? -"));
}

TEST(FigureLook, GreysAreOfAllColours) {
  ASSERT_EQ(grey_colours().size(), figure_colours().size());
  for (std::size_t i = 0; i < grey_colours().size(); ++i) {
    EXPECT_EQ(grey_colours()[i].first, figure_colours()[i].first);
    const std::string& grey = grey_colours()[i].second;
    EXPECT_TRUE(grey.substr(1, 2) == grey.substr(3, 2) && grey.substr(3, 2) == grey.substr(5, 2))
        << grey;
  }
}

}  // namespace
}  // namespace lacuna
