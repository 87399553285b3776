// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/feature_layout.hpp"

#include <algorithm>

namespace lacuna::wse {

std::vector<std::uint32_t> FeatureLayout::columns_of(std::uint32_t place,
                                                     std::uint32_t share) const {
  if (shared()) return {groups.column_of(share, place)};
  std::vector<std::uint32_t> columns;
  for (std::uint32_t g = 0; g < groups.count; ++g) columns.push_back(groups.column_of(g, place));
  return columns;
}

std::uint32_t FeatureLayout::nearest(std::uint32_t place, std::uint32_t share,
                                     std::uint32_t target) const {
  const std::vector<std::uint32_t> columns = columns_of(place, share);
  const auto away = [&](std::uint32_t c) { return std::max(c, target) - std::min(c, target); };
  return *std::min_element(columns.begin(), columns.end(),
                           [&](auto a, auto b) { return away(a) < away(b); });
}

std::vector<TokenPart> token_parts(const FeatureLayout& layout) {
  std::vector<TokenPart> parts;
  const std::uint32_t shares = layout.split ? layout.groups.count : 1;
  std::size_t token = 0;  // that is dealt next
  for (std::uint32_t r = 0; r < layout.tokens.size(); ++r) {
    if (layout.tokens[r] == 0) continue;
    if (layout.dealt.empty()) {
      for (std::uint32_t share = 0; share < shares; ++share) {
        parts.push_back({r, share, layout.tokens[r] / shares});
      }
      continue;
    }
    for (std::uint32_t i = 0; i < layout.tokens[r]; ++i, ++token) {
      const std::uint32_t group = layout.dealt[token];
      if (i == 0 || parts.back().share != group) parts.push_back({r, group, 0});
      ++parts.back().length;
    }
  }
  return parts;
}

}  // namespace lacuna::wse
