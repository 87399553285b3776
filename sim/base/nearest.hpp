// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The number of letters to insert, drop or exchange to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, whether letters are capital or not, the first on ties; empty if
/// there is no candidate, or if none is within `most` edits.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates,
                    std::size_t most = static_cast<std::size_t>(-1));

/// Up to three candidates that `word` may be meant for, the nearest first: dotted names that hold
/// it or something like it as a part, and names within a third of its letters. Empty rather than
/// unrelated.
std::vector<std::string> near_words(std::string_view word,
                                    const std::vector<std::string>& candidates);

/// "; did you mean 'a', 'b' or 'c'?" of near_words(), or nothing.
std::string hint_of(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lacuna
