// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/column_counts.hpp"

#include <algorithm>

namespace lacuna {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of a thread, which nests them
thread_local ColumnCounts* innermost = nullptr;

}  // namespace

ColumnCounts::ColumnCounts() : outer_(innermost) { innermost = this; }

ColumnCounts::~ColumnCounts() { innermost = outer_; }

std::vector<std::uint64_t> ColumnCounts::of(const Mask& mask) {
  if (innermost == nullptr) return counted(mask);
  const auto known = innermost->known_.find(&mask);
  if (known != innermost->known_.end()) return known->second;
  return innermost->known_.emplace(&mask, counted(mask)).first->second;
}

std::vector<std::uint64_t> ColumnCounts::counted(const Mask& mask) {
  std::vector<std::uint64_t> blocks(mask.grid_cols(), 0);  // elements that they keep
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    const std::uint32_t high = std::min(mask.block_rows, mask.rows - row * mask.block_rows);
    for (std::uint64_t b = mask.offsets[row]; b < mask.offsets[row + 1]; ++b) {
      blocks[mask.columns[b]] += high;
    }
  }
  std::vector<std::uint64_t> counts(mask.cols);
  for (std::uint32_t column = 0; column < mask.cols; ++column) {
    counts[column] = blocks[column / mask.block_cols];
  }
  return counts;
}

}  // namespace lacuna
