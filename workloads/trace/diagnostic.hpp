// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

/// One thing that is wrong with a file or an option.
struct Diagnostic {
  std::string where;  // "path:line:column", or the option
  std::string code;   // E001 to E309
  std::string cell;   // name of the column, or empty
  std::string found;
  std::string allowed;
  std::string hint = {};  // the nearest valid name, or empty
};

/// "WHERE: error CODE: column 'NAME': found 'TEXT'; allowed: WHAT; did you mean 'X'?" in one line.
std::string format_diagnostic(const Diagnostic& diagnostic);

/// "path:line:column".
std::string place(const std::string& path, std::size_t line = 1, std::size_t column = 1);

/// That of byte `at` of its text.
std::string place_of_byte(const std::string& path, std::string_view text, std::size_t at);

/// Throws TraceError with this one problem.
[[noreturn]] void throw_diagnostic(const Diagnostic& diagnostic);
[[noreturn]] void throw_diagnostic(const std::string& where, const std::string& code,
                                   const std::string& found, const std::string& allowed);

/// "a, b, c".
template <class Words>
std::string listed(const Words& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Throws RequestError with this text.
template <class... Parts>
[[noreturn]] void refuse_request(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw RequestError(fmt::format(text, std::forward<Parts>(parts)...));
}

/// The integer in [least, most] that stands at `where` in the column or option `cell`. TraceError
/// if it is none.
std::uint64_t read_integer(const std::string& where, const std::string& cell, std::string_view text,
                           std::uint64_t least = 1, std::uint64_t most = kMostSide);

/// The row of a table that has this name; else RequestError, whose text says the name, all names
/// and those that may be meant.
template <class Rows>
const typename Rows::value_type& named_in(const Rows& rows, const std::string& name,
                                          const char* text) {
  if (const auto* found = find_named(rows, name)) return *found;
  const std::vector<std::string> names = names_in(rows);
  refuse_request("{}", fmt::format(fmt::runtime(text), name, listed(names), hint_of(name, names)));
}

/// Collects the problems of one file.
class Diagnostics {
 public:
  /// Reported at most; what is beyond is only counted.
  static constexpr std::size_t kMost = 50;

  explicit Diagnostics(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  /// A problem at a place of the file.
  void add(std::size_t line, std::size_t column, const std::string& code, const std::string& found,
           const std::string& allowed, const std::string& cell = "", const std::string& hint = "");

  /// One whose whole message was made elsewhere, as of a file that is named at this place.
  void add_message(std::size_t line, std::size_t column, std::string text) {
    diagnostics_.push_back({line, column, std::move(text)});
  }

  bool empty() const { return diagnostics_.empty(); }

  /// Throws TraceError with all problems in the order of the file; returns if there are none.
  void throw_if_any();

 private:
  struct Placed {
    std::size_t line;
    std::size_t column;
    std::string text;
  };

  std::string path_;
  std::vector<Placed> diagnostics_;
};

/// `text` as it may be quoted in a message: cut after 80 bytes, control characters escaped.
std::string quotable(std::string_view text);

}  // namespace lacuna
