// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/diagnostic.hpp"

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
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const std::size_t end = at + std::max<std::size_t>(length, 1);
    if (end > kLongest) return result + "...";
    // a terminal shall not be sent what is no text
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool shown = length != 0 && byte >= kFirstPrintable && byte != kDelete;
    result += shown ? std::string(text.substr(at, length)) : fmt::format("\\x{:02x}", byte);
    at = end;
  }
  return result;
}

std::string place(const std::string& path, std::size_t line, std::size_t column) {
  return fmt::format("{}:{}:{}", path, line, column);
}

std::string place_of_byte(const std::string& path, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  return place(path, lines + 1, at - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
}

std::string format_diagnostic(const Diagnostic& diagnostic) {
  std::string text = fmt::format("{}: error {}: ", diagnostic.where, diagnostic.code);
  if (!diagnostic.cell.empty()) text += fmt::format("column '{}': ", quotable(diagnostic.cell));
  text += fmt::format("found '{}'; allowed: {}", quotable(diagnostic.found), diagnostic.allowed);
  if (!diagnostic.hint.empty()) text += fmt::format("; did you mean '{}'?", diagnostic.hint);
  return text;
}

void throw_diagnostic(const Diagnostic& diagnostic) {
  throw TraceError(format_diagnostic(diagnostic));
}

void throw_diagnostic(const std::string& where, const std::string& code, const std::string& found,
                      const std::string& allowed) {
  throw_diagnostic({where, code, "", found, allowed});
}

std::uint64_t read_integer(const std::string& where, const std::string& cell, std::string_view text,
                           std::uint64_t least, std::uint64_t most) {
  if (const auto value = parse_integer(text, least, most)) return *value;
  throw_diagnostic({where, integer_error(text), cell, std::string(text), integer_in(least, most)});
}

void Diagnostics::add(std::size_t line, std::size_t column, const std::string& code,
                      const std::string& found, const std::string& allowed, const std::string& cell,
                      const std::string& hint) {
  const Diagnostic diagnostic{place(path_, line, column), code, cell, found, allowed, hint};
  add_message(line, column, format_diagnostic(diagnostic));
}

void Diagnostics::throw_if_any() {
  if (diagnostics_.empty()) return;
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(diagnostics_.size(), kMost); ++i) {
    text += (i == 0 ? "" : "\n") + diagnostics_[i].text;
  }
  if (diagnostics_.size() > kMost) {
    text += fmt::format("\nand {} more problems", diagnostics_.size() - kMost);
  }
  throw TraceError(text);
}

}  // namespace lacuna
