// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/part_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

/// A folder of its own, removed at the end; the environment is as before.
class PartCacheTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* const name : {"LACUNA_CACHE", "XDG_CACHE_HOME"}) unsetenv(name);
    setenv("LACUNA_CACHE", "", 1);
  }

  static void set(const char* name, const std::string& value) {
    ASSERT_EQ(setenv(name, value.c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
  }

  /// The one record in it.
  fs::path record() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) return entry.path();
    }
    return {};
  }

  const test::TempFolder own_;
  const fs::path folder_ = own_.path();
};

TEST_F(PartCacheTest, FindsWhatItKeptUnderTheSameKeyAndKindAlone) {
  const std::string text = std::string("4711\n\0x", 7);  // any bytes
  PartCache cache(folder_);
  EXPECT_EQ(cache.find("row", "a=1"), std::nullopt);
  cache.keep("row", "a=1", text);
  EXPECT_THAT(cache.find("row", "a=1"), Optional(text));
  EXPECT_EQ(cache.find("row", "a=2"), std::nullopt);
  EXPECT_EQ(cache.find("layout", "a=1"), std::nullopt);
  EXPECT_THAT(PartCache(folder_).find("row", "a=1"), Optional(text)) << "another process";
  cache.keep("row", "a=1", "new");
  EXPECT_THAT(cache.find("row", "a=1"), Optional(Eq("new")));
  EXPECT_EQ(cache.found(), 2U);
  EXPECT_EQ(cache.kept(), 2U);
}

// Each byte of the record in turn, key, text and hash alike; and each length it may be cut to.
TEST_F(PartCacheTest, ARecordThatWasChangedOrCutOffIsNotUsed) {
  PartCache cache(folder_);
  cache.keep("row", "a=1", "42");
  const fs::path file = record();
  std::stringstream whole;
  whole << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string text = whole.str();
  ASSERT_GT(text.size(), 64U);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] ^= 1;
    std::ofstream(file, std::ios::binary) << other;
    EXPECT_EQ(cache.find("row", "a=1"), std::nullopt) << i;
    std::ofstream(file, std::ios::binary) << text.substr(0, i);
    EXPECT_EQ(cache.find("row", "a=1"), std::nullopt) << i;
  }
  std::ofstream(file, std::ios::binary) << text;
  EXPECT_THAT(cache.find("row", "a=1"), Optional(Eq("42")));
}

// What another program kept lies under another hash: here the record is moved to where a
// different key would lie, which is as if a hash of it were the same.
TEST_F(PartCacheTest, ARecordUnderAnotherKeysNameIsNotUsed) {
  PartCache cache(folder_);
  cache.keep("row", "a=1", "42");
  const fs::path first = record();
  fs::remove(folder_ / "kept");
  fs::rename(first, folder_ / "kept");
  cache.keep("row", "a=2", "43");
  fs::path second;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file() && entry.path().filename() != "kept") second = entry.path();
  }
  fs::rename(folder_ / "kept", second);
  EXPECT_EQ(cache.find("row", "a=2"), std::nullopt);
}

TEST_F(PartCacheTest, LiesWhereTheEnvironmentSays) {
  set("LACUNA_CACHE", folder_ / "own");
  set("XDG_CACHE_HOME", folder_ / "xdg");
  EXPECT_EQ(open_part_cache(false).folder(), folder_ / "own");
  EXPECT_FALSE(open_part_cache(true).is_open());
  set("LACUNA_CACHE", "");
  EXPECT_FALSE(open_part_cache(false).is_open());
  ASSERT_EQ(unsetenv("LACUNA_CACHE"), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(open_part_cache(false).folder(), folder_ / "xdg" / "lacuna");
}

TEST_F(PartCacheTest, AFolderThatIsNoneIsRefusedIfItWasAskedFor) {
  std::ofstream(folder_ / "file") << "x";
  set("LACUNA_CACHE", folder_ / "file");
  try {
    open_part_cache(false);
    FAIL() << "was opened";
  } catch (const RequestError& error) {
    EXPECT_THAT(error.what(), HasSubstr("LACUNA_CACHE: '"));
  }
  ASSERT_EQ(unsetenv("LACUNA_CACHE"), 0);  // NOLINT(concurrency-mt-unsafe)
  set("XDG_CACHE_HOME", folder_ / "file");
  EXPECT_FALSE(open_part_cache(false).is_open());
}

}  // namespace
}  // namespace lacuna
