// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/write_merge.hpp"

#include <gtest/gtest.h>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

/// Slots lost by a bundle that stores so many times 64 bits.
std::uint32_t lost(unsigned slots, std::uint64_t stores) {
  WriteMergeParams params;
  params.slots = slots;
  return WriteMerge(params).lost(Bundle("bundle").add(Tally::write_output, stores));
}

TEST(WriteMerge, TakesNoSlotUnlessItIsAskedTo) {
  EXPECT_EQ(WriteMerge(WriteMergeParams{}).lost(Bundle("store").add(Tally::write_output, 1)), 0U);
}

// 8 B are half of a word, 16 B a word, 24 B a word and a half; what stores nothing loses nothing.
TEST(WriteMerge, AHalfWaitsForTheOther) {
  EXPECT_EQ(lost(3, 0), 0U);
  EXPECT_EQ(lost(3, 1), 3U);
  EXPECT_EQ(lost(3, 2), 0U);
  EXPECT_EQ(lost(3, 3), 3U);
}

TEST(WriteMerge, LoadsAndStoresOfAllClassesAreToldApart) {
  WriteMergeParams params;
  params.slots = 1;
  const WriteMerge merge(params);
  EXPECT_EQ(merge.lost(Bundle("load").add(Tally::read_weight, 1)), 0U);
  EXPECT_EQ(merge.lost(Bundle("two").add(Tally::write_partial, 1).add(Tally::write_metadata, 1)),
            0U);
}

TEST(WriteMerge, RefusesMoreSlotsThanItsRange) {
  WriteMergeParams params;
  EXPECT_THROW(params.set("slots", "17"), ParameterError);
}

}  // namespace
}  // namespace lacuna::ipu
