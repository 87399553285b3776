// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"

namespace lacuna {
namespace {

using test::pick;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Blocks on diagonals, as many as there are in a block row of three.
Mask diagonals(std::uint32_t rows, std::uint32_t cols, std::uint32_t block) {
  Mask mask{rows, cols, block, block, {0}, {}};
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    for (std::uint32_t column = row % 3; column < mask.grid_cols(); column += 3) {
      mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

// Sides that no tile count or block divides, down to 1. scripts/odd_products.py asks for more of
// them, and times each.
TEST(OddProducts, HaveAResultOrAReasonOnAWholeChip) {
  const std::vector<std::uint32_t> sides{1, 3, 17, 64, 129, 511, 1000};
  Random random(7);
  unsigned done = 0;
  for (unsigned i = 0; i < 24; ++i) {
    LayerOp op;
    op.id = "odd" + std::to_string(i);
    op.m = pick(random, sides);
    op.k = pick(random, sides);
    op.n = pick(random, sides);
    op.dtype = pick(random, std::vector<DType>{DType::fp16, DType::fp32});
    op.mode = pick(random, std::vector<Mode>{Mode::dense, Mode::static_, Mode::dynamic});
    const Mask mask =
        diagonals(op.m, op.k, pick(random, std::vector<std::uint32_t>{1, 2, 4, 8, 16}));
    SCOPED_TRACE(op.id + ": " + std::to_string(op.m) + "x" + std::to_string(op.k) + "x" +
                 std::to_string(op.n) + " " + word(op.mode));
    try {
      const OpResult result = make_ipu_machine("odd")->run(op, &mask, 1, {});
      EXPECT_GT(result.cycles, 0U);
      EXPECT_EQ(result.mac_useful, mask.nnz() * op.n);
      ++done;
    } catch (const SimulationError&) {  // not supported, or buckets that overflow
    }
  }
  EXPECT_GE(done, 20U);
}

// What a product is a part of is the peak of its operands' type, 2 x 64 FLOP of 1472 tiles for
// halves, also of a dynamic one, whose sums are FP32.
TEST(OddProducts, AreAPartOfThePeakOfTheirOperands) {
  LayerOp op;
  op.m = op.k = op.n = 64;
  const Mask mask = diagonals(op.m, op.k, 16);
  for (const Mode mode : {Mode::dense, Mode::static_, Mode::dynamic}) {
    op.mode = mode;
    const OpResult result = make_ipu_machine("peak")->run(op, &mask, 1, {});
    EXPECT_EQ(result.peaks.flop_per_cycle, 2 * 64 * 1472) << word(mode);
  }
}

/// 100,000^3 with a hundredth of the weights.
LayerOp huge() {
  LayerOp op;
  op.m = op.k = op.n = 100000;
  op.pattern.name = "unstructured";
  op.pattern.density = Decimal{1, 2};
  return op;
}

// 10^8 weights, and 2 * 10^10 elements of operand and result, in 2 bytes each; no mask is made.
TEST(OddProducts, ThatNoMaskMakesSmallEnoughAreRefusedFromCounts) {
  EXPECT_THAT(
      make_ipu_machine("any")->no_room(huge()),
      HasSubstr("100000000 stored weights, dense operand and result are 40200000000 bytes"));
}

TEST(OddProducts, ThatMayFitAreNotRefusedBeforeTheirMaskIsKnown) {
  LayerOp op = huge();
  op.m = op.k = op.n = 4096;
  EXPECT_THAT(make_ipu_machine("any")->no_room(op), IsEmpty());
  op = huge();
  op.m = op.k = 40000;  // 1.6 * 10^9 positions; how many are kept is not known of this pattern
  op.n = 1;
  op.pattern.name = "bernoulli";
  op.pattern.density = Decimal{1, 0};
  EXPECT_THAT(make_ipu_machine("any")->no_room(op), IsEmpty());
}

}  // namespace
}  // namespace lacuna
