// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/system/program.hpp"

namespace lacuna::system {

/// The kinds of events of a system. A chip begins and ends a use, 2 u and 2 u + 1; between links a
/// resource carries a chunk; the argument of the latter is its transfer.
inline constexpr std::uint16_t kCarryFirst = 2 * kUses;
inline constexpr std::uint16_t kCarryLast = 2 * kUses + 1;

constexpr std::uint16_t first_of(Use use) {
  return static_cast<std::uint16_t>(2 * static_cast<int>(use));
}
constexpr std::uint16_t last_of(Use use) {
  return static_cast<std::uint16_t>(2 * static_cast<int>(use) + 1);
}

}  // namespace lacuna::system
