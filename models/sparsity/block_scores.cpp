// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/block_scores.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lacuna {

BlockScores::BlockScores(std::variant<MagnitudeField, GivenMagnitudes> field, BlockNorm norm,
                         const Mask& shape)
    : field_(std::move(field)),
      norm_(norm),
      rows_(shape.rows),
      block_rows_(shape.block_rows),
      block_cols_(shape.block_cols),
      width_(shape.grid_cols()) {}

BlockScores::BlockScores(FieldSpec field, std::uint64_t seed, BlockNorm norm, const Mask& shape)
    : BlockScores(
          [&] {
            field.rows = shape.rows;
            field.cols = shape.cols;
            return MagnitudeField(field, seed);
          }(),
          norm, shape) {}

void BlockScores::rewind() {
  std::visit([](auto& field) { field.rewind(); }, field_);
  row_ = 0;
}

void BlockScores::next_row(std::vector<double>& scores) {
  scores.assign(width_, 0);
  const std::uint32_t end = std::min(rows_, row_ + block_rows_);
  for (; row_ < end; ++row_) {
    std::visit([this](auto& field) { field.next_row(magnitudes_); }, field_);
    for (std::size_t c = 0; c < magnitudes_.size(); ++c) {
      double& score = scores[c / block_cols_];
      const double magnitude = magnitudes_[c];
      switch (norm_) {
        case BlockNorm::l1:
          score += magnitude;
          break;
        case BlockNorm::l2:
          score += magnitude * magnitude;
          break;  // the root keeps the order
        case BlockNorm::linf:
          score = std::max(score, magnitude);
          break;
      }
    }
  }
}

}  // namespace lacuna
