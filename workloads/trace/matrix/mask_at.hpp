// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Sorts places by row and column; gives the first that stands behind another of its own, or the
/// end.
template <class Places>
auto sort_places(Places& places) {
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  });
  const auto before = std::adjacent_find(
      places.begin(), places.end(),
      [](const auto& a, const auto& b) { return a.row == b.row && a.col == b.col; });
  return before == places.end() ? before : before + 1;
}

/// The mask that keeps these places, each with a row and a col, in the order of rows.
template <class Places>
Mask mask_at(std::uint32_t rows, std::uint32_t cols, const Places& places) {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.offsets.assign(rows + std::size_t{1}, 0);
  mask.columns.reserve(places.size());
  for (const auto& place : places) {
    ++mask.offsets[place.row + std::size_t{1}];
    mask.columns.push_back(place.col);
  }
  for (std::size_t row = 0; row < rows; ++row) mask.offsets[row + 1] += mask.offsets[row];
  return mask;
}

}  // namespace lacuna
