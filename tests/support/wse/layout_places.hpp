// SPDX-License-Identifier: Apache-2.0
// Where the elements of a layout are, written from what it is said to be, token by token.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/layers/feature_layout.hpp"

namespace lacuna::wse {

/// Rows and columns of the cores that have an element, by feature and token.
using LayoutPlaces = std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>>;

inline LayoutPlaces places_of(const FeatureLayout& layout, std::uint32_t features,
                              std::uint32_t tokens) {
  LayoutPlaces places(std::size_t{features} * tokens);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_token;  // row, group
  for (std::uint32_t r = 0; r < layout.tokens.size(); ++r) {
    for (std::uint32_t t = 0; t < layout.tokens[r]; ++t) {
      const std::uint32_t share = layout.split ? t / (layout.tokens[r] / layout.groups.count) : 0;
      of_token.emplace_back(r, layout.dealt.empty() ? share : layout.dealt.at(of_token.size()));
    }
  }
  for (std::uint32_t f = 0; f < features; ++f) {
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const auto [row, share] = of_token[t];
      for (std::uint32_t g = 0; g < layout.groups.count; ++g) {
        if ((layout.split || !layout.dealt.empty()) && g != share) continue;
        places[std::size_t{f} * tokens + t].insert(
            {row, layout.groups.count == 1 ? layout.column[f]
                                           : layout.groups.column_of(g, layout.column[f])});
      }
    }
  }
  return places;
}

}  // namespace lacuna::wse
