// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> library() {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_path("traces/library"))) {
    if (entry.path().extension() == ".csv") files.insert(entry.path());
  }
  return files;
}

// The second line of a trace of the library is the command that made it.
std::string command_of(const std::string& text) {
  const std::string before = "\n# lacuna ";
  const std::size_t start = text.find(before) + before.size();
  return text.substr(start, text.find('\n', start) - start);
}

TEST(TraceLibrary, IsWhatItsCommandsMake) {
  ASSERT_GE(library().size(), 19U);
  for (const fs::path& path : library()) {
    const std::string text = file_text(path.string());
    const Ran made = run_real(command_of(text));
    EXPECT_EQ(made.status, 0) << path << made.err;
    EXPECT_EQ(made.out, text) << path;
  }
}

TEST(TraceLibrary, IsListedWithEachFile) {
  const std::string readme = file_text(source_path("traces/README.md"));
  for (const fs::path& path : library()) {
    EXPECT_THAT(readme, testing::HasSubstr(path.filename().string()));
  }
}

// 24 layers of 16 matrices, biases and norms; all updates together are the model's parameters but
// for the pooler: 335,141,888 - (1024^2 + 1024), and the head adds its own dense layer and norm.
TEST(TraceLibrary, BertLargePhasesDifferInTheirTokensAlone) {
  const std::string one = file_text(source_path("traces/library/bert_large_phase1.csv"));
  const std::string two = file_text(source_path("traces/library/bert_large_phase2.csv"));
  const CsvTable first = CsvTable(one).where({{"id", "fwd.l23.q"}});
  const CsvTable second = CsvTable(two).where({{"id", "fwd.l23.q"}});
  for (const CsvTable* const query : {&first, &second}) {
    EXPECT_EQ(query->cell("model"), "bert-large");
    EXPECT_EQ(query->cell("m"), "1024");
    EXPECT_EQ(query->cell("k"), "1024");
  }
  EXPECT_EQ(first.cell("n"), "128");
  EXPECT_EQ(second.cell("n"), "384");
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), std::count(two.begin(), two.end(), '\n'));
}

TEST(TracePicture, ShowsWhereAMaskIsFull) {
  const Ran shown =
      run_real("trace show " + source_path("traces/transformer_l0_mag90.csv") + " --picture l0.q");
  EXPECT_EQ(shown.status, 2);
  EXPECT_THAT(shown.err, testing::HasSubstr("--picture: found 'l0.q'"));
}

}  // namespace
}  // namespace lacuna::test
