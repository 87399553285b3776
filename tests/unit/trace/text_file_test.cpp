// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/text_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace lacuna {
namespace {

std::string read_back(const std::string& bytes) {
  std::string name = std::filesystem::temp_directory_path() / "lacuna-XXXXXX";
  const int file = mkstemp(name.data());
  close(file);
  std::ofstream(name, std::ios::binary) << bytes;
  std::string text = read_text_file(name);
  std::remove(name.c_str());
  return text;
}

// What some programs put before UTF-8 is none of the content; inside it is.
TEST(TextFile, HasNoByteOrderMark) {
  EXPECT_EQ(read_back("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(read_back("\xEF\xBB\xBF"), "");
  EXPECT_EQ(read_back("{}\xEF\xBB\xBF"), "{}\xEF\xBB\xBF");
  EXPECT_EQ(read_back("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(read_back(""), "");
}

}  // namespace
}  // namespace lacuna
