// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "workloads/mapping/ipu/reduce/column_reduce.hpp"

namespace lacuna::ipu {
namespace {

// A tile sums one slice of its cluster and one part of it, whatever number of tiles there is: of
// 31, no cluster of a single tile has the slices of six. Of T tiles in C clusters at most C - 1
// have no slice, and C is at most the root of T: parts are at most T / (T - C + 1), that is a
// third, above 1 / T of the columns. Slices and parts are whole pairs of words, which adds at
// most 4.
TEST(IpuColumnReduce, EachTileHasOnePartOfTheResultAndPartsAreAboutEven) {
  constexpr std::uint64_t kColumns = 4096;
  for (TileId count = 2; count <= 90; ++count) {
    std::vector<TileId> tiles(count);
    std::iota(tiles.begin(), tiles.end(), TileId{100});
    std::vector<ColumnReduce::Piece> pieces = ColumnReduce(tiles, kColumns, 0, kColumns).pieces();
    std::set<TileId> owners;
    std::sort(pieces.begin(), pieces.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::uint64_t reached = 0;
    for (const ColumnReduce::Piece& piece : pieces) {
      EXPECT_TRUE(owners.insert(piece.tile).second) << count << ": tile " << piece.tile;
      EXPECT_EQ(piece.begin, reached) << count;
      reached = piece.end;
      EXPECT_LE(piece.end - piece.begin, kColumns * 4 / 3 / count + 4) << count;
    }
    EXPECT_EQ(reached, kColumns) << count;
  }
}

}  // namespace
}  // namespace lacuna::ipu
