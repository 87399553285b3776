// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/largest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lacuna {
namespace {

using ::testing::ElementsAre;

/// Scores that are given.
class Given : public RowScores {
 public:
  explicit Given(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {}
  void rewind() override { at_ = 0; }
  void next_row(std::vector<double>& scores) override { scores = rows_[at_++]; }

 private:
  std::vector<std::vector<double>> rows_;
  std::size_t at_ = 0;
};

Mask of_shape(std::uint32_t rows, std::uint32_t cols) {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  return mask;
}

// Of 10 9 8 7 and three scores of 5, the first 5 of the first matrix is the fifth.
TEST(LargestOfSeveral, HaveOneThresholdAndTheEarlierMatrixWinsTies) {
  Given first({{10, 5, 1}, {8, 2, 5}});
  Given second({{5, 9}, {7, 3}, {1, 1}});
  std::vector<Mask> masks = {of_shape(2, 3), of_shape(3, 2)};
  choose_largest({&first, &second}, 5, masks);
  EXPECT_THAT(masks[0].offsets, ElementsAre(0, 2, 3));
  EXPECT_THAT(masks[0].columns, ElementsAre(0, 1, 0));
  EXPECT_THAT(masks[1].offsets, ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(masks[1].columns, ElementsAre(1, 0));
}

TEST(LargestOfSeveral, OfOneMatrixAreThoseOfTheMatrixAlone) {
  Given scores({{3, 1, 2}, {2, 2, 9}});
  Mask alone = of_shape(2, 3);
  choose_largest(scores, 4, alone);
  std::vector<Mask> masks = {of_shape(2, 3)};
  choose_largest({&scores}, 4, masks);
  EXPECT_EQ(masks[0], alone);
}

}  // namespace
}  // namespace lacuna
