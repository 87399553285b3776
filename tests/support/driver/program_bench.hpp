// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lacuna::test {

/// What the program printed and returned.
struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

/// Runs the whole program, in a folder of its own, with fake machines `fake` and `slow` (half the
/// clock) unless a table is given.
class ProgramBench {
 public:
  ProgramBench();
  ~ProgramBench();
  ProgramBench(const ProgramBench&) = delete;
  ProgramBench& operator=(const ProgramBench&) = delete;

  Ran operator()(const std::vector<std::string>& arguments) const;

  /// A line as a shell would split it at blanks.
  Ran operator()(const std::string& line) const;

  /// Writes a file into the folder and returns its path.
  std::string file(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const;

  /// Names of all that lies in the folder itself, sorted, but for the machines.
  std::vector<std::string> listing() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace lacuna::test
