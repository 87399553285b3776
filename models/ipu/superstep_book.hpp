// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ipu/chip_stats.hpp"
#include "models/ipu/exchange/plan.hpp"

namespace lacuna::ipu {

/// What each tile had counted when a barrier released it, and when an exchange was over. Both are
/// the same cycle on all tiles.
class SuperstepBook {
 public:
  struct Mark {
    CycleAccount spent;
    std::uint64_t sent = 0;  // words
    std::uint64_t received = 0;
  };

  /// Of a program of `supersteps`, at most `most` marks of a tile; 0: none. With more supersteps
  /// than that allows only the ends of some exchanges are marked, at equal distances.
  SuperstepBook(std::size_t tiles, std::size_t supersteps, std::size_t most)
      : tiles_(tiles), enabled_(most != 0) {
    if (!enabled_) return;
    const std::size_t at_most = std::max<std::size_t>(most, 2);
    if (2 * supersteps > at_most) every_ = (supersteps + at_most - 1) / at_most;
    both_ = 2 * supersteps <= at_most;
    marks_.resize(2 * supersteps);
  }

  void released(std::size_t superstep, TileId tile, const CycleAccount& spent,
                const TileTraffic& moved) {
    if (enabled_ && both_) put(2 * superstep, tile, spent, moved);
  }
  void exchanged(std::size_t superstep, TileId tile, const CycleAccount& spent,
                 const TileTraffic& moved) {
    if (enabled_ && (superstep + 1) % every_ == 0) put(2 * superstep + 1, tile, spent, moved);
  }

  /// Marks of the release (2 * superstep) and of the end of the exchange (the next), by tile; empty
  /// if there are none.
  const std::vector<std::vector<Mark>>& marks() const { return marks_; }

 private:
  void put(std::size_t place, TileId tile, const CycleAccount& spent, const TileTraffic& moved) {
    marks_[place].resize(tiles_);
    marks_[place][tile] = {spent, moved.sent, moved.received};
  }

  std::size_t tiles_;
  bool enabled_;
  bool both_ = false;
  std::size_t every_ = 1;
  std::vector<std::vector<Mark>> marks_;
};

}  // namespace lacuna::ipu
