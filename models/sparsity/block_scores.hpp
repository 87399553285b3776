// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/sparsity/largest.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// How the magnitudes of a block become its score.
enum class BlockNorm { l1, l2, linf };

/// The scores of blocks, from the magnitudes of their elements.
class BlockScores : public RowScores {
 public:
  /// `shape` gives the sizes of matrix and blocks.
  BlockScores(MagnitudeField field, BlockNorm norm, const Mask& shape);

  void rewind() override;
  void next_row(std::vector<double>& scores) override;

 private:
  MagnitudeField field_;
  BlockNorm norm_;
  std::uint32_t rows_;
  std::uint32_t block_rows_;
  std::uint32_t block_cols_;
  std::uint32_t width_;
  std::uint32_t row_ = 0;
  std::vector<double> magnitudes_;
};

}  // namespace lacuna
