// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "models/sparsity/largest.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Magnitudes that are given, row-major; `values` outlives it.
class GivenMagnitudes {
 public:
  GivenMagnitudes(const std::vector<double>& values, std::uint32_t cols)
      : values_(&values), cols_(cols) {}

  void rewind() { row_ = 0; }
  void next_row(std::vector<double>& magnitudes) {
    const auto first = values_->begin() + static_cast<std::ptrdiff_t>(row_ * cols_);
    magnitudes.assign(first, first + static_cast<std::ptrdiff_t>(cols_));
    ++row_;
  }

 private:
  const std::vector<double>* values_;
  std::size_t cols_;
  std::size_t row_ = 0;
};

/// How the magnitudes of a block become its score.
enum class BlockNorm { l1, l2, linf };

/// The scores of blocks, from the magnitudes of their elements.
class BlockScores : public RowScores {
 public:
  /// `shape` gives the sizes of matrix and blocks.
  BlockScores(std::variant<MagnitudeField, GivenMagnitudes> field, BlockNorm norm,
              const Mask& shape);

  /// Of a field of that size which is drawn.
  BlockScores(FieldSpec field, std::uint64_t seed, BlockNorm norm, const Mask& shape);

  void rewind() override;
  void next_row(std::vector<double>& scores) override;

 private:
  std::variant<MagnitudeField, GivenMagnitudes> field_;
  BlockNorm norm_;
  std::uint32_t rows_;
  std::uint32_t block_rows_;
  std::uint32_t block_cols_;
  std::uint32_t width_;
  std::uint32_t row_ = 0;
  std::vector<double> magnitudes_;
};

}  // namespace lacuna
