// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// Columns in the order of a ring no link of which is longer than two hops: even ones eastwards,
/// then odd ones back (He et al., "WaferLLM", OSDI 2025, use the same embedding).
std::vector<std::uint32_t> ring_order(std::uint32_t columns);

/// The column after `column` on that ring, by ring position of each.
std::vector<std::uint32_t> ring_positions(const std::vector<std::uint32_t>& ring);

/// A closed ring over a line of cores: even ones forward, odd ones back, so that no link is longer
/// than two hops; or all forward, and one long link back. A link alternates between two colors of
/// its direction, so that what a core takes in and what it sends never meet.
class RingLine {
 public:
  RingLine(std::uint32_t cores, unsigned first_color, bool long_way_back = false)
      : ring_(ring_order(cores)), first_color_(first_color) {
    if (long_way_back) std::iota(ring_.begin(), ring_.end(), 0U);
    positions_ = ring_positions(ring_);
  }

  std::uint32_t cores() const { return static_cast<std::uint32_t>(ring_.size()); }
  /// Place of a core on the ring, and the core that has a place.
  std::uint32_t position(std::uint32_t core) const { return positions_[core % cores()]; }
  std::uint32_t core_at(std::uint32_t position) const { return ring_[position % cores()]; }

  /// Of the link from a position to the next: its color, and the cores that it passes.
  Color color(std::uint32_t position) const {
    const unsigned way = core_at(position + 1) > core_at(position) ? 0 : 2;
    return static_cast<Color>(first_color_ + way + position % cores() % 2);
  }
  std::vector<std::uint32_t> link(std::uint32_t position) const {
    const std::uint32_t to = core_at(position + 1);
    std::vector<std::uint32_t> passed = {core_at(position)};
    while (passed.back() != to) passed.push_back(passed.back() + (to > passed.back() ? 1 : ~0U));
    return passed;
  }

 private:
  std::vector<std::uint32_t> ring_;       // cores in its order
  std::vector<std::uint32_t> positions_;  // of each core
  unsigned first_color_;
};

}  // namespace lacuna::wse
