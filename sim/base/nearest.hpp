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

}  // namespace lacuna
