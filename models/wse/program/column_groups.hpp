// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::wse {

/// Columns of cores in groups of equal width. A column is a place in its group; groups lie side by
/// side, or interleaved: columns of equal place are neighbours then.
struct ColumnGroups {
  std::uint32_t count = 1;
  std::uint32_t width = 0;  // columns of each
  bool interleaved = false;

  std::uint32_t columns() const { return count * width; }
  std::uint32_t group_of(std::uint32_t column) const {
    return interleaved ? column % count : column / width;
  }
  std::uint32_t place_of(std::uint32_t column) const {
    return interleaved ? column / count : column % width;
  }
  std::uint32_t column_of(std::uint32_t group, std::uint32_t place) const {
    return interleaved ? place * count + group : group * width + place;
  }
};

}  // namespace lacuna::wse
