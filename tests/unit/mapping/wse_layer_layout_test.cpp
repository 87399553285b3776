// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

WaferParams wafer(unsigned columns, unsigned rows) {
  WaferParams params;
  params.set("columns", std::to_string(columns), "");
  params.set("rows", std::to_string(rows), "");
  return params;
}

// 48 slots as near to squares as 750 x 994 cores allow: 6 x 8 of 125 x 124.
TEST(LayerLayout, TheMatricesOfABatchHaveSlotsNearToSquares) {
  const LayerLayout layout(wafer(750, 994), 512, 512, 48);
  EXPECT_EQ(layout.slots(), 48U);
  EXPECT_EQ(layout.slot_columns(), 125U);
  EXPECT_EQ(layout.slot_rows(), 124U);
  EXPECT_EQ(layout.slot_row(7), 124U);
  EXPECT_EQ(layout.slot_column(7), 125U);
  // 512 entries of a row in blocks of ceil(512 / 125) = 5 are 102 blocks and one of 2.
  EXPECT_EQ(layout.columns(), 103U);
  EXPECT_EQ(layout.features(0), 5U);
  EXPECT_EQ(layout.features(102), 2U);
  // 512 = 124 x 4 + 16: the first 16 rows take five.
  EXPECT_EQ(layout.tokens(15), 5U);
  EXPECT_EQ(layout.tokens(16), 4U);
  EXPECT_EQ(layout.first_token(16), 80U);
}

TEST(LayerLayout, MoreMatricesThanCoresShareSlots) {
  const LayerLayout layout(wafer(3, 2), 4, 4, 14);
  EXPECT_EQ(layout.slots(), 6U);
  EXPECT_EQ(layout.instances(0), 3U);
  EXPECT_EQ(layout.instances(1), 3U);
  EXPECT_EQ(layout.instances(2), 2U);
}

TEST(LayerTensor, EveryElementLiesAtOnePlace) {
  for (const bool scores : {false, true}) {
    const LayerTensor tensor(wafer(7, 5), 9, 11, scores ? 40 : 1, 1, scores);
    std::set<std::uint64_t> elements;
    std::set<std::pair<std::size_t, std::uint64_t>> places;
    tensor.for_each_element([&](std::uint64_t element, const TensorPlace& at) {
      elements.insert(element);
      places.emplace(at.core, at.index);
      EXPECT_LT(at.core, 35U);
      EXPECT_LT(at.index, tensor.most_elements());
    });
    EXPECT_EQ(elements.size(), 9U * 11U * (scores ? 40U : 1U));
    EXPECT_EQ(places.size(), elements.size());
    EXPECT_EQ(*elements.rbegin(), elements.size() - 1);
  }
}

// Neighbours on the ring are at most two cores apart, and what a core takes in has another color
// than what it sends.
TEST(CoreRing, AWordNeverMeetsAnotherOfItsColorOnALink) {
  for (std::uint32_t cores = 2; cores < 12; ++cores) {
    const CoreRing ring(cores, Direction::columns);
    for (std::uint32_t core = 0; core < cores; ++core) {
      TaskBuilder builder(1, 1);
      ring.route(builder, 0, core);
      const TaskProgram program = std::move(builder).finish();
      const RouterProgram& router = program.routers[0];
      std::set<std::pair<Color, PortSet>> out;
      for (const Route& route : router.routes) {
        EXPECT_TRUE(out.emplace(route.color, route.to).second)
            << cores << " cores, core " << core << ", color " << static_cast<int>(route.color);
      }
      EXPECT_LE(router.routes.size(), 4U);
    }
  }
}

TEST(LineSums, EachLinkCarriesAColorInOneDirectionOnly) {
  for (std::uint32_t cores = 2; cores < 40; ++cores) {
    const LineSums line(cores, LineSums::usual_groups(cores), 0);
    TaskBuilder builder(1, cores);
    line.route(
        builder, [](std::uint32_t core) { return std::size_t{core}; }, Direction::rows);
    const TaskProgram program = std::move(builder).finish();
    for (std::uint32_t core = 0; core < cores; ++core) {
      std::set<std::pair<Color, Port>> from;
      for (const Route& route : program.routers[program.router_of[core]].routes) {
        EXPECT_TRUE(from.emplace(route.color, route.from).second) << cores << " " << core;
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
