// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sim/base/error.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kResult = result_text({"0.0.0", {"run"}, "w", "", {}}, {});

void make_result(const std::string& path, const std::string& text) {
  ResultFolder folder(path);
  folder.begin();
  folder.write("result.json", kResult);
  folder.write("text", text);
  folder.commit();
}

TEST(ResultFolder, AppearsOnlyWhenItIsCommitted) {
  const ProgramBench bench;
  ResultFolder folder(bench.path("out"));
  EXPECT_THAT(bench.listing(), IsEmpty());
  folder.begin();
  folder.write("result.json", kResult);
  EXPECT_FALSE(fs::exists(bench.path("out")));
  folder.commit();
  EXPECT_THAT(bench.listing(), ElementsAre("out"));
}

TEST(ResultFolder, ThatIsNotCommittedLeavesNothing) {
  const ProgramBench bench;
  {
    ResultFolder folder(bench.path("out"));
    folder.begin();
    folder.write("result.json", kResult);
  }
  EXPECT_THAT(bench.listing(), IsEmpty());
}

TEST(ResultFolder, ReplacesAnOlderResultAndLeavesNothingOfIt) {
  const ProgramBench bench;
  {
    ResultFolder old(bench.path("out"));
    old.begin();
    old.write("result.json", kResult);
    old.write("more", "of the old");
    old.commit();
  }
  bench.file("out/notes", "of the user");
  make_result(bench.path("out"), "new");
  EXPECT_EQ(bench.read("out/text"), "new");
  EXPECT_EQ(bench.read("out/notes"), "of the user");
  EXPECT_FALSE(fs::exists(bench.path("out/more")));
  EXPECT_THAT(bench.listing(), ElementsAre("out"));
}

// Reports of other tools and masks of schedules lie in folders within, beside what a user put
// there.
TEST(ResultFolder, ReplacesFoldersWithinAnOlderOne) {
  const ProgramBench bench;
  for (const char* const name : {"old", "new"}) {
    ResultFolder folder(bench.path("out"), ResultFolder::Kind::schedule);
    folder.begin();
    fs::create_directories(folder.temporary() / "masks");
    folder.write(std::string("masks/") + name, name);
    folder.commit();
    bench.file("out/masks/notes", "of the user");
  }
  EXPECT_EQ(bench.read("out/masks/new"), "new");
  EXPECT_EQ(bench.read("out/masks/notes"), "of the user");
  EXPECT_FALSE(fs::exists(bench.path("out/masks/old")));
  EXPECT_THAT(bench.listing(), ElementsAre("out"));
  EXPECT_THROW(make_result(bench.path("out"), "another kind"), RequestError);
}

TEST(ResultFolder, TakesTheNameOfAnEmptyFolderWithOrWithoutASlash) {
  const ProgramBench bench;
  fs::create_directory(bench.path("out"));
  make_result(bench.path("out/"), "x");
  EXPECT_EQ(bench.read("out/text"), "x");
}

TEST(ResultFolder, MakesTheFoldersAboveIt) {
  const ProgramBench bench;
  make_result(bench.path("a/b/out"), "x");
  EXPECT_EQ(bench.read("a/b/out/text"), "x");
}

TEST(ResultFolder, MayBeGivenWithoutAnyFolderAboveIt) {
  const ProgramBench bench;
  const fs::path before = fs::current_path();
  fs::current_path(bench.path("."));
  EXPECT_NO_THROW(make_result("out", "x"));
  fs::current_path(before);
  EXPECT_EQ(bench.read("out/text"), "x");
}

TEST(ResultFolder, IsFinishedBeforeASignalEndsTheProcess) {
  const ProgramBench bench;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // a process in the background ignores it
    {
      ResultFolder folder(bench.path("out"));
      folder.begin();
      raise(SIGINT);  // waits for the end of the folder
      folder.write("result.json", kResult);
      folder.commit();
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(bench.read("out/result.json"), kResult);
  EXPECT_THAT(bench.listing(), ElementsAre("out"));
}

TEST(ResultFolder, LeavesAFolderOfAnybodyElseAlone) {
  const ProgramBench bench;
  fs::create_directory(bench.path("out"));
  bench.file("out/letter", "dear");
  EXPECT_THROW(ResultFolder(bench.path("out")), RequestError);
  bench.file("out/result.json", "{\"format\": \"other\"}");
  EXPECT_THROW(ResultFolder(bench.path("out")), RequestError);
  EXPECT_EQ(bench.read("out/letter"), "dear");
}

TEST(ResultFolder, NeverReplacesAFolderThatCameWhileItWasWritten) {
  const ProgramBench bench;
  ResultFolder folder(bench.path("out"));
  folder.begin();
  folder.write("result.json", kResult);
  fs::create_directory(bench.path("out"));
  bench.file("out/letter", "dear");
  EXPECT_THROW(folder.commit(), SimulationError);
  EXPECT_EQ(bench.read("out/letter"), "dear");
}

/// Many processes commit into one folder; whenever one looks, it is one of theirs, whole.
TEST(ResultFolder, OfManyWritersAtOnceIsAlwaysThatOfOne) {
  const ProgramBench bench;
  constexpr int kWriters = 8;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string text(100, static_cast<char>('a' + writer));
      int status = 0;
      try {
        for (int i = 0; i < 50; ++i) make_result(bench.path("out"), text);
      } catch (const std::exception&) {
        status = 1;
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const std::string text = bench.read("out/text");
  ASSERT_EQ(text.size(), 100U);
  EXPECT_EQ(text, std::string(100, text[0]));
  EXPECT_THAT(bench.listing(), ElementsAre("out"));
}

TEST(ResultFolder, IsThereAndWholeAtEveryMomentOfItsReplacement) {
  const ProgramBench bench;
  make_result(bench.path("out"), "first");
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 300; ++i) make_result(bench.path("out"), "later");
    _exit(0);
  }
  int status = 0;
  std::size_t missing = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    // a look that began in a folder as it was replaced may end in nothing: look again
    const bool there = is_result(bench.path("out")) || is_result(bench.path("out"));
    missing += there ? 0 : 1;
  }
  EXPECT_EQ(missing, 0U);
  EXPECT_EQ(status, 0);
}

TEST(ResultFolder, ThatIsNoneIsRefusedWithItsPath) {
  const ProgramBench bench;
  for (const char* const text : {"", "{", "[]", "{\"format\": \"lacuna-result 1\"}", "\xff"}) {
    fs::create_directories(bench.path("in"));
    bench.file("in/result.json", text);
    try {
      read_result(bench.path("in"));
      ADD_FAILURE() << "took " << text;
    } catch (const RequestError& error) {
      EXPECT_THAT(error.what(), HasSubstr("in/result.json"));
    }
  }
}

}  // namespace
}  // namespace lacuna::test
