// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory_layout.hpp"

#include <gtest/gtest.h>

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kKib = 1024;

const OperandPlace& of(const MemoryLayout& layout, Operand operand) {
  return layout.at(static_cast<std::size_t>(operand));
}

OperandBytes kib(std::uint64_t weight, std::uint64_t input, std::uint64_t partial) {
  return OperandBytes()
      .add(Operand::weight, weight * kKib)
      .add(Operand::input, input * kKib)
      .add(Operand::partial, partial * kKib);
}

/// What a product does: reads an input, reads and writes partials, loads weights alone.
std::vector<Bundle> product() {
  return {Bundle("amp")
              .add(Tally::read_input, 1)
              .add(Tally::read_partial, 1)
              .add(Tally::write_partial, 1),
          Bundle("weights").add(Tally::read_weight, 1)};
}

// Elements of 16 KiB up to 208 KiB (0 to 12), of 32 KiB above (13 to 25).
TEST(MemoryLayout, PartialsThatAreReadAndWrittenAtOnceAreInterleaved) {
  const MemoryLayout layout = place_operands(MemoryParams(), kib(20, 100, 100), product());
  EXPECT_EQ(of(layout, Operand::weight).first_element, 0U);
  EXPECT_EQ(of(layout, Operand::weight).last_element, 1U);
  EXPECT_EQ(of(layout, Operand::input).begin, 32U * kKib);
  // 624 - 100 = 524, in whole elements of 32 KiB from 208 on 208 + 9 * 32.
  EXPECT_EQ(of(layout, Operand::partial).begin, 496U * kKib);
  EXPECT_TRUE(of(layout, Operand::partial).interleaved);
  EXPECT_EQ(conflicts_of(layout, product()), (std::vector<std::uint32_t>{0, 0}));
}

// Beyond 208 KiB an element is a pair of 32 KiB: what follows 288 KiB begins at 208 + 3 * 32, and a
// load beside a store finds them in two elements, as it does of 1 KiB less or more. From 304 KiB on
// 336 KiB would not fit, so that they meet in the pair that ends there.
TEST(MemoryLayout, InterleavedElementsAreNotSharedWhereTheyNeedNotBe) {
  const std::vector<Bundle> copy = {
      Bundle("copy").add(Tally::read_input, 1).add(Tally::write_output, 1)};
  const auto layout = [&](std::uint64_t input, std::uint64_t output) {
    return place_operands(MemoryParams(), kib(0, input, 0).add(Operand::output, output * kKib),
                          copy);
  };
  for (const std::uint64_t input : {287U, 288U, 289U}) {
    const MemoryLayout apart = layout(input, 96);
    EXPECT_EQ(of(apart, Operand::output).begin, 304U * kKib);
    EXPECT_EQ(conflicts_of(apart, copy), std::vector<std::uint32_t>{0});
  }
  EXPECT_EQ(conflicts_of(layout(288, 336), copy), std::vector<std::uint32_t>{1});
}

// The plain memory is 208 KiB: of 500 KiB of partials a part is not interleaved, so that reading
// and writing them takes two slots.
TEST(MemoryLayout, PartialsBeyondTheInterleavedMemoryCostASlot) {
  const MemoryLayout layout = place_operands(MemoryParams(), kib(16, 64, 500), product());
  EXPECT_FALSE(of(layout, Operand::partial).interleaved);
  EXPECT_EQ(conflicts_of(layout, product()), (std::vector<std::uint32_t>{1, 0}));
}

// 224 + 400 KiB fill the memory; the border, 224 KiB, is inside the first interleaved element (208
// to 240 KiB): three accesses to it, two in a slot.
TEST(MemoryLayout, OperandsThatHaveToShareAnElementCostASlotWhereTheyMeet) {
  const MemoryLayout layout = place_operands(MemoryParams(), kib(0, 224, 400), product());
  EXPECT_EQ(of(layout, Operand::input).last_element, 13U);
  EXPECT_EQ(of(layout, Operand::partial).first_element, 13U);
  // The input is not interleaved: one access in a slot.
  EXPECT_EQ(conflicts_of(layout, product()), (std::vector<std::uint32_t>{2, 0}));
}

TEST(MemoryLayout, WhatIsNotSaidToBeThereCostsNothing) {
  const MemoryLayout layout = place_operands(MemoryParams(), OperandBytes(), product());
  EXPECT_EQ(conflicts_of(layout, product()), (std::vector<std::uint32_t>{0, 0}));
}

// Half of a GC2's 256 KiB is plain: 128 KiB of partials fit what is interleaved, 140 do not.
TEST(MemoryLayout, ASmallerChipHasLessThatIsInterleaved) {
  MemoryParams memory;
  memory.kib = 256;
  memory.element.plain_kib = 128;
  EXPECT_TRUE(
      of(place_operands(memory, kib(16, 16, 128), product()), Operand::partial).interleaved);
  EXPECT_FALSE(
      of(place_operands(memory, kib(16, 16, 140), product()), Operand::partial).interleaved);
}

}  // namespace
}  // namespace lacuna::ipu
