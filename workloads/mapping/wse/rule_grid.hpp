// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::wse {

/// How far above their mean the fullest of so many equal shares is, in standard deviations.
inline double fullest(double shares) { return std::sqrt(2 * std::log(std::max(1.0, shares))); }

/// Widths of a group: in steps of 1.3, each the least with as many features in its fullest column.
inline std::vector<std::uint32_t> widths(std::uint32_t features, std::uint32_t most) {
  std::vector<std::uint32_t> all;
  const auto add = [&](std::uint32_t width) {
    const auto each = static_cast<std::uint32_t>(ceil_div(features, width));
    const auto least = static_cast<std::uint32_t>(ceil_div(features, each));
    if (all.empty() || all.back() < least) all.push_back(least);
  };
  double width = 1;
  while (width < most) {
    add(static_cast<std::uint32_t>(width));
    width = std::max(width + 1, width * 1.3);
  }
  if (most != 0) add(most);
  return all;
}

/// Rows of cores for so many elements each.
inline std::vector<std::uint32_t> heights(std::uint32_t elements, std::uint32_t most) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t each : {1U, 2U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U}) {
    const auto rows = static_cast<std::uint32_t>(ceil_div(elements, each));
    if (rows <= most && rows != 0) all.push_back(rows);
  }
  all.push_back(std::max(1U, std::min(most, elements)));
  return all;
}

/// Layouts, the one with the least estimate first.
template <class Layouts>
void sort_by_cycles(Layouts& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
}

}  // namespace lacuna::wse
