// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/zero_structure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Mask mask_of(std::uint32_t rows, std::uint32_t cols,
             const std::function<bool(std::uint32_t, std::uint32_t)>& keeps) {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.offsets.push_back(0);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < cols; ++c) {
      if (keeps(r, c)) mask.columns.push_back(c);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

// Even rows keep the first and second of four, odd rows the second and third: half of the pairs
// of odd rows are half empty, and no block of more than an element is always whole.
TEST(ZeroStructure, FindsKeptOfGroups) {
  const ZeroStructure zeros =
      find_zero_structure(mask_of(8, 72, [](auto r, auto c) { return (c + 4 - r % 2) % 4 < 2; }));
  EXPECT_EQ(zeros.nnz, 8U * 36);
  EXPECT_EQ(zeros.keep, 2U);
  EXPECT_EQ(zeros.of, 4U);
  EXPECT_EQ(zeros.block_rows * zeros.block_cols, 1U);
  EXPECT_EQ(zeros.whole_block, 1U);
  EXPECT_DOUBLE_EQ(zeros.fullest_row, 1);
  // 4 of 8, all in one half: no order of four
  const ZeroStructure eight = find_zero_structure(
      mask_of(8, 72, [](auto r, auto c) { return (c + 8 - r % 2 * 3) % 8 < 4; }));
  EXPECT_EQ(eight.keep, 4U);
  EXPECT_EQ(eight.of, 8U);
}

// Blocks of 16 x 16, as in a chess board of 96 x 80; where one element is away the board has none
// that are whole, but 99.9 % are.
TEST(ZeroStructure, FindsTheLargestBlocks) {
  const auto board = [](auto r, auto c) { return (r / 16 + c / 16) % 2 == 0; };
  const ZeroStructure zeros = find_zero_structure(mask_of(96, 80, board));
  EXPECT_EQ(zeros.block_rows, 16U);
  EXPECT_EQ(zeros.block_cols, 16U);
  EXPECT_EQ(zeros.whole_block, 16U);
  EXPECT_EQ(zeros.of, 0U);  // blocks say more than 16 of 32
  const ZeroStructure nearly = find_zero_structure(
      mask_of(96, 80, [&](auto r, auto c) { return board(r, c) && (r != 3 || c != 3); }));
  EXPECT_EQ(nearly.block_rows, 16U);
  EXPECT_EQ(nearly.whole_block, 1U);
  // sides that are no multiple: 4 x 4 at most
  const ZeroStructure cut =
      find_zero_structure(mask_of(12, 20, [](auto r, auto c) { return (r / 4 + c / 4) % 2 == 0; }));
  EXPECT_EQ(cut.block_rows, 4U);
  EXPECT_EQ(cut.whole_block, 4U);
}

TEST(ZeroStructure, FindsRowsThatAreGone) {
  const ZeroStructure zeros =
      find_zero_structure(mask_of(30, 128, [](auto r, auto) { return r % 3 == 0; }));
  EXPECT_EQ(zeros.block_rows, 1U);
  EXPECT_EQ(zeros.block_cols, 64U);
  EXPECT_EQ(zeros.of, 0U);
  EXPECT_EQ(zeros.empty_rows, 20U);
  EXPECT_DOUBLE_EQ(zeros.fullest_row, 3);
  EXPECT_THAT(structure_text(zeros),
              HasSubstr("33.33 % kept, blocks of 1x64; the fullest row has 3 "
                        "times the mean, the fullest column 1; 20 rows"));
}

// 1 1 1 0 / 1 0 0 0: rows of 3 and 1 around a mean of 2, columns of 2 around one of 1.
TEST(ZeroStructure, SaysHowUnevenRowsAndColumnsAre) {
  const ZeroStructure zeros = find_zero_structure(
      mask_of(2, 4, [](auto r, auto c) { return c == 0 || (r == 0 && c < 3); }));
  EXPECT_DOUBLE_EQ(zeros.fullest_row, 1.5);
  EXPECT_DOUBLE_EQ(zeros.fullest_col, 2);
  EXPECT_EQ(zeros.empty_cols, 1U);
  EXPECT_THAT(structure_text(zeros), StartsWith("50 % kept, unstructured;"));
  const auto all = [](auto, auto) { return true; };
  EXPECT_EQ(structure_text(find_zero_structure(mask_of(3, 3, all))), "dense");
  const auto none = [](auto, auto) { return false; };
  EXPECT_EQ(structure_text(find_zero_structure(mask_of(3, 3, none))), "empty");
}

// One in a hundred without order: pairs and blocks are empty by chance, and none is said.
TEST(ZeroStructure, ChanceIsNoOrder) {
  const ZeroStructure zeros = find_zero_structure(mask_of(200, 256, [](auto r, auto c) {
    return (r * std::uint64_t{7919} + c * std::uint64_t{104729}) * 2654435761U % 4294967296U %
               100 ==
           0;
  }));
  EXPECT_EQ(zeros.of, 0U);
  EXPECT_EQ(zeros.block_rows * zeros.block_cols, 1U);
}

}  // namespace
}  // namespace lacuna
