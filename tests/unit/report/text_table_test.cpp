// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/text_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A width for one test.
class Fit {
 public:
  explicit Fit(std::size_t letters) { TextTable::fit(letters); }
  ~Fit() { TextTable::fit(0); }
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;
};

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TextTable made_up() {
  TextTable table;
  table.column("name", "", TextTable::Align::left);
  table.column("cycles", "");
  table.column("extra", "mm2", TextTable::Align::right, TextTable::Need::wide);
  table.column("energy", "uJ");
  table.row({"first", "123456", "1.234567", "99.5"});
  return table;
}

// name 5, cycles 6, extra 8, energy 6 and three gaps of 2 are 31 letters
TEST(TextTable, LeavesOutWhatIsForWideOnesAndSaysSo) {
  EXPECT_EQ(widest_line(made_up().text()), 31U);
  {
    const Fit fit(31);
    EXPECT_THAT(made_up().text(), HasSubstr("1.234567"));
  }
  const Fit fit(30);
  EXPECT_THAT(made_up().text(), Not(HasSubstr("1.234567")));
  EXPECT_THAT(made_up().text(), HasSubstr("(--wide has extra too)\n"));
  EXPECT_THAT(made_up().text(), HasSubstr("99.5"));
}

// run 3, useful 6, extra 8, cycles 6 and three gaps of 2 are 29 letters; without what is for wide
// tables 19, without what is spare 11.
TEST(TextTable, LeavesOutWhatIsSpareLast) {
  TextTable table;
  table.column("run", "");
  table.column("useful", "", TextTable::Align::right, TextTable::Need::spare);
  table.column("extra", "mm2", TextTable::Align::right, TextTable::Need::wide);
  table.column("cycles", "");
  table.row({"7", "65.52", "1.234567", "10"});
  const Fit fit(28);
  EXPECT_THAT(table.text(), HasSubstr("65.52"));
  EXPECT_THAT(table.text(), HasSubstr("(--wide has extra too)\n"));
  TextTable::fit(18);
  EXPECT_THAT(table.text(), Not(HasSubstr("65.52")));
  EXPECT_THAT(table.text(), HasSubstr("(--wide has 2 columns more)\n"));
  EXPECT_THAT(table.text(false), Not(HasSubstr("--wide")));
}

TEST(TextTable, BreaksTheLastColumnBetweenWords) {
  const Fit fit(40);
  TextTable table;
  table.column("path", "", TextTable::Align::left);
  table.column("meaning", "", TextTable::Align::left);
  table.row({"core.dispatch", "what a core does in the cycle after a word has come"});
  EXPECT_EQ(table.text(),
            "path           meaning\n"
            "----------------------------------------\n"
            "core.dispatch  what a core does in the\n"
            "               cycle after a word has\n"
            "               come\n");
}

TEST(TextTable, GoesOnBelowItselfWithItsFirstColumn) {
  const Fit fit(30);
  TextTable table;
  table.column("run", "");
  for (const char* const title : {"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"})
    table.column(title, "");
  table.row({"7", "1", "2", "3"});
  EXPECT_LE(widest_line(table.text()), 30U);
  EXPECT_THAT(table.text(), HasSubstr("\n\nrun  cccccccccc\n"));
  EXPECT_THAT(table.text(), HasSubstr("  7           3\n"));
}

// "planned" and 24 letters of values are 33 with the gap: the values take what 40 leave, 31, and
// the word of 36 letters two lines.
TEST(TextTable, BreaksAColumnThatIsTooWideByItself) {
  const Fit fit(40);
  TextTable table;
  table.column("planned", "", TextTable::Align::left);
  table.column("values", "", TextTable::Align::left);
  table.column("where", "", TextTable::Align::left);
  table.row({"0", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", "here"});
  table.row({"0", "abcdefghijklmnopqrstuvwxyz0123456789", "there"});
  const std::string text = table.text();
  EXPECT_LE(widest_line(text), 40U);
  EXPECT_THAT(text, HasSubstr("0        1 2 3 4 5 6 7 8 9 10 11 12 13\n"));
  EXPECT_THAT(text, HasSubstr("         14 15 16 17 18 19 20\n"));
  EXPECT_THAT(text, HasSubstr("0        abcdefghijklmnopqrstuvwxyz01234\n"));
  EXPECT_THAT(text, HasSubstr("\n         56789\n"));
  EXPECT_THAT(text, HasSubstr("there"));
}

}  // namespace
}  // namespace lacuna
