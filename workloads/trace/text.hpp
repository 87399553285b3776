// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lacuna {

/// The offset of the first byte of `text` that is NUL or breaks UTF-8, if there is one.
std::optional<std::size_t> find_bad_byte(std::string_view text);

/// Bytes of the character that begins at `at`; 0 if it is NUL or none.
std::size_t character_length(std::string_view text, std::size_t at);

/// The integer in [least, most] that the whole of `text` is: digits only, no sign, no blank.
std::optional<std::uint64_t> parse_integer(std::string_view text, std::uint64_t least,
                                           std::uint64_t most);

/// Digits, perhaps with a minus before them.
bool is_integer(std::string_view text);

/// Digits, perhaps with a point among or beside them.
bool is_decimal(std::string_view text);

/// Of a text that parse_integer() did not take: the code of a problem, and what is allowed.
inline const char* integer_error(std::string_view text) {
  return is_integer(text) ? "E203" : "E202";
}
std::string integer_in(std::uint64_t least, std::uint64_t most);

/// The longest side of a matrix, and the most elements, that a file or an option may name.
constexpr std::uint64_t kMostSide = 0x7fffffff;
constexpr std::uint64_t kMostProduct = 0x7fffffffffffffff;

/// The first line with anything on it, without blanks at its ends; a comment, after '#', counts
/// only with `comments`.
std::string_view first_line(std::string_view text, bool comments = true);

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace lacuna
