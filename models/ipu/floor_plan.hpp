// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ipu/chip_params.hpp"

namespace lacuna::ipu {

/// The place of tile `tile` on a die of `rows` rows, as an id of 64 * row + column + 2 * lane.
/// Tiles are numbered along snaking columns of pairs; the partner of a tile is its id xor 2.
unsigned physical_id(unsigned tile, unsigned rows);

/// From a send to the write in the receiver's memory, both given by their physical ids.
unsigned floor_plan_latency(unsigned sender, unsigned receiver);

/// Latencies between all tiles of a chip, quickly: the part of the sender, the part of the
/// receiver, and what depends on both.
class LatencyTable {
 public:
  explicit LatencyTable(const ChipParams& params);

  /// From sending a word to its being written.
  unsigned latency(unsigned sender, unsigned receiver) const {
    if (constant_ != 0) return constant_;
    const Part& s = parts_[sender];
    const Part& r = parts_[receiver];
    const int along = r.towards - s.from;
    const int turn = s.far_side == r.far_side ? s.turn_same : s.turn_other;
    return static_cast<unsigned>(s.own + r.arrive + turn + (along < 0 ? -along : along));
  }

  /// The same for a stream at double width, which waits for the later lane of the pair.
  unsigned paired_latency(unsigned sender, unsigned receiver) const {
    return std::max(latency(sender, receiver), latency(sender, receiver ^ 1U));
  }

 private:
  struct Part {
    std::int16_t own;         // as a sender: what depends on it alone
    std::int16_t from;        // six clocks for each double column up to its exit
    std::int16_t turn_same;   // turning into the spine towards its own side
    std::int16_t turn_other;  // or the other
    std::int16_t arrive;      // as a receiver
    std::int16_t towards;
    bool far_side;
  };

  unsigned constant_;
  std::vector<Part> parts_;
};

}  // namespace lacuna::ipu
