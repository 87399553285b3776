// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/program_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "sim/driver/files/locations.hpp"

namespace lacuna {
namespace {

// binutils' reader of the same note is the reference
TEST(ProgramId, IsTheBuildIdOfTheFileThatTheCodeIsIn) {
  const std::string id = program_id();
  EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{40}"));
  const std::string command = "readelf -n '" + own_file().string() + "' 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    text += static_cast<char>(letter);
  }
  if (pclose(pipe) != 0) GTEST_SKIP() << "there is no readelf";
  EXPECT_THAT(text, testing::HasSubstr("Build ID: " + id));
}

}  // namespace
}  // namespace lacuna
