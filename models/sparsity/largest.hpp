// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Scores of the positions of a grid, row after row; can be walked more than once. Scores are
/// not negative; a position with score kNever is never chosen.
class RowScores {
 public:
  static constexpr double kNever = -1;

  virtual ~RowScores() = default;
  virtual void rewind() = 0;
  virtual void next_row(std::vector<double>& scores) = 0;
};

/// Fills `mask`, of which only the shape is set, with the `keep` blocks of the highest scores;
/// of equal scores the lower position, row-major, comes first. The scores are walked twice, so
/// that memory is needed for what is kept, not for all positions.
void choose_largest(RowScores& scores, std::uint64_t keep, Mask& mask);

/// The same over several matrices with one threshold: `keep` blocks in all, so that the density of
/// each emerges. Of equal scores those of the earlier matrix come first.
void choose_largest(const std::vector<RowScores*>& scores, std::uint64_t keep,
                    std::vector<Mask>& masks);

}  // namespace lacuna
