// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/repattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/pattern.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using Drop = Repattern::Drop;
using Regrow = Repattern::Regrow;

class TableOfScores : public RowScores {
 public:
  explicit TableOfScores(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {}
  void rewind() override { next_ = 0; }
  void next_row(std::vector<double>& scores) override { scores = rows_[next_++]; }

 private:
  std::vector<std::vector<double>> rows_;
  std::size_t next_ = 0;
};

std::set<std::uint64_t> positions(const Mask& mask) {
  std::set<std::uint64_t> result;
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    for (std::uint64_t i = mask.offsets[r]; i < mask.offsets[r + 1]; ++i) {
      result.insert(std::uint64_t{r} * mask.grid_cols() + mask.columns[i]);
    }
  }
  return result;
}

Mask random_mask() {
  PatternSpec spec;
  spec.name = "block";
  spec.density = Decimal{3, 1};
  spec.block_rows = spec.block_cols = 2;
  return generate_mask(spec, 20, 40, 7);
}

// Blocks of `a` that are not in `b`.
std::size_t missing(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
  std::size_t count = 0;
  for (const std::uint64_t p : a) count += 1 - b.count(p);
  return count;
}

TEST(Repattern, MovesExactlyTheCountAndKeepsTheNumber) {
  const Mask before = random_mask();  // 60 of 200 blocks
  for (const std::uint64_t count : {0U, 1U, 25U, 60U}) {
    const Mask after =
        repattern(before, {count, Drop::random, Regrow::random}, 3, nullptr, nullptr);
    EXPECT_EQ(after.blocks(), 60U);
    EXPECT_EQ(missing(positions(before), positions(after)), count);
    EXPECT_EQ(missing(positions(after), positions(before)), count);
  }
}

TEST(Repattern, MovesNoMoreThanThereIsRoomFor) {
  PatternSpec spec;
  spec.name = "unstructured";
  spec.density = Decimal{9, 1};
  const Mask before = generate_mask(spec, 10, 10, 1);
  const Mask after = repattern(before, {50, Drop::random, Regrow::random}, 3, nullptr, nullptr);
  EXPECT_EQ(after.blocks(), 90U);
  EXPECT_EQ(missing(positions(after), positions(before)), 10U);
}

TEST(Repattern, DropsTheSmallestAndGrowsTheLargestGradients) {
  Mask before;
  before.rows = 2;
  before.cols = 4;
  before.offsets = {0, 2, 4};
  before.columns = {0, 1, 2, 3};
  TableOfScores weights({{5, 1, 9, 9}, {0, 0, 2, 4}});    // the kept ones: 5 1, 2 4
  TableOfScores gradients({{1, 7, 2, 3}, {8, 6, 9, 1}});  // 7 and 9 are of dropped ones: may return
  const Mask after =
      repattern(before, {2, Drop::magnitude, Regrow::gradient}, 1, &weights, &gradients);
  EXPECT_THAT(positions(after), ElementsAre(0, 4, 6, 7));
}

TEST(ActivationMask, ChannelsDifferInDensityAroundTheRequestedMean) {
  const Mask even = bernoulli_mask(400, 500, Decimal{3, 1}, 5);
  const Mask uneven = channel_mask(400, 500, Decimal{3, 1}, 5);
  EXPECT_NEAR(even.density(), 0.3, 0.005);
  // Phi(1.118 Phi^-1(0.3) + g / 2) has mean 0.3 and deviation 0.16, over 400 channels 0.008.
  EXPECT_NEAR(uneven.density(), 0.3, 0.03);
  const auto spread = [](const Mask& mask) {
    std::uint64_t least = 500;
    std::uint64_t most = 0;
    for (std::size_t r = 0; r < 400; ++r) {
      least = std::min(least, mask.offsets[r + 1] - mask.offsets[r]);
      most = std::max(most, mask.offsets[r + 1] - mask.offsets[r]);
    }
    return most - least;
  };
  EXPECT_LT(spread(even), 90U);  // 8 deviations of sqrt(500 * 0.3 * 0.7) = 10.2
  EXPECT_GT(spread(uneven), 300U);
  EXPECT_EQ(channel_mask(3, 4, Decimal{1, 0}, 1).nnz(), 12U);
  EXPECT_EQ(channel_mask(3, 4, Decimal{0, 0}, 1).nnz(), 0U);
}

TEST(ActivationMask, QuantileInvertsTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.3), -0.5244005127080407, 1e-12);
  EXPECT_NEAR(normal_cdf(normal_quantile(1e-6)), 1e-6, 1e-15);
}

}  // namespace
}  // namespace lacuna
