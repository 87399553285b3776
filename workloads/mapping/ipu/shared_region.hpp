// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {

/// A region of so many words, at one address on several tiles that all need it. Each of them is
/// home of an equal share, of whole 64-bit words, and sends it to the others.
struct SharedRegion {
  std::uint32_t address = 0;
  std::uint64_t words = 0;
  std::uint64_t sharers = 1;

  /// Words [begin, end) of sharer `index`.
  std::uint64_t begin(std::uint64_t index) const {
    return std::min(words, index * round_up(ceil_div(words, sharers), 2));
  }
  std::uint64_t end(std::uint64_t index) const { return begin(index + 1); }
};

/// Adds to a list what each of the sharers, `tiles`, sends to all others.
inline void all_gather(const SharedRegion& region, const std::vector<TileId>& tiles,
                       TransferList& list) {
  std::vector<Place> places;
  for (std::size_t s = 0; s < tiles.size(); ++s) {
    const auto address = static_cast<std::uint32_t>(region.address + region.begin(s));
    places.clear();
    for (const TileId to : tiles) {
      if (to != tiles[s]) places.push_back({to, address});
    }
    list.add({tiles[s], address}, static_cast<std::uint32_t>(region.end(s) - region.begin(s)),
             places.data(), places.data() + places.size());
  }
}

/// Puts the share of sharer `index`, which is `tile`, into its memory: element e is `value(e)`.
template <class Value>
void place_share(Program& program, const SharedRegion& region, TileId tile, std::uint64_t index,
                 DType type, const Value& value) {
  const std::uint64_t per_word = 4 / bytes_of(type);
  std::vector<float> values;
  for (std::uint64_t e = region.begin(index) * per_word; e < region.end(index) * per_word; ++e) {
    values.push_back(value(e));
  }
  if (values.empty()) return;
  const auto address = static_cast<std::uint32_t>(region.address + region.begin(index));
  program.images.push_back({{tile, address}, pack_words(values, type)});
}

}  // namespace lacuna::ipu
