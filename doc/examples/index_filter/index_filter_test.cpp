// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/index_filter.hpp"

#include <gtest/gtest.h>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

Cycle cycles(unsigned bits) {
  IndexFilterParams params;
  params.bits = bits;
  return IndexFilter(params).cycles();
}

TEST(IndexFilter, TakesNoTimeUnlessItIsAskedTo) {
  EXPECT_EQ(IndexFilter(IndexFilterParams{}).cycles(), 0U);
}

// 16 bits: 16 cycles of 1, 4 of 4, 1 of 16; of 5 bits three cycles see 15, the fourth the last.
TEST(IndexFilter, ComparesSixteenBits) {
  EXPECT_EQ(cycles(1), 16U);
  EXPECT_EQ(cycles(4), 4U);
  EXPECT_EQ(cycles(5), 4U);
  EXPECT_EQ(cycles(16), 1U);
}

TEST(IndexFilter, RefusesMoreBitsThanAnIndexHas) {
  IndexFilterParams params;
  EXPECT_THROW(params.set("bits", "17"), ParameterError);
}

}  // namespace
}  // namespace lacuna::wse
