// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/parsed_number.hpp"

namespace lacuna {
namespace {

// What a UTF-8 character of several bytes may begin with, how long it is, and what its second byte
// may be: this leaves out overlong forms, surrogates and what lies beyond U+10FFFF (Unicode 15,
// table 3-7).
struct Lead {
  unsigned char first;
  unsigned char last;
  std::size_t length;
  unsigned char least_second;
  unsigned char most_second;
};

constexpr std::array<Lead, 8> kLeads = {{{0xc2, 0xdf, 2, 0x80, 0xbf},
                                         {0xe0, 0xe0, 3, 0xa0, 0xbf},
                                         {0xe1, 0xec, 3, 0x80, 0xbf},
                                         {0xed, 0xed, 3, 0x80, 0x9f},
                                         {0xee, 0xef, 3, 0x80, 0xbf},
                                         {0xf0, 0xf0, 4, 0x90, 0xbf},
                                         {0xf1, 0xf3, 4, 0x80, 0xbf},
                                         {0xf4, 0xf4, 4, 0x80, 0x8f}}};

}  // namespace

std::size_t character_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const auto* const lead = std::find_if(kLeads.begin(), kLeads.end(), [first](const Lead& row) {
    return first >= row.first && first <= row.last;
  });
  if (lead == kLeads.end() || at + lead->length > text.size()) return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if (second < lead->least_second || second > lead->most_second) return 0;
  for (std::size_t i = 2; i < lead->length; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if (next < 0x80 || next > 0xbf) return 0;
  }
  return lead->length;
}

std::optional<std::size_t> find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_integer(std::string_view text, std::uint64_t least,
                                           std::uint64_t most) {
  if (text == "-0") text.remove_prefix(1);
  const auto value = parsed_number<std::uint64_t>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

bool is_integer(std::string_view text) {
  if (text.size() > 1 && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_decimal(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

std::string integer_in(std::uint64_t least, std::uint64_t most) {
  return fmt::format("an integer in [{}, {}]", least, most);
}

std::string_view first_line(std::string_view text, bool comments) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = trimmed(line);
    if (!line.empty() && (comments || line.front() != '#')) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace lacuna
