// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lacuna {

/// The offset of the first byte of `text` that is NUL or breaks UTF-8, if there is one.
std::optional<std::size_t> find_bad_byte(std::string_view text);

/// An integer in [least, most] from the whole of `text`: digits only, no sign, no blank.
enum class IntegerError { none, not_an_integer, out_of_range };
IntegerError parse_integer(std::string_view text, std::uint64_t least, std::uint64_t most,
                           std::uint64_t& result);

/// The longest side of a matrix, and the most elements, that a file or an option may name.
constexpr std::uint64_t kMostSide = 0x7fffffff;
constexpr std::uint64_t kMostProduct = 0x7fffffffffffffff;

/// The first line with anything on it, without blanks at its ends; a comment, after '#', counts
/// only with `comments`.
std::string_view first_line(std::string_view text, bool comments = true);

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace lacuna
