// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/base/error.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

std::string quotable(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  constexpr unsigned char kContinuationMask = 0xc0;
  constexpr unsigned char kContinuation = 0x80;
  std::size_t end = std::min(text.size(), kLongest);
  // Not through the middle of a UTF-8 character.
  while (end < text.size() && end > 0 &&
         (static_cast<unsigned char>(text[end]) & kContinuationMask) == kContinuation) {
    --end;
  }
  std::string result;
  // A terminal shall not be sent what is no text.
  std::size_t bad = find_bad_byte(text.substr(0, end)).value_or(end);
  for (std::size_t i = 0; i < end; ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool breaks = i == bad;
    if (breaks) {
      const std::optional<std::size_t> next = find_bad_byte(text.substr(i + 1, end - i - 1));
      bad = next ? i + 1 + *next : end;
    }
    if (breaks || byte < kFirstPrintable || byte == kDelete) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  if (end < text.size()) result += "...";
  return result;
}

std::string place(const std::string& path, std::size_t line, std::size_t column) {
  return fmt::format("{}:{}:{}", path, line, column);
}

std::string format_problem(const Problem& problem) {
  std::string text = fmt::format("{}: error {}: ", problem.where, problem.code);
  if (!problem.cell.empty()) text += fmt::format("column '{}': ", quotable(problem.cell));
  text += fmt::format("found '{}'; allowed: {}", quotable(problem.found), problem.allowed);
  if (!problem.hint.empty()) text += fmt::format("; did you mean '{}'?", problem.hint);
  return text;
}

void throw_problem(const Problem& problem) { throw TraceError(format_problem(problem)); }

void throw_problem(const std::string& where, const std::string& code, const std::string& found,
                   const std::string& allowed) {
  throw_problem({where, code, "", found, allowed});
}

std::uint64_t read_integer(const std::string& where, const std::string& cell, std::string_view text,
                           std::uint64_t least, std::uint64_t most) {
  if (const auto value = parse_integer(text, least, most)) return *value;
  throw_problem({where, integer_error(text), cell, std::string(text), integer_in(least, most)});
}

void ProblemList::add(std::size_t line, std::size_t column, const std::string& code,
                      const std::string& found, const std::string& allowed, const std::string& cell,
                      const std::string& hint) {
  const Problem problem{place(path_, line, column), code, cell, found, allowed, hint};
  add_message(line, column, format_problem(problem));
}

void ProblemList::throw_if_any() {
  if (problems_.empty()) return;
  std::stable_sort(problems_.begin(), problems_.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(problems_.size(), kMost); ++i) {
    text += (i == 0 ? "" : "\n") + problems_[i].text;
  }
  if (problems_.size() > kMost) {
    text += fmt::format("\nand {} more problems", problems_.size() - kMost);
  }
  throw TraceError(text);
}

}  // namespace lacuna
