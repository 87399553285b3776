// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/texts.hpp"

namespace lacuna {

/// Ends the id of a forward row that is done again before its backward pass, as its results were
/// not kept.
inline constexpr const char* kAgain = "_again";

inline bool is_done_again(const std::string& id) { return ends_with(id, kAgain); }

}  // namespace lacuna
