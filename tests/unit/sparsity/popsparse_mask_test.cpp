// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/popsparse_mask.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"

namespace lacuna {
namespace {

PatternSpec spec(const char* density, std::uint32_t block, Pairs args) {
  PatternSpec result;
  result.name = block > 1 ? "block" : "unstructured";
  result.block_rows = result.block_cols = block;
  parse_fraction(density, *(result.density = Decimal{}));
  result.args = std::move(args);
  return result;
}

#ifdef __GLIBCXX__
// The rule is that of this library: whatever it shuffles to the front is kept. Up to 46,340
// positions, whose square is below 2^31, it draws two places at once, with an odd or an even number
// of positions in different ways.
TEST(PopsparseMask, KeepsWhatTheLibraryShufflesToTheFront) {
  for (const std::uint32_t side : {1U, 2U, 3U, 32U, 215U, 216U, 512U}) {
    for (const std::uint32_t seed : {0U, 1U, 123U, 2147483647U}) {
      std::vector<std::uint32_t> all(std::size_t{side} * side);
      std::iota(all.begin(), all.end(), 0U);
      std::default_random_engine engine(seed);
      std::shuffle(all.begin(), all.end(), engine);
      const std::size_t keep = (all.size() + 15) / 16;
      all.resize(keep);
      std::sort(all.begin(), all.end());
      Mask mask{side, side, 1, 1, {0}, {}};
      choose_as_popsparse(seed, keep, mask);
      std::vector<std::uint32_t> kept;
      for (std::uint32_t row = 0; row < side; ++row) {
        for (std::uint64_t i = mask.offsets[row]; i < mask.offsets[row + 1]; ++i) {
          kept.push_back(row * side + mask.columns[i]);
        }
      }
      EXPECT_EQ(kept, all) << side << " " << seed;
    }
  }
}
#endif

// Four blocks: 2147483645 / 4 is more than 4, so two places a number, and the first alone. The
// engine from seed 1 draws 16807, 282475249: 16806 / 1073741822 = 0 exchanges 1 with 0; of the next
// range, 3 * 4 = 12, each number has 178956970 draws, and 282475248 is in the second: 1 = 0 * 4 + 1
// exchanges 2 with the first, then 3 with the second. From 0 1 2 3: 1 0 2 3, 2 0 1 3, 2 3 1 0.
TEST(PopsparseMask, DrawsTwoPlacesWithOneNumber) {
  Mask mask{2, 2, 1, 1, {0}, {}};
  choose_as_popsparse(1, 2, mask);
  EXPECT_EQ(mask.columns, (std::vector<std::uint32_t>{0, 1}));  // 2 and 3: the second row
  EXPECT_EQ(mask.offsets, (std::vector<std::uint64_t>{0, 0, 2}));
}

// The nearest float to 0.3 is above it, 0.300000012. 50 of it are 15.0000006, of which the nearest
// float is 15.00000095, and 50 of these 750.00006: one more than 0.3 of 2500.
TEST(PopsparseMask, CountsWithFloatsAndRoundsUp) {
  EXPECT_EQ(popsparse_count({3, 1}, 50, 50), 751U);
  EXPECT_EQ(popsparse_count({3, 1}, 10, 10), 30U);
  EXPECT_EQ(popsparse_count({1, 0}, 5, 7), 35U);
  EXPECT_EQ(popsparse_count({625, 4}, 64, 64), 256U);
}

TEST(PopsparseMask, IsAKeyOfPatternsThatHaveACount) {
  const Pairs rule{{"mask_rule", "popsparse"}};
  const Mask one = generate_mask(spec("0.0625", 16, rule), 1024, 1024, 1);
  EXPECT_EQ(one.blocks(), 256U);
  EXPECT_EQ(one.columns, generate_mask(spec("0.0625", 16, rule), 1024, 1024, 2).columns);
  EXPECT_NE(one.columns,
            generate_mask(spec("0.0625", 16, {{"mask_rule", "popsparse"}, {"rule_seed", "124"}}),
                          1024, 1024, 1)
                .columns);
  // A lower density cuts the same list: each block of it is one of the higher density's.
  const Mask less = generate_mask(spec("0.03125", 16, rule), 1024, 1024, 1);
  for (std::uint32_t row = 0; row < 64; ++row) {
    const auto at = [row](const Mask& mask, unsigned end) {
      return mask.columns.begin() + static_cast<std::ptrdiff_t>(mask.offsets[row + end]);
    };
    EXPECT_TRUE(std::includes(at(one, 0), at(one, 1), at(less, 0), at(less, 1))) << row;
  }
  // the default is the same with and without its name
  EXPECT_EQ(generate_mask(spec("0.0625", 16, {{"mask_rule", "uniform"}}), 256, 256, 5).columns,
            generate_mask(spec("0.0625", 16, {}), 256, 256, 5).columns);
}

TEST(PopsparseMask, RefusesWhatTheRuleDoesNotKnow) {
  const auto found = [](Pairs args) {
    const std::vector<PatternDiagnostic> problems =
        check_pattern(spec("0.5", 1, std::move(args)), 8, 8);
    return problems.empty() ? std::string() : problems.front().allowed;
  };
  EXPECT_EQ(found({{"mask_rule", "popsparse"}, {"round", "ceil"}}), "");
  EXPECT_EQ(found({{"mask_rule", "popsparse"}, {"round", "floor"}}),
            "ceil or none with mask_rule=popsparse");
  EXPECT_EQ(found({{"rule_seed", "7"}}), "no rule_seed without mask_rule=popsparse");
  EXPECT_EQ(found({{"mask_rule", "sparse"}}), "mask_rule, one of uniform, popsparse");
}

}  // namespace
}  // namespace lacuna
