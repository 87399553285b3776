// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/chip_stats.hpp"
#include "models/ipu/exchange/plan.hpp"
#include "models/ipu/program.hpp"
#include "models/ipu/vertex_walk.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

/// What all tiles did, by intervals of equal length. Tiles may book in any order, and long after
/// the cycles they book.
class IntervalBook {
 public:
  struct Page {
    CycleAccount spent;
    std::vector<std::uint64_t> issues;  // by bundle
    TileTraffic moved;                  // words, fragments, conflicts
    std::uint64_t port_sent = 0;
    std::uint64_t port_received = 0;
    std::uint64_t mac_edge = 0;
    std::uint64_t mac_zero = 0;
  };

  /// Intervals of `length` cycles; 0 books nothing.
  IntervalBook(const ChipParams& params, const Program& program, Cycle length);

  bool enabled() const { return length_ != 0; }
  Cycle length() const { return length_; }
  const std::vector<Page>& pages() const { return pages_; }

  /// The page of cycle `at`.
  Page& page(Cycle at);

  /// A tile spends the cycles [from, to).
  void spend(Spend spend, Cycle from, Cycle to);

  /// A tile executes `vertex`, which takes `cost` and issues `issues`, from cycle `begin` on. Split
  /// between intervals, it is walked through.
  void vertex(std::uint32_t vertex, Cycle begin, const VertexCost& cost,
              const std::uint64_t* issues);

  /// `tile` carries out its part of `plan` from cycle `begin` on.
  void exchange(const ExchangePlan& plan, TileId tile, Cycle begin);

 private:
  template <class Instruction>
  void move(const Instruction& instruction, Cycle begin, std::uint64_t TileTraffic::*words);
  void conflict(Cycle from, Cycle to);
  void walk(std::uint32_t vertex, Cycle begin);

  const MemoryParams memory_;
  const Program& program_;
  Cycle length_;
  std::vector<Page> pages_;
  VertexWalk walk_;
};

}  // namespace lacuna::ipu
