// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// One thing that is wrong with a file or an option.
struct Problem {
  std::string where;  // "path:line:column", or the option
  std::string code;   // E001 to E309
  std::string cell;   // name of the column, or empty
  std::string found;
  std::string allowed;
  std::string hint;  // the nearest valid name, or empty
  // Place in the file, for sorting; a problem in a pattern file sorts where the file is named.
  std::size_t line = 0;
  std::size_t column = 0;
  std::string verbatim = {};  // the whole message, if it was made elsewhere
};

/// "WHERE: error CODE: column 'NAME': found 'TEXT'; allowed: WHAT; did you mean 'X'?" in one line.
std::string format_problem(const Problem& problem);

/// "path:line:column".
std::string place(const std::string& path, std::size_t line, std::size_t column);

/// Throws TraceError with this one problem.
[[noreturn]] void throw_problem(const Problem& problem);

/// Collects the problems of one file.
class ProblemList {
 public:
  /// Reported at most; what is beyond is only counted.
  static constexpr std::size_t kMost = 50;

  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  bool empty() const { return problems_.empty(); }

  /// Throws TraceError with all problems in the order of the file; returns if there are none.
  void throw_if_any();

 private:
  std::vector<Problem> problems_;
};

/// `text` as it may be quoted in a message: cut after 80 bytes, control characters escaped.
std::string quotable(std::string_view text);

}  // namespace lacuna
