// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

// A weight update of GPT-3 175B on 256 chips: once its rows are kept, less than 30 s of processor
// time and 2 GB, which is more than ten times what it takes.
TEST(SystemSize, AStepOfAPod256TakesLessThan30SecondsAnd2GigabytesOnceItsRowsAreKept) {
  const TempFolder own;
  const std::string folder = own.path().string();
  ASSERT_EQ(setenv("LACUNA_CACHE", folder.c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
  const std::string line = "run --quiet --json --system-config gpt3_175b_pod256";
  const Ran first = run_real(line);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  const std::clock_t begin = std::clock();
  const Ran again = run_real(line);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(again.out, first.out);
  EXPECT_LT(seconds, 30);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 2'000'000);  // KiB
}

}  // namespace
}  // namespace lacuna::test
