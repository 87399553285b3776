// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sparsity/sparse_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sparsity/pattern.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;

//  1 . 2 .
//  . . . .
//  . 3 . 4
Mask small_mask() {
  Mask mask;
  mask.rows = 3;
  mask.cols = 4;
  mask.offsets = {0, 2, 2, 4};
  mask.columns = {0, 2, 1, 3};
  return mask;
}

CsrMatrix<int> small_matrix() {
  int next = 0;
  return make_csr<int>(small_mask(), [&next](std::uint32_t, std::uint32_t) { return ++next; });
}

CsrMatrix<int> random_matrix(std::uint32_t rows, std::uint32_t cols, std::uint64_t seed) {
  PatternSpec pattern;
  pattern.name = "bernoulli";
  pattern.density = Decimal{3, 1};
  return make_csr<int>(generate_mask(pattern, rows, cols, seed),
                       [cols](std::uint32_t r, std::uint32_t c) {
                         return static_cast<int>((r * cols + c) % 7) - 3;
                       });
}

TEST(CsrMatrix, HoldsItsValuesRowByRow) {
  const CsrMatrix<int> csr = small_matrix();
  EXPECT_THAT(csr.offsets, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(csr.columns, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(to_dense(csr).values, ElementsAre(1, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 4));
}

TEST(CscMatrix, HoldsTheSameValuesColumnByColumn) {
  const CscMatrix<int> csc = to_csc(small_matrix());
  EXPECT_THAT(csc.offsets, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(csc.row_indices, ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(csc.values, ElementsAre(1, 3, 2, 4));
}

TEST(BsrMatrix, StoresABlockIfAnyOfItsElementsIsThere) {
  // Blocks of 2 x 2: (0,0) and (0,1) of the first two rows; of the third, cut at the edge, both.
  const BsrMatrix<int> bsr = to_bsr(small_matrix(), 2, 2);
  EXPECT_THAT(bsr.pattern.offsets, ElementsAre(0, 2, 4));
  EXPECT_THAT(bsr.pattern.columns, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(bsr.values, ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0));
}

TEST(SpmmReference, MultipliesAsTheDenseProductDoes) {
  // Row 0: 1 * (1, 2) + 2 * (5, 6); row 2: 3 * (3, 4) + 4 * (7, 8).
  DenseMatrix<int> x(4, 2);
  x.values = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(spmm_reference<long>(small_matrix(), x).values, ElementsAre(11, 14, 0, 0, 37, 44));
}

TEST(SparseMatrix, FormatsHoldTheSameMatrix) {
  for (const auto& [rows, cols] : {std::pair{1U, 1U}, {1U, 9U}, {9U, 1U}, {16U, 12U}, {13U, 30U}}) {
    const CsrMatrix<int> csr = random_matrix(rows, cols, rows + cols);
    const DenseMatrix<int> dense = to_dense(csr);
    const CscMatrix<int> csc = to_csc(csr);
    DenseMatrix<int> from_csc(rows, cols);
    for (std::uint32_t c = 0; c < cols; ++c) {
      for (std::uint64_t i = csc.offsets[c]; i < csc.offsets[c + 1]; ++i) {
        from_csc.at(csc.row_indices[i], c) = csc.values[i];
      }
    }
    EXPECT_TRUE(from_csc == dense);
    const BsrMatrix<int> bsr = to_bsr(csr, 4, 2);
    DenseMatrix<int> from_bsr(rows, cols);
    for (std::uint32_t r = 0; r < rows; ++r) {
      const std::uint32_t row = r / 4;
      for (std::uint64_t b = bsr.pattern.offsets[row]; b < bsr.pattern.offsets[row + 1]; ++b) {
        for (std::uint32_t c = 2 * bsr.pattern.columns[b];
             c < std::min(cols, 2 * bsr.pattern.columns[b] + 2); ++c) {
          from_bsr.at(r, c) = bsr.values[b * 8 + (r % 4) * 2 + c % 2];
        }
      }
    }
    EXPECT_TRUE(from_bsr == dense);
  }
}

}  // namespace
}  // namespace lacuna
