// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/zero_scan.hpp"

namespace lacuna::wse {
namespace {

using ::testing::ElementsAre;

// Column 0 has features 0, 2, 4, column 1 the others; row 0 keeps 1 and 4, row 1 none. Two
// positions a cycle: 4 is the third of column 0, found in the second cycle, and the command after
// it in the next; 1 is the first of column 1, and the two after it are examined in one cycle. All
// three positions of an empty row take two.
TEST(Scan, AWordTakesTheCyclesOfThePositionsBeforeIt) {
  const Mask mask{2, 6, 1, 1, {0, 2, 2}, {1, 4}};
  const std::vector<std::uint32_t> rows{0, 1};
  const std::vector<std::uint32_t> owner{0, 1, 0, 1, 0, 1};
  const std::vector<std::uint32_t> features{3, 3};
  EXPECT_THAT(scan_cycles({mask, rows, owner, features, 2, 1}),
              ElementsAre(ElementsAre(2, 1, 2), ElementsAre(1, 1, 2)));
  // one position a cycle, and a value of two words, of which the second is no further
  EXPECT_THAT(scan_cycles({mask, rows, owner, features, 1, 2}),
              ElementsAre(ElementsAre(3, 1, 1, 3), ElementsAre(1, 1, 2, 3)));
  // row 1 first, and the product twice
  EXPECT_THAT(scan_cycles({mask, {1, 0, 3, 2}, owner, features, 3, 1}),
              ElementsAre(ElementsAre(1, 1, 1, 1, 1, 1), ElementsAre(1, 1, 1, 1, 1, 1)));
}

TEST(Scan, RefusesWhatNoCounterHolds) {
  const Mask mask{1, 70000, 1, 1, {0, 1}, {69999}};
  const std::vector<std::uint32_t> owner(70000, 0);
  EXPECT_THROW(scan_cycles({mask, {0}, owner, {70000}, 1, 1}), UnsupportedError);
}

}  // namespace
}  // namespace lacuna::wse
