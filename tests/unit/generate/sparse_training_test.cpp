// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/sparse_training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

using ::testing::ElementsAre;

struct Moves {
  std::uint64_t kept, updates;
  std::vector<std::uint64_t> at;  // first, a quarter, half, three quarters, last but one, last
  std::uint64_t sum;
};

// Kept blocks of 768 x 768 at density 0.1 in blocks of 1, 4 and 16, and of 512 x 512; half of
// them may move at first. 512 x 512, half way: ceil(13,107 / 2) = 6,554.
TEST(SparseTraining, DynamicSparseBertMovesFewerAndFewerBlocks) {
  const std::vector<Moves> cases = {{58982, 160, {29489, 25173, 14746, 4319, 3, 0}, 2344614},
                                    {3686, 160, {1843, 1574, 922, 270, 1, 0}, 146598},
                                    {230, 80, {115, 99, 58, 17, 1, 0}, 4582},
                                    {26214, 160, {13106, 11188, 6554, 1920, 2, 0}, 1042086}};
  for (const Moves& c : cases) {
    const auto moves = [&c](std::uint64_t k) {
      return dynamic_sparse_bert_moves(c.kept, Decimal{5, 1}, k, c.updates);
    };
    const std::uint64_t n = c.updates;
    EXPECT_EQ((std::vector<std::uint64_t>{moves(1), moves(n / 4), moves(n / 2), moves(3 * n / 4),
                                          moves(n - 1), moves(n)}),
              c.at);
    std::uint64_t sum = 0;
    for (std::uint64_t k = 1; k <= n; ++k) sum += moves(k);
    EXPECT_EQ(sum, c.sum);
  }
}

TEST(SparseTraining, CosineMovesUntilItsEnd) {
  std::uint64_t sum = 0;
  for (std::uint64_t step = 100; step < 3584; step += 100) {
    sum += cosine_moves(147456, 0.3, step, 3584);
  }
  EXPECT_EQ(cosine_moves(147456, 0.3, 100, 3584), 44151U);
  EXPECT_EQ(cosine_moves(147456, 0.3, 1800, 3584), 21963U);
  EXPECT_EQ(cosine_moves(147456, 0.3, 3500, 3584), 59U);
  EXPECT_EQ(cosine_moves(147456, 0.3, 3600, 3584), 0U);
  EXPECT_EQ(sum, 770588U);
  EXPECT_EQ(count_of(Decimal{3, 1}, 15996), 4798U);
}

TEST(SparseTraining, PrunesByTheCubicLaw) {
  const std::vector<double> nine = {0.7, 0.784259, 0.840741, 0.875, 0.892593, 0.899074, 0.9};
  for (std::size_t i = 0; i < nine.size(); ++i) {
    EXPECT_NEAR(cubic_sparsity(0.7, 0.9, 2 + 4.0 * static_cast<double>(i), 2, 26), nine[i], 5e-7);
  }
  EXPECT_EQ(cubic_sparsity(0.7, 0.9, 30, 2, 26), 0.9);
  EXPECT_EQ(cubic_sparsity(0.7, 0.9, 0, 2, 26), 0.7);
}

TEST(SparseTraining, RemovesAFifthInEachRound) {
  std::vector<std::uint64_t> left;
  for (unsigned round = 0; round < 9; ++round) left.push_back(iterative_pruning(4194304, round));
  EXPECT_THAT(left, ElementsAre(4194304, 3355444, 2684356, 2147485, 1717988, 1374391, 1099513,
                                879611, 703689));
}

TEST(SparseTraining, ErdosRenyiSharesTheDensityAndKeepsSmallLayersDense) {
  const std::vector<double> mlp =
      erdos_renyi_densities({{784, 300}, {300, 100}, {100, 10}}, Decimal{1, 1});
  // epsilon is 17.26415094 once the last layer is dense: 17.264 * 1084 / 235200
  EXPECT_NEAR(mlp[0], 0.0795677705, 5e-11);
  EXPECT_NEAR(mlp[1], 0.2301886792, 5e-11);
  EXPECT_EQ(mlp[2], 1.0);
  const std::vector<double> bert = erdos_renyi_densities(
      {{768, 768}, {768, 768}, {768, 768}, {768, 768}, {3072, 768}, {768, 3072}}, Decimal{1, 1});
  EXPECT_NEAR(bert[0], 0.13333394, 5e-9);
  EXPECT_NEAR(bert[5], 0.08333371, 5e-9);
}

}  // namespace
}  // namespace lacuna
