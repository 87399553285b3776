// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/sparsity/largest.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/pattern.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;

class Table : public RowScores {
 public:
  explicit Table(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {}
  void rewind() override { next_ = 0; }
  void next_row(std::vector<double>& scores) override { scores = rows_[next_++]; }

 private:
  std::vector<std::vector<double>> rows_;
  std::size_t next_ = 0;
};

Mask largest(const std::vector<std::vector<double>>& rows, std::uint64_t keep) {
  Table table(rows);
  Mask mask;
  mask.rows = static_cast<std::uint32_t>(rows.size());
  mask.cols = static_cast<std::uint32_t>(rows[0].size());
  choose_largest(table, keep, mask);
  return mask;
}

TEST(ChooseLargest, KeepsTheHighestScoresAndOfEqualOnesTheFirst) {
  const std::vector<std::vector<double>> rows = {{3, 1, 2}, {2, 0, 2}, {1e-300, 5, 2}};
  EXPECT_THAT(largest(rows, 0).offsets, ElementsAre(0, 0, 0, 0));
  const Mask four = largest(rows, 4);  // 5, 3 and the first two of four equal ones
  EXPECT_THAT(four.offsets, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(four.columns, ElementsAre(0, 2, 0, 1));
  EXPECT_EQ(largest(rows, 9).nnz(), 9U);
}

TEST(ChooseLargest, TellsNeighboursOfOneBinApart) {
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_THAT(largest({{1.0, next, 1.0}}, 1).columns, ElementsAre(1));
  EXPECT_THAT(largest({{1.0, next, 1.0}}, 2).columns, ElementsAre(0, 1));
}

TEST(ChooseLargest, NeverTakesWhatIsExcluded) {
  EXPECT_THAT(largest({{RowScores::kNever, 1, RowScores::kNever, 0}}, 2).columns,
              ElementsAre(1, 3));
  EXPECT_EQ(largest({{RowScores::kNever, 1}}, 2).nnz(), 1U);
}

TEST(MagnitudeField, GivesTheSameRowsAgain) {
  FieldSpec spec = field_of(FieldPreset::skewed, WeightRole::qkv, 0.1);
  spec.rows = 3;
  spec.cols = 70;
  MagnitudeField field(spec, 5);
  std::vector<double> first;
  std::vector<double> again;
  field.next_row(first);
  field.next_row(again);
  EXPECT_NE(first, again);
  field.rewind();
  field.next_row(again);
  EXPECT_EQ(first, again);
}

TEST(Pattern, MagnitudeKeepsExactlyTheRequestedNumberOfElementsOrBlocks) {
  PatternSpec spec;
  spec.name = "magnitude";
  spec.density = Decimal{1, 1};
  EXPECT_EQ(generate_mask(spec, 100, 70, 3).nnz(), 700U);
  spec.block_rows = 1;
  spec.block_cols = 4;
  spec.args = {{"norm", "linf"}, {"field", "iid"}};
  EXPECT_EQ(generate_mask(spec, 128, 64, 3).nnz(), 204U * 4);  // 204.8 of 2,048 groups
}

TEST(Pattern, MagnitudeKeepsTheBlockWithTheLargestSum) {
  // Of two blocks the one whose eight magnitudes, drawn in this order, add up to more.
  FieldSpec field;
  field.rows = 2;
  field.cols = 8;
  field.scaled = false;
  MagnitudeField magnitudes(field, 9);
  std::vector<double> row;
  double left = 0;
  double right = 0;
  for (int r = 0; r < 2; ++r) {
    magnitudes.next_row(row);
    for (std::size_t c = 0; c < 4; ++c) left += row[c];
    for (std::size_t c = 4; c < 8; ++c) right += row[c];
  }
  PatternSpec spec;
  spec.name = "magnitude";
  spec.density = Decimal{5, 1};
  spec.block_rows = 2;
  spec.block_cols = 4;
  spec.args = {{"field", "iid"}};
  EXPECT_THAT(generate_mask(spec, 2, 8, 9).columns, ElementsAre(left > right ? 0 : 1));
}

}  // namespace
}  // namespace lacuna
