// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/layout.hpp"

namespace lacuna::ipu {

/// A vector of `size` elements of `bytes` each, of which tiles need parts (a bias, the factors of a
/// norm). Each chunk of at least 64 elements is at home on one tile, which sends it to all others
/// that need any of it. Element i lies at `address` + i on every tile, home or not.
class SharedVector {
 public:
  SharedVector(std::uint64_t size, unsigned bytes, unsigned tiles)
      : size_(size), bytes_(bytes), map_(size, kChunk, tiles), needs_(map_parts()) {}

  /// `tile` needs the elements [begin, end).
  void need(TileId tile, std::uint64_t begin, std::uint64_t end) {
    map_.for_each(begin, end, [&](unsigned chunk, std::uint64_t, std::uint64_t) {
      if (chunk != tile && (needs_[chunk].empty() || needs_[chunk].back() != tile)) {
        needs_[chunk].push_back(tile);
      }
    });
  }

  /// The sending, to word address `address` of every tile that needs it.
  void transfers(std::uint32_t address, TransferList& list) const {
    std::vector<Place> places;
    for (std::uint32_t chunk = 0; chunk < needs_.size(); ++chunk) {
      const auto word = static_cast<std::uint32_t>(address + map_.begin(chunk) * bytes_ / 4);
      const std::uint64_t bytes = (map_.end(chunk) - map_.begin(chunk)) * bytes_;
      places.clear();
      for (const TileId tile : needs_[chunk]) places.push_back({tile, word});
      list.add({chunk, word}, static_cast<std::uint32_t>((bytes + 3) / 4), places.data(),
               places.data() + places.size());
    }
  }

  std::uint64_t size() const { return size_; }

  /// The parts that are at home: visit(tile, begin, end).
  template <class Visit>
  void for_each_home(Visit visit) const {
    map_.for_each(0, size_, visit);
  }

 private:
  static constexpr std::uint64_t kChunk = 64;
  std::size_t map_parts() const { return size_ == 0 ? 0 : map_.tile_of(size_ - 1) + 1; }

  std::uint64_t size_;
  unsigned bytes_;
  LinearMap map_;
  std::vector<std::vector<TileId>> needs_;  // by chunk
};

}  // namespace lacuna::ipu
