// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string read_back(const std::string& bytes, const std::string& extension = "") {
  return read_text_file(test::TempFile(bytes, extension).path());
}

// What some programs put before UTF-8 is none of the content; inside it is.
TEST(TextFile, HasNoByteOrderMark) {
  EXPECT_EQ(read_back("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(read_back("\xEF\xBB\xBF"), "");
  EXPECT_EQ(read_back("{}\xEF\xBB\xBF"), "{}\xEF\xBB\xBF");
  EXPECT_EQ(read_back("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(read_back(""), "");
}

// No byte of such a file is at fault: it is the wrong file. Arrays of an .npz are unpacked.
TEST(TextFile, NamesAPackedFile) {
  const std::map<std::string, std::string> packed = {{"gzip", "\x1f\x8b\x08"},
                                                     {"bzip2", "BZh9"},
                                                     {"xz", std::string("\xfd\x37zXZ\0", 6)},
                                                     {"zstd", "\x28\xb5\x2f\xfd"},
                                                     {"zip", "PK\x03\x04"}};
  for (const auto& each : packed) {
    EXPECT_THAT([&] { read_back(each.second); },
                ThrowsMessage<TraceError>(
                    HasSubstr("a file packed by " + each.first + "'; allowed: the unpacked file")));
  }
  EXPECT_EQ(read_back("PK\x03\x04", ".npz"), "PK\x03\x04");
}

}  // namespace
}  // namespace lacuna
