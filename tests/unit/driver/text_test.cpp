// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_page.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;

// the examples of FIPS 180-2, appendix B, and the hash of nothing
TEST(Sha256, GivesThePublishedHashes) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ShellLine, QuotesWhatAShellWouldSplitOrRead) {
  EXPECT_EQ(shell_line({"run", "--set", "a.b=1", "two words", "", "it's", "$x"}),
            "run --set a.b=1 'two words' '' 'it'\\''s' '$x'");
}

TEST(ReproducingArguments, LeaveOutHowAndWhereAndAlwaysNameTheEngine) {
  Options options;
  options.arguments = {"run",     "--out",  "x",       "--gemm=8x8x8", "--jobs=3",
                       "--quiet", "--json", "--out=y", "--seed",       "4"};
  EXPECT_EQ(shell_line(reproducing_arguments(options)), "run --gemm=8x8x8 --seed 4 --engine event");
  options.arguments = {"run", "--engine", "clocked", "--gemm", "8x8x8"};
  options.engine = "clocked";
  EXPECT_EQ(shell_line(reproducing_arguments(options)), "run --gemm 8x8x8 --engine clocked");
}

TEST(TextTable, AlignsNumbersRightWordsLeftAndLeavesOutEmptyColumns) {
  TextTable table;
  table.column("name", "", TextTable::Align::left);
  table.column("time", "us");
  table.column("nothing", "x");
  table.row({"a", "1.5", ""});
  table.rule();
  table.row({"longer", "10.25", ""});
  EXPECT_EQ(table.text(),
            "name     time\n"
            "           us\n"
            "-------------\n"
            "a         1.5\n"
            "-------------\n"
            "longer  10.25\n");
  EXPECT_EQ(table.markdown(),
            "| name | time (us) | nothing (x) |\n"
            "| :-- | --: | --: |\n"
            "| a | 1.5 |  |\n"
            "| longer | 10.25 |  |\n");
}

/// A page of the manual with all that a page has.
TextPage page_of_all() {
  TextTable sizes({"name<", "size|mm"});
  sizes.row({"a|b", "1.5"});
  sizes.row({"none", ""});
  TextTable second({"name<"});
  second.row({"c"});
  TextPage page("Sizes", "Of all things.", "things\n");
  page.heading("Long").table(sizes).table(second);
  return page.heading_below("very").text("| of two\nlines\n\nand of one\n").heading("Empty");
}

TEST(TextPage, IsTextAndMarkdownWithAnEmptyLineBetweenAllParts) {
  EXPECT_EQ(page_of_all().text(),
            "things\n\nLong\n\n"
            "name  size\n        mm\n----------\na|b    1.5\nnone\n\n"
            "name\n----\nc\n\nvery\n\n| of two\nlines\n\nand of one\n\nEmpty\n");
  EXPECT_EQ(page_of_all().markdown("sizes"),
            "# Sizes\n\nOf all things.\n\n"
            "Made by `lacuna describe sizes --markdown`; do not edit.\n\n## Long\n\n"
            "| name | size (mm) |\n| :-- | --: |\n| a\\|b | 1.5 |\n| none |  |\n\n"
            "| name |\n| :-- |\n| c |\n\n### very\n\n| of two\nlines\n\nand of one\n\n## Empty\n");
}

// a second table is a section of the same title, and a title without more is none
TEST(TextPage, IsJsonWithItsSections) {
  const nlohmann::ordered_json all = nlohmann::ordered_json::parse(page_of_all().json("sizes"));
  EXPECT_EQ(all.at("subject"), "sizes");
  std::vector<std::string> sections;
  for (const auto& each : all.at("sections")) sections.push_back(each.dump());
  EXPECT_THAT(
      sections,
      ElementsAre("{\"title\":\"\",\"text\":[\"Of all things.\"],\"rows\":[]}",
                  "{\"title\":\"Long\",\"text\":[],\"rows\":"
                  "[{\"name\":\"a|b\",\"size (mm)\":1.5},{\"name\":\"none\",\"size (mm)\":null}]}",
                  "{\"title\":\"Long\",\"text\":[],\"rows\":[{\"name\":\"c\"}]}",
                  "{\"title\":\"Long: very\",\"text\":[\"| of two lines\",\"and of one\"],"
                  "\"rows\":[]}"));
}

TEST(FourDigits, AreFourWhereverThePointIs) {
  EXPECT_EQ(four_digits(0), "0");
  EXPECT_EQ(four_digits(1.23456), "1.235");
  EXPECT_EQ(four_digits(12345.6), "12346");
  EXPECT_EQ(four_digits(0.0123456), "0.01235");
  EXPECT_EQ(four_digits(1.5e-5), "1.500e-05");
  EXPECT_EQ(four_digits(2.5e9), "2.500e+09");
  EXPECT_EQ(four_digits(-3.0), "-3.000");
}

// Without a terminal the first line is due after ten seconds; on one each step is seen at once.
TEST(Progress, OfWorkThatIsSoonDoneIsSeenOnTerminalsAlone) {
  std::ostringstream out;
  Progress(out, false, false, 2).step("a");
  EXPECT_EQ(out.str(), "");
  Progress(out, false, true, 2).step("a");
  EXPECT_THAT(out.str(), ::testing::HasSubstr("1 of 2"));
}

TEST(Progress, IsSilentIfQuietOrIfThereIsOneStep) {
  std::ostringstream out;
  Progress(out, true, true, 5).step("a");
  Progress(out, false, true, 1).step("a");
  EXPECT_EQ(out.str(), "");
}

// Two steps of which one is done and the other by half: 18 of 24 signs of the bar.
TEST(Progress, CountsTheShareOfAStepThatIsUnderWay) {
  std::ostringstream out;
  Progress progress(out, false, true, 2);
  progress.part("long", 0.5);
  progress.step("short");
  EXPECT_THAT(out.str(), ::testing::HasSubstr("[##################......] 1 of 2 done"));
}

TEST(Progress, OnATerminalWritesOverOneLineAndRemovesIt) {
  std::ostringstream out;
  Progress progress(out, false, true, 2);
  progress.step("a");
  progress.clear();
  EXPECT_EQ(out.str().front(), '\r');
  EXPECT_EQ(out.str().back(), '\r');
  EXPECT_EQ(out.str().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace lacuna::test
