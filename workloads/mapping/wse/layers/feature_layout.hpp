// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/column_groups.hpp"

namespace lacuna::wse {

/// How a matrix of features and tokens lies if columns own features and rows of cores own tokens.
/// Of groups of columns each has all of it, or its part of the tokens of a row (`split`): equal
/// ones, of which those after the last token are none; or the tokens that are dealt to it.
struct FeatureLayout {
  std::vector<std::uint32_t> column;  // of each feature; its place in a group
  std::vector<std::uint32_t> tokens;  // of each row of cores, in order
  ColumnGroups groups = {};
  bool split = false;
  std::vector<std::uint32_t> dealt = {};  // to one group each, by token; empty: not dealt

  /// Of groups: whether one has what no other has.
  bool shared() const { return split || !dealt.empty(); }
  /// The columns of a place: of the group with this share of the tokens, or of all groups.
  std::vector<std::uint32_t> columns_of(std::uint32_t place, std::uint32_t share) const;
  /// Of these the nearest to a column.
  std::uint32_t nearest(std::uint32_t place, std::uint32_t share, std::uint32_t target) const;
};

/// Where the gradient of weights takes its operands.
struct GradientLayouts {
  FeatureLayout dy;  // features are outputs of the weights,
  FeatureLayout x;   // and inputs
};

/// Tokens that follow each other, of a row of cores and, if these are shared, of one group.
struct TokenPart {
  std::uint32_t row = 0;
  std::uint32_t share = 0;
  std::uint32_t length = 0;
};

/// All tokens of a layout in order, padding behind the last among them.
std::vector<TokenPart> token_parts(const FeatureLayout& layout);

}  // namespace lacuna::wse
