// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_stats.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "models/ipu/bundle.hpp"

namespace lacuna::ipu {
namespace {

/// The name of the only counter of a group that is not 0, which has to be `value`.
std::string only_counter(const StatGroup& group, std::uint64_t value) {
  std::string name;
  for (const auto& [each, counted] : group.snapshot()) {
    if (counted == 0) continue;
    EXPECT_EQ(counted, value) << each;
    EXPECT_EQ(name, "") << each;
    name = each;
  }
  return name;
}

// 3 bundles of 2: each kind of tally is in a counter of its own.
TEST(ChipStats, EachTallyHasACounter) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kTallies; ++i) {
    TileWorkStats work("tile");
    work.add(Bundle("bundle").add(static_cast<Tally>(i), 2), 3);
    names.insert(only_counter(work, 6));
  }
  EXPECT_EQ(names.size(), kTallies);
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(names.count("sfu_fp32"), 1U);
}

TEST(ChipStats, EachWayToSpendACycleHasACounter) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kSpends; ++i) {
    CycleAccount account;
    account[static_cast<Spend>(i)] = 5;
    TileCycleStats cycles("tile.cycles");
    cycles.add(account);
    names.insert(only_counter(cycles, 5));
  }
  EXPECT_EQ(names.size(), kSpends);
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(names.count("barrier"), 1U);
}

}  // namespace
}  // namespace lacuna::ipu
