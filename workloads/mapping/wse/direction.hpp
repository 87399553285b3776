// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// Along which axis the cores of a line are neighbours: `columns` in x, `rows` in y.
enum class Direction : std::uint8_t { columns, rows };

/// The port that leads away from the first core of a line, and the one that leads towards it.
constexpr Port ahead_of(Direction direction) {
  return direction == Direction::columns ? kEast : kSouth;
}
constexpr Port behind_of(Direction direction) {
  return direction == Direction::columns ? kWest : kNorth;
}

/// The queues of a core that words of a line go through, the deepest of each kind.
constexpr std::uint8_t kInQueue = 0;
constexpr std::uint8_t kOutQueue = 2;

}  // namespace lacuna::wse
