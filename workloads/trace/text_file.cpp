// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& found,
                                   const std::string& allowed) {
  throw_problem({place(path, 1, 1), "E001", "", found, allowed, ""});
}

bool is_continuation(unsigned char byte) { return byte >= 0x80 && byte <= 0xbf; }

// Bytes of the UTF-8 character that begins at `at`, or 0 if there is none: overlong forms,
// surrogates and what lies beyond U+10FFFF are none (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const unsigned char first = byte(at);
  const unsigned char second = byte(at + 1);
  if (first < 0x80) return first == 0 ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf) return is_continuation(second) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned char least = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned char most = first == 0xed ? 0x9f : 0xbf;
    return second >= least && second <= most && is_continuation(byte(at + 2)) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned char least = first == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = first == 0xf4 ? 0x8f : 0xbf;
    const bool rest = is_continuation(byte(at + 2)) && is_continuation(byte(at + 3));
    return second >= least && second <= most && rest ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw_unreadable(path, "no file", "a file that exists");
  }
  if (std::filesystem::is_directory(path, error)) {
    throw_unreadable(path, "a folder", "a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_unreadable(path, "a file that cannot be opened", "a readable file");
  std::string text;
  std::array<char, kPiece> piece{};
  // Piece by piece, since the size of what is not a regular file is not known beforehand.
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostInput) {
      throw_unreadable(path, fmt::format("more than {} bytes", kMostInput), "at most 1 GiB");
    }
  }
  if (file.bad()) throw_unreadable(path, "a file that cannot be read", "a readable file");
  return text;
}

std::optional<std::size_t> find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

IntegerError parse_integer(std::string_view text, std::uint64_t least, std::uint64_t most,
                           std::uint64_t& result) {
  const bool negative = text.size() > 1 && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return IntegerError::not_an_integer;
  }
  std::uint64_t value = 0;
  const std::from_chars_result read =
      std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_small = (negative && value != 0) || value < least;
  if (read.ec != std::errc() || too_small || value > most) return IntegerError::out_of_range;
  result = value;
  return IntegerError::none;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace lacuna
