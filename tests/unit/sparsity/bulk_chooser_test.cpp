// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/bulk_chooser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/chooser.hpp"
#include "models/sparsity/row_chooser.hpp"
#include "sim/base/bulk_random.hpp"

namespace lacuna {
namespace {

Mask empty(std::uint32_t rows, std::uint32_t cols) { return {rows, cols, 1, 1, {0}, {}}; }

Mask chosen_one_by_one(std::uint64_t seed, std::uint64_t keep, Mask mask) {
  Random random(seed);
  Chooser chooser(std::uint64_t{mask.rows} * mask.cols, keep);
  std::vector<std::uint32_t> row(mask.cols + std::size_t{1});
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    const std::uint32_t* const end = chooser.walk(random, mask.cols, row.data());
    mask.columns.insert(mask.columns.end(), static_cast<const std::uint32_t*>(row.data()), end);
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

Mask chosen_in_bulk(std::uint64_t seed, std::uint64_t keep, Mask mask) {
  choose_in_bulk(Random(seed), keep, mask);
  return mask;
}

TEST(BulkRandom, DrawsWhatARandomDraws) {
  Random random(7);
  random.next();
  BulkRandom bulk(random);
  for (unsigned block = 0; block < 5; ++block) {
    const std::uint64_t* const numbers = bulk.draw();
    for (unsigned i = 0; i < BulkRandom::kBlock; ++i) {
      ASSERT_EQ(numbers[BulkRandom::place(i)], random.next()) << block << ", " << i;
    }
  }
}

// Rows that end within a chunk of numbers, at the end of a block and before it; widths with powers
// of two on the way; budgets of none, one, few, many and all.
TEST(RowChooser, ChoosesWhatIsChosenOneByOne) {
  for (const std::uint32_t width : {1U, 2U, 1000U, 4096U, 4097U, 70000U}) {
    Random random(width);
    RowChooser chooser(random);
    std::vector<std::uint32_t> expected(width + std::size_t{1});
    std::vector<std::uint32_t> found(width + std::size_t{1});
    for (const std::uint32_t keep : {width, 0U, 1U, width / 2, 1U, width / 300, width / 9 * 8}) {
      const auto* const end = Chooser(width, keep).walk(random, width, expected.data());
      const auto* const found_end = chooser.walk(width, keep, found.data());
      ASSERT_EQ(end - expected.data(), keep) << width;
      ASSERT_EQ(found_end - found.data(), keep) << width;
      for (std::uint32_t i = 0; i < keep; ++i) {
        ASSERT_EQ(found[i], expected[i]) << width << ", " << keep << ", " << i;
      }
    }
  }
}

// Positions above 2^20 are walked in blocks, with a power of two (2^21) on the way and numbers of
// which it is not clear at once whether they are hits; the last ones one by one.
TEST(BulkChooser, ChoosesWhatIsChosenOneByOne) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> shapes = {
      {1500, 1500}, {2, 1100000}, {1, 1}, {64, 64}, {129, 8192}};
  for (const auto& [rows, cols] : shapes) {
    const std::uint64_t positions = std::uint64_t{rows} * cols;
    for (const std::uint64_t keep :
         {std::uint64_t{0}, positions / 64, positions / 2 + 1, positions}) {
      EXPECT_TRUE(chosen_in_bulk(keep + 3, keep, empty(rows, cols)) ==
                  chosen_one_by_one(keep + 3, keep, empty(rows, cols)))
          << rows << " x " << cols << ", " << keep;
    }
  }
}

TEST(BulkChooser, KeepsWhatIsBelowAThresholdOneByOne) {
  for (const double density : {0.0, 0.01, 0.5, 1.0}) {
    const auto threshold = static_cast<std::uint64_t>(std::floor(density * 0x1p53 + 0.5));
    Mask expected = empty(300, 301);
    Random random(5);
    for (std::uint32_t r = 0; r < expected.rows; ++r) {
      for (std::uint32_t c = 0; c < expected.cols; ++c) {
        if ((random.next() >> 11U) < threshold) expected.columns.push_back(c);
      }
      expected.offsets.push_back(expected.columns.size());
    }
    Mask mask = empty(300, 301);
    threshold_in_bulk(Random(5), threshold, mask);
    EXPECT_TRUE(mask == expected) << density;
  }
}

// On either side of the number of positions from which on masks are made in bulk.
TEST(BulkChooser, MakesActivationsOfAnySizeAlike) {
  const Decimal density{3, 1};
  const std::uint32_t width = 2048;
  const auto rows = static_cast<std::uint32_t>(kBulkPositions / width);
  const Mask small = bernoulli_mask(rows - 1, width, density, 9);
  Mask large = bernoulli_mask(rows, width, density, 9);
  ASSERT_EQ(large.offsets.size(), small.offsets.size() + 1);
  large.columns.resize(small.columns.size());
  EXPECT_TRUE(large.columns == small.columns);
  large.offsets.pop_back();
  EXPECT_TRUE(large.offsets == small.offsets);
}

}  // namespace
}  // namespace lacuna
