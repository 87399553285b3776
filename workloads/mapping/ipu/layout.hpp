// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {

/// A tensor of `size` elements laid over tiles in order: each tile has the same number of grains
/// until none are left.
class LinearMap {
 public:
  LinearMap(std::uint64_t size, std::uint64_t grain, unsigned tiles)
      : size_(size),
        share_(std::max<std::uint64_t>(ceil_div(ceil_div(size, grain), tiles), 1) * grain) {}

  std::uint64_t share() const { return share_; }
  unsigned tile_of(std::uint64_t element) const { return static_cast<unsigned>(element / share_); }
  std::uint64_t begin(unsigned tile) const { return std::min(size_, tile * share_); }
  std::uint64_t end(unsigned tile) const { return std::min(size_, (tile + 1) * share_); }

  /// Calls visit(tile, begin, end) for each tile's part of [begin, end).
  template <class Visit>
  void for_each(std::uint64_t from, std::uint64_t to, Visit visit) const {
    while (from < to) {
      const unsigned tile = tile_of(from);
      const std::uint64_t stop = std::min(to, (tile + 1) * share_);
      visit(tile, from, stop);
      from = stop;
    }
  }

 private:
  std::uint64_t size_;
  std::uint64_t share_;
};

}  // namespace lacuna::ipu
