// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/mask_statistics.hpp"

#include <gtest/gtest.h>

#include "models/sparsity/pattern.hpp"

namespace lacuna {
namespace {

Mask make_mask(std::uint32_t rows, std::uint32_t cols,
               const std::vector<std::vector<std::uint32_t>>& kept) {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.offsets = {0};
  for (const auto& row : kept) {
    mask.columns.insert(mask.columns.end(), row.begin(), row.end());
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

TEST(MaskStatistics, ImbalanceIsTheFullestCellOverTheMeanCell) {
  // Cells of 2 x 2 in a 4 x 4 matrix: 3, 1, 0, 0; the mean is 1.
  const Mask mask = make_mask(4, 4, {{0, 1, 3}, {0}, {}, {}});
  EXPECT_EQ(imbalance(mask, 2, 2), 3.0);
  // A 5 x 5 matrix is cut at floor(5 / 2) = 2, so the fullest cell is the last one, of 3 x 3.
  const Mask odd = make_mask(5, 5, {{0}, {}, {2}, {2}, {4}});
  EXPECT_EQ(imbalance(odd, 2, 2), 3.0);
  EXPECT_EQ(imbalance(make_mask(4, 4, {{}, {}, {}, {}}), 2, 2), std::nullopt);
}

TEST(MaskStatistics, OccupancyCountsBlocksAtTheEdge) {
  // A 5 x 5 matrix has four 4 x 4 blocks, three of them cut; two hold an element.
  EXPECT_EQ(mask_statistics(make_mask(5, 5, {{0, 3}, {}, {}, {}, {4}})).occupancy_4, 0.5);
}

TEST(MaskStatistics, CountsRowsColumnsAndGroupsOfFour) {
  // Rows hold 4, 0, 2, 2; columns 2, 2, 2, 1, 1, 0, 0, 0. Of 8 groups one holds more than 2.
  const Mask mask = make_mask(4, 8, {{0, 1, 2, 3}, {}, {0, 1}, {2, 4}});
  const MaskStatistics statistics = mask_statistics(mask);
  EXPECT_EQ(statistics.nnz, 8U);
  EXPECT_EQ(statistics.empty_rows, 1U);
  EXPECT_EQ(statistics.empty_cols, 3U);
  EXPECT_EQ(statistics.violations_2_4, 0.125);
  EXPECT_DOUBLE_EQ(*statistics.row_cv, 0.70710678118654752);  // squares 4 4 0 0, mean 2
  // Pairs (4, 0) (0, 2) (2, 2): means 2 and 4/3, products -8/3 - 4/3, squares 8 and 8/3.
  EXPECT_NEAR(*statistics.neighbour_correlation, -0.8660254037844386, 1e-12);
}

TEST(MaskStatistics, AreEmptyWhereTheyDoNotExist) {
  const MaskStatistics statistics = mask_statistics(make_mask(3, 3, {{}, {}, {}}));
  EXPECT_FALSE(statistics.imbalance_8 || statistics.row_bands || statistics.row_cv ||
               statistics.col_head_cv || statistics.neighbour_correlation);
  EXPECT_EQ(statistics.occupancy_4, 0.0);
  EXPECT_EQ(mask_statistics(dense_mask(4, 4)).neighbour_correlation, std::nullopt);
}

}  // namespace
}  // namespace lacuna
