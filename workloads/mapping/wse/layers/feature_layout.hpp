// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/column_groups.hpp"

namespace lacuna::wse {

/// How a matrix of features and tokens lies if columns own features and rows of cores own tokens.
/// Of groups of columns each has all of it, or its part of the tokens of a row (`split`): equal
/// ones, of which those after the last token are none.
struct FeatureLayout {
  std::vector<std::uint32_t> column;  // of each feature; its place in a group
  std::vector<std::uint32_t> tokens;  // of each row of cores, in order
  ColumnGroups groups = {};
  bool split = false;

  std::uint32_t shares() const { return split ? groups.count : 1; }  // of a row's tokens
};

}  // namespace lacuna::wse
