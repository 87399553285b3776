// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_zeros.hpp"

#include <algorithm>

namespace lacuna::wse {

const char* word(Projection projection) {
  switch (projection) {
    case Projection::qkv:
      return "qkv";
    case Projection::o:
      return "o";
    case Projection::up:
      return "up";
    case Projection::down:
      return "down";
  }
  return "?";
}

Projection projection_of(Matrix matrix) {
  switch (matrix) {
    case Matrix::o:
      return Projection::o;
    case Matrix::up:
      return Projection::up;
    case Matrix::down:
      return Projection::down;
    default:
      return Projection::qkv;
  }
}

NonZeros::NonZeros(const Mask& mask)
    : rows_(mask.rows), cols_(mask.cols), bits_(std::size_t{mask.rows} * mask.cols) {
  for (std::uint32_t block_row = 0; block_row < mask.grid_rows(); ++block_row) {
    for (std::uint64_t i = mask.offsets[block_row]; i < mask.offsets[block_row + 1]; ++i) {
      const std::uint32_t first_row = block_row * mask.block_rows;
      const std::uint32_t first_col = mask.columns[i] * mask.block_cols;
      for (std::uint32_t row = first_row; row < std::min(rows_, first_row + mask.block_rows);
           ++row) {
        for (std::uint32_t col = first_col; col < std::min(cols_, first_col + mask.block_cols);
             ++col) {
          bits_[std::size_t{row} * cols_ + col] = true;
        }
      }
    }
  }
}

bool DecodeZeros::any_weights() const {
  return std::any_of(weights.begin(), weights.end(), [](const NonZeros& of) { return of.given(); });
}

}  // namespace lacuna::wse
