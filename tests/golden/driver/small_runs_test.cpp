// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

/// A small whole run; its files lie in a folder of that name beside this test.
struct Golden {
  const char* name;
  const char* machine;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Whole numbers and words are to be equal; other numbers may differ in what compilers round.
bool same_cell(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a.find_first_of(".e") == std::string::npos) return false;
  char* end_a = nullptr;
  char* end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a);
  const double y = std::strtod(b.c_str(), &end_b);
  if (*end_a != 0 || *end_b != 0) return false;
  return std::fabs(x - y) <= 1e-12 * std::fmax(std::fabs(x), std::fabs(y));
}

/// Says where two tables part; the first ten cells.
std::string difference(const std::string& expected, const std::string& found) {
  const std::vector<std::string> old_rows = split(expected, '\n');
  const std::vector<std::string> new_rows = split(found, '\n');
  std::ostringstream text;
  if (old_rows.size() != new_rows.size()) {
    text << old_rows.size() << " rows expected, " << new_rows.size() << " found\n";
  }
  int shown = 0;
  for (std::size_t r = 0; r < std::min(old_rows.size(), new_rows.size()); ++r) {
    const std::vector<std::string> titles = split(old_rows[0], ',');
    const std::vector<std::string> a = split(old_rows[r], ',');
    const std::vector<std::string> b = split(new_rows[r], ',');
    for (std::size_t c = 0; c < std::max(a.size(), b.size()); ++c) {
      const std::string x = c < a.size() ? a[c] : "";
      const std::string y = c < b.size() ? b[c] : "";
      if (same_cell(x, y) || ++shown > 10) continue;
      text << "row " << r + 1 << ", " << (c < titles.size() ? titles[c] : "?") << ": '" << x
           << "' expected, '" << y << "' found\n";
    }
  }
  if (shown > 10) text << shown - 10 << " more\n";
  return text.str();
}

class SmallRun : public ::testing::TestWithParam<Golden> {};

TEST_P(SmallRun, GivesTheSameFilesAsBefore) {
  const ProgramBench bench;
  // run_real() sets the shipped presets in place of the bench's
  const Ran ran =
      run_real(std::string("compare --quiet --pattern own ") + GetParam().machine + " --trace " +
               source_path("traces/small_gemms.csv") + " --out " + bench.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const char* const file : {"summary.csv", "cycle_stack.csv", "statistics.csv"}) {
    const std::string path =
        source_path(std::string("tests/golden/driver/") + GetParam().name + "/" + file);
    const std::string found = bench.read(std::string("out/") + file);
    if (renew(path, found)) continue;
    EXPECT_EQ(difference(file_text(path), found), "")
        << path << ": if the change is meant, scripts/renew_golden.sh renews it and CHANGELOG.md "
        << "says why cycles moved";
  }
}

std::string name_of(const ::testing::TestParamInfo<Golden>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Of, SmallRun,
    ::testing::Values(Golden{"bow_16_tiles", "--machine bow --set ipu.tiles=16"},
                      Golden{
                          "wse2_8x8",
                          "--layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8 "
                          "--residency streamed"}),
    name_of);

}  // namespace
}  // namespace lacuna::test
