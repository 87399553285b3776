// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "sim/base/error.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

const Journal::Facts kFacts = {{"request", "this"}};

/// What another process is told that opens the journal; empty if it has it.
std::string told(const std::string& path) {
  int pipes[2] = {};
  if (pipe(pipes) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      const Journal journal(path, kFacts, false);
    } catch (const std::exception& error) {
      text = error.what();
    }
    const ssize_t written = write(pipes[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipes[1]);
  std::string text(4096, '\0');
  const ssize_t length = read(pipes[0], text.data(), text.size());
  close(pipes[0]);
  waitpid(child, nullptr, 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

// Also a new one, which nothing has been added to: the second would begin it anew under the first.
TEST(Journal, IsOfOneProcessAtATime) {
  const ProgramBench bench;
  const std::string path = bench.path("a.journal");
  {
    Journal journal(path, kFacts, false);
    EXPECT_THAT(told(path), HasSubstr("another process is at work on"));
    journal.add(0, "part");
    EXPECT_THAT(told(path), HasSubstr("another process is at work on"));
  }
  EXPECT_THAT(told(path), HasSubstr("unfinished work, 1 parts of it done"));
  {
    Journal journal(path, kFacts, true);
    EXPECT_EQ(journal.finished().at(0), "part");
    EXPECT_THAT(told(path), HasSubstr("another process is at work on"));
    journal.remove();
    EXPECT_EQ(told(path), "");  // what has that name now is another file
  }
}

// Each of two that do much work leaves nothing behind: neither ever finds the other's unfinished.
TEST(Journal, ThatIsRemovedWhileAnotherWaitsForItIsNoUnfinishedWork) {
  const ProgramBench bench;
  const std::string path = bench.path("a.journal");
  const auto work = [&] {
    std::string wrong;
    for (int i = 0; i < 5000; ++i) {
      try {
        Journal journal(path, kFacts, false);
        journal.add(0, "part");
        journal.remove();
      } catch (const RequestError& error) {
        const std::string text = error.what();
        if (text.find("another process is at work on") == std::string::npos) wrong = text;
      }
    }
    return wrong;
  };
  const pid_t child = fork();
  if (child == 0) _exit(work().empty() ? 0 : 1);
  EXPECT_EQ(work(), "");
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lacuna::test
