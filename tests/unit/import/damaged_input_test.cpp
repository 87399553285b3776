// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/support/paths.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/text_file.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// Reads `text` as the fuzzing harness of that name does: a right result or one of our errors.
void read_as(const std::string& reader, const std::string& text) {
  try {
    if (reader == "trace") {
      parse_trace(text, "input.csv", false);
    } else if (reader == "smtx") {
      parse_smtx(text, "input.smtx");
    } else if (reader == "mtx") {
      parse_mtx(text, "input.mtx");
    } else {
      Pairs settings = {{"format", reader}};
      if (reader == "chakra" || reader == "chakra-json") {
        settings.insert(settings.end(),
                        {{"ranks", "4"}, {"comm-size", "64"}, {"drop-missing", "1"}});
      }
      if (reader == "npy" || reader == "safetensors") settings.insert(settings.end(), {{"n", "4"}});
      if (reader == "config") settings.insert(settings.end(), {{"layers", "1"}, {"tokens", "1"}});
      if (reader == "requests") settings.insert(settings.end(), {{"model", "bert-tiny"}});
      parse_trace(format_trace(import_text(text, "input." + reader, settings).trace), "again.csv",
                  false);
    }
  } catch (const TraceError& error) {
    EXPECT_STRNE(error.what(), "");
  } catch (const RequestError& error) {
    EXPECT_STRNE(error.what(), "");
  }
}

/// Copies with a byte changed, a piece left out or given twice, or the end missing.
std::vector<std::string> damaged(const std::string& text, Random& random) {
  constexpr int kCopies = 120;
  constexpr std::uint64_t kKinds = 4;
  constexpr std::uint64_t kLongest = 16;
  std::vector<std::string> copies;
  for (int i = 0; i < kCopies && !text.empty(); ++i) {
    std::string copy = text;
    const std::size_t at = random.bounded(text.size());
    const std::size_t length = 1 + random.bounded(kLongest);
    switch (random.bounded(kKinds)) {
      case 0:
        copy[at] = static_cast<char>(random.bounded(256));
        break;
      case 1:
        copy.erase(at, length);
        break;
      case 2:
        copy.insert(at, text.substr(random.bounded(text.size()), length));
        break;
      default:
        copy.resize(at);
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

class DamagedInput : public ::testing::TestWithParam<std::string> {};

// A short walk where the fuzzers of scripts/ci/fuzz.sh go far: from the same seeds.
TEST_P(DamagedInput, IsReadOrRefused) {
  std::vector<fs::path> seeds;
  for (const auto& entry :
       fs::directory_iterator(test::source_path("tests/fuzz/corpus/" + GetParam()))) {
    seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  ASSERT_FALSE(seeds.empty());
  Random random(1);
  constexpr std::size_t kLargest = 20000;
  for (const fs::path& seed : seeds) {
    const std::string text = read_text_file(seed.string());
    read_as(GetParam(), text);
    if (text.size() > kLargest) continue;
    for (const std::string& copy : damaged(text, random)) read_as(GetParam(), copy);
  }
}

std::vector<std::string> readers() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::source_path("tests/fuzz/corpus"))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, DamagedInput, ::testing::ValuesIn(readers()), name_of);

}  // namespace
}  // namespace lacuna
