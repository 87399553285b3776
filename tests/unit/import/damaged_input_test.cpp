// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "tests/support/any_reader.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

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
  const test::TempFolder folder;
  test::AnyReader reader(GetParam(), folder.path());
  constexpr std::size_t kLargest = 20000;
  bool is_read = false;
  for (const fs::path& seed : seeds) {
    std::ostringstream text;
    text << std::ifstream(seed, std::ios::binary).rdbuf();
    is_read = reader.read(text.str()) || is_read;
    if (text.str().size() > kLargest) continue;
    for (const std::string& copy : damaged(text.str(), random)) reader.read(copy);
  }
  EXPECT_TRUE(is_read) << "no seed is a file of this reader";
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
