// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// The core next to one through a port of its router, if it is in the rectangle.
inline std::optional<std::size_t> neighbour_of(const TaskProgram& program, std::size_t core,
                                               unsigned port) {
  const std::size_t column = core % program.columns;
  const std::size_t row = core / program.columns;
  if (port == kEast && column + 1 < program.columns) return core + 1;
  if (port == kWest && column > 0) return core - 1;
  if (port == kSouth && row + 1 < program.rows) return core + program.columns;
  if (port == kNorth && row > 0) return core - program.columns;
  return std::nullopt;
}

}  // namespace lacuna::wse
