// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/wse/params.hpp"

namespace lacuna::wse {

/// How `batch` matrices lie on the rectangle. Each takes a slot: a rectangle of columns and rows of
/// its own, as near to a square as a grid of equal slots can be; with more matrices than cores a
/// slot holds several. In a slot one dimension ("features") is dealt to columns in equal blocks,
/// the other ("tokens") to rows as evenly as possible, the first rows taking one more. This is the
/// layout in which weight streaming takes and leaves activations. A core holds one feature's tokens
/// side by side, those of all matrices of its slot.
class LayerLayout {
 public:
  /// `unit`: a column takes a multiple of so many features.
  LayerLayout(const WaferParams& wafer, std::uint32_t features, std::uint32_t tokens,
              std::uint32_t batch, std::uint32_t unit = 1);

  std::uint32_t slots() const { return std::min(grid_columns_ * grid_rows_, batch_); }
  std::uint32_t instances(std::uint32_t slot) const {
    const std::uint32_t all = slots();
    return batch_ / all + (slot < batch_ % all ? 1 : 0);
  }
  std::uint32_t slot_row(std::uint32_t slot) const { return slot / grid_columns_ * rows_; }
  std::uint32_t slot_column(std::uint32_t slot) const { return slot % grid_columns_ * columns_; }

  /// Columns and rows of a slot that hold something.
  std::uint32_t columns() const { return used_columns_; }
  std::uint32_t rows() const { return std::min(rows_, tokens_); }
  std::uint32_t slot_columns() const { return columns_; }
  std::uint32_t slot_rows() const { return rows_; }

  std::uint32_t features(std::uint32_t column) const {
    return std::min(share_, features_ - column * share_);
  }
  std::uint32_t tokens(std::uint32_t row) const {
    return tokens_ / rows() + (row < tokens_ % rows() ? 1 : 0);
  }
  /// The first of a column, or row.
  std::uint32_t first_feature(std::uint32_t column) const { return column * share_; }
  std::uint32_t first_token(std::uint32_t row) const {
    return row * (tokens_ / rows()) + std::min(row, tokens_ % rows());
  }

  std::uint32_t most_features() const { return features(0); }
  std::uint64_t most_tokens() const { return std::uint64_t{tokens(0)} * instances(0); }

 private:
  std::uint32_t features_;
  std::uint32_t tokens_;
  std::uint32_t batch_;
  std::uint32_t grid_columns_ = 1;
  std::uint32_t grid_rows_ = 1;
  std::uint32_t columns_ = 1;  // of a slot
  std::uint32_t rows_ = 1;
  std::uint32_t share_ = 1;  // features of a column
  std::uint32_t used_columns_ = 1;
};

}  // namespace lacuna::wse
