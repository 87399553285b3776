// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The number of letters to insert, drop, exchange or swap with the next to make one word of the
/// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to three candidates that `word` may be meant for, the nearest first. They are dotted names
/// with a part like it, and names of which at most a third of the letters, and no more than four,
/// are wrong. Capital letters do not matter. Empty rather than unrelated: this is the one rule of
/// all messages.
std::vector<std::string> near_words(std::string_view word,
                                    const std::vector<std::string>& candidates);

/// The first of near_words(), or nothing.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'a', 'b' or 'c'?" of near_words(), or nothing.
std::string hint_of(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lacuna
