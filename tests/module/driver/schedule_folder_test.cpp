// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

/// The line of a small schedule into `out`.
std::string schedule(const ProgramBench& run, const std::string& out, const std::string& more) {
  return "trace schedule dynamic --model bert-tiny --tokens 16 --out " + run.path(out) + " " + more;
}

TEST(ScheduleFolder, LeavesAFolderOfOtherFilesAsItIs) {
  const ProgramBench run;
  std::filesystem::create_directory(run.path("notes"));
  run.file("notes/a.txt", "mine");
  const Ran ran = run(schedule(run, "notes", "--block 16 --samples 1"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("notes' exists and is not a schedule of Lacuna; it is left as it is"),
            std::string::npos)
      << ran.err;
  EXPECT_FALSE(std::filesystem::exists(run.path("notes/masks")));
}

TEST(ScheduleFolder, SaysAtOnceThatItCannotBeMade) {
  const ProgramBench run;
  run.file("a.txt", "mine");
  const Ran ran = run(schedule(run, "a.txt/new", "--block 16 --samples 1"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("--out: nothing can be written into"), std::string::npos) << ran.err;
}

// Of 80 phases sampled twice the last of each half is written, 39 and 79; sampled once, only 79.
TEST(ScheduleFolder, KeepsNothingOfAnOlderScheduleButWhatIsTheUsers) {
  const ProgramBench run;
  ASSERT_EQ(run(schedule(run, "s", "--block 16 --samples 2")).status, 0);
  EXPECT_TRUE(std::filesystem::exists(run.path("s/u0039.csv")));
  run.file("s/u0039.txt", "mine");
  run.file("s/masks/notes.csv", "mine");
  ASSERT_EQ(run(schedule(run, "s", "--block 16 --samples 1")).status, 0);
  EXPECT_FALSE(std::filesystem::exists(run.path("s/u0039.csv")));
  EXPECT_FALSE(std::filesystem::exists(run.path("s/masks/u0039.l0.q.smtx")));
  EXPECT_TRUE(std::filesystem::exists(run.path("s/u0079.csv")));
  EXPECT_TRUE(std::filesystem::exists(run.path("s/masks/u0079.l0.q.smtx")));
  EXPECT_EQ(run.read("s/u0039.txt"), "mine");
  EXPECT_EQ(run.read("s/masks/notes.csv"), "mine");
}

TEST(ScheduleFolder, GivesEachOfSeveralSizesOfBlockAFolderOfItsOwn) {
  const ProgramBench run;
  ASSERT_EQ(run(schedule(run, "s", "--block 8,16 --samples 1")).status, 0);
  EXPECT_TRUE(std::filesystem::exists(run.path("s/block8/schedule.csv")));
  ASSERT_EQ(run(schedule(run, "s", "--block 16 --samples 1")).status, 0);
  EXPECT_FALSE(std::filesystem::exists(run.path("s/block8")));
  EXPECT_TRUE(std::filesystem::exists(run.path("s/schedule.csv")));
}

}  // namespace
}  // namespace lacuna::test
