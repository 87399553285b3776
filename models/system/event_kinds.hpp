// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/system/program.hpp"

namespace lacuna::system {

/// What the time of a wafer is: its work, waits for weights, waits for room for gradients, waits
/// for sums over all wafers, and nothing left to do.
enum class WaferUse : std::uint8_t { work, weights, gradients, sums, idle };
inline constexpr std::size_t kWaferUses = 5;

/// The kinds of events of a system. A chip begins and ends a use, 2 u and 2 u + 1, of the uses that
/// its time has; between links a resource carries a chunk; the argument of the latter is its
/// transfer.
inline constexpr std::uint16_t kCarryFirst = 2 * kUses;
inline constexpr std::uint16_t kCarryLast = 2 * kUses + 1;

template <typename Uses>
constexpr std::uint16_t first_of(Uses use) {
  return static_cast<std::uint16_t>(2 * static_cast<int>(use));
}
template <typename Uses>
constexpr std::uint16_t last_of(Uses use) {
  return static_cast<std::uint16_t>(2 * static_cast<int>(use) + 1);
}

/// "forward_first", "forward_last", ..., "carry_first", "carry_last".
std::vector<std::string> event_kind_names();

}  // namespace lacuna::system
