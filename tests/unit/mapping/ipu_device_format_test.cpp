// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/sparsity/pattern.hpp"
#include "tests/support/ipu/device_buckets.hpp"
#include "workloads/mapping/ipu/device_format.hpp"

namespace lacuna::ipu {
namespace {

Mask pattern(const char* name, std::uint32_t block, std::uint32_t rows, std::uint32_t cols,
             std::uint64_t seed) {
  PatternSpec spec;
  spec.name = name;
  spec.block_rows = spec.block_cols = block;
  spec.density = Decimal{2, 1};
  return generate_mask(spec, rows, cols, seed);
}

CsrMatrix<std::uint32_t> numbered(const Mask& mask) {
  std::uint32_t next = 0;
  return make_csr<std::uint32_t>(mask, [&](auto, auto) { return ++next; });
}

template <class T>
bool same(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.offsets == b.offsets && a.columns == b.columns &&
         a.values == b.values;
}

// 3 x 5 with elements (0, 4), (2, 0), (2, 3).
TEST(CooMatrix, GivesTheSameRowsWhateverTheOrderOfItsElements) {
  const CooMatrix<int> coo{3, 5, {2, 0, 2}, {3, 4, 0}, {30, 10, 20}};
  const CsrMatrix<int> csr = to_csr(coo);
  EXPECT_EQ(csr.offsets, (std::vector<std::uint64_t>{0, 1, 1, 3}));
  EXPECT_EQ(csr.columns, (std::vector<std::uint32_t>{4, 0, 3}));
  EXPECT_EQ(csr.values, (std::vector<int>{10, 20, 30}));
  EXPECT_TRUE(same(to_csr(to_coo(csr)), csr));
}

TEST(CooMatrix, RefusesElementsThatComeTwiceOrLieOutside) {
  EXPECT_THROW(to_csr(CooMatrix<int>{2, 2, {0, 0}, {1, 1}, {1, 2}}), std::invalid_argument);
  EXPECT_THROW(to_csr(CooMatrix<int>{2, 2, {2}, {0}, {1}}), std::invalid_argument);
  EXPECT_THROW(to_csr(CooMatrix<int>{2, 2, {0}, {2}, {1}}), std::invalid_argument);
}

// 64 x 128 with 16 blocks of 4: 256 elements of FP16. CSR: 2 B values, 2 B columns, 65 offsets of
// 4 B; COO: twice 2 B; BSR: 2 B for each block and 17 offsets.
TEST(UserFormat, HasTheBytesOfItsIndicesAndValues) {
  Mask mask{64, 128, 4, 4, {0}, {}};
  for (std::uint32_t row = 0; row < 16; ++row) {
    mask.columns.push_back(row);
    mask.offsets.push_back(row + 1);
  }
  EXPECT_EQ(user_bytes(UserFormat::csr, mask, DType::fp16).total(), 512U + 512U + 260U);
  EXPECT_EQ(user_bytes(UserFormat::coo, mask, DType::fp16).total(), 512U + 1024U);
  EXPECT_EQ(user_bytes(UserFormat::bsr, mask, DType::fp32).total(), 1024U + 32U + 68U);
  mask.cols = 65540;  // columns no longer fit two bytes
  EXPECT_EQ(user_bytes(UserFormat::csr, mask, DType::fp16).indices, 1024U + 260U);
}

class DeviceFormat : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(DeviceFormat, GivesBackEveryElementOnceAtItsPlaceWithItsValue) {
  const std::uint32_t block = GetParam();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::uint32_t rows = 64 + (seed % 2 == 0 ? 0 : block / 2);
    // the last row of blocks may stand over the edge
    const CsrMatrix<std::uint32_t> csr = numbered(pattern("unstructured", 1, rows, 96, seed));
    const BsrMatrix<std::uint32_t> blocks = to_bsr(csr, block, block);
    const Mask& mask = blocks.pattern;
    Target target;
    target.tiles = 24;
    const DynamicPlan plan =
        plan_dynamic(target, {DType::fp16, DType::fp32}, {rows, 96, 32, block, mask.blocks()}, 0.5);
    const auto device = to_device(plan, blocks, target.workers);
    ASSERT_EQ(device.size(), plan.tiles());
    for (const auto& bucket : device) {
      EXPECT_LE(bucket.meta.size(), plan.bucket_words);
      EXPECT_LE(bucket.values.size(), plan.bucket_blocks * block * block);
    }
    const CooMatrix<std::uint32_t> back = from_device(plan, device, mask, target.workers);
    const BsrMatrix<std::uint32_t> again = to_bsr(to_csr(back), block, block);
    EXPECT_EQ(again.pattern.columns, mask.columns) << "seed " << seed;
    EXPECT_EQ(again.values, blocks.values) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, DeviceFormat, ::testing::Values(1, 4, 8, 16),
                         [](const auto& side) { return std::to_string(side.param); });

}  // namespace
}  // namespace lacuna::ipu
