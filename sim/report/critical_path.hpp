// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/cycle.hpp"

namespace lacuna {

/// Cycles [from, to) of the cores of a rectangle.
struct PathWindow {
  Cycle from = 0;
  Cycle to = 0;
  std::uint32_t column = 0;
  std::uint32_t row = 0;
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;

  bool has(std::int64_t r, std::int64_t c) const {
    return r >= row && r < std::int64_t{row} + rows && c >= column &&
           c < std::int64_t{column} + columns;
  }
};

/// What a moment of the window waited for: what ended last in it did this before. The steps follow
/// each other without gap or overlap from the begin of the window to its end.
struct PathStep {
  enum class Place : std::uint8_t { core, router, edge, outside };

  Place place = Place::core;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::uint32_t what = 0;  // index into CriticalPath::whats
  Cycle from = 0;
  Cycle to = 0;
};

/// The critical path of a window.
struct CriticalPath {
  PathWindow window;
  std::vector<std::string> whats;
  std::vector<PathStep> steps;  // forward in time
};

}  // namespace lacuna
