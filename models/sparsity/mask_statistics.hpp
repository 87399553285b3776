// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// How evenly the kept elements of a mask lie. Values that do not exist, as a ratio to a mean of
/// zero, are empty.
struct MaskStatistics {
  std::uint64_t nnz = 0;
  std::uint64_t empty_rows = 0;
  std::uint64_t empty_cols = 0;
  std::optional<double> imbalance_8;   // largest over mean cell of an 8 x 8 grid
  std::optional<double> imbalance_16;  // of a 16 x 16 grid
  std::optional<double> imbalance_32;
  std::optional<double> row_bands;    // of 64 bands of rows
  std::optional<double> occupancy_4;  // share of aligned 4 x 4 blocks with an element
  std::optional<double> occupancy_16;
  std::optional<double> violations_2_4;  // share of aligned groups of 4 in a row with more than 2
  std::optional<double> row_cv;          // standard deviation over mean of the counts of rows
  std::optional<double> col_cv;
  std::optional<double> row_head_cv;  // of the sums over 64 rows
  std::optional<double> col_head_cv;
  std::optional<double> neighbour_correlation;  // of the count of a row and of the next
};

/// Largest over mean number of elements in the cells of a grid_rows x grid_cols grid, whose rows
/// are cut at floor(i R / grid_rows) and columns likewise; empty for an empty mask.
std::optional<double> imbalance(const Mask& mask, std::uint32_t grid_rows, std::uint32_t grid_cols);

MaskStatistics mask_statistics(const Mask& mask);

}  // namespace lacuna
