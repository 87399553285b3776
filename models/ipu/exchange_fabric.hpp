// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ipu/exchange_plan.hpp"
#include "models/ipu/tile_memory.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

/// What a tile puts on its wires in one cycle: a word, or two at double width.
struct ExchangeItem {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint8_t words = 0;
};

/// The wires between tiles: each tile's output, as any other tile sees it a latency later. It has
/// no queues and decides nothing; whoever listens at the wrong time hears nothing.
class ExchangeFabric {
 public:
  /// Latencies are below `reach` cycles.
  ExchangeFabric(std::size_t tiles, std::size_t reach);

  /// In cycle `now`, `tile` sends `item`.
  void put(TileId tile, Cycle now, const ExchangeItem& item) {
    Slot& slot = slots_[tile * reach_ + (now & mask_)];
    slot.sent_in = now;
    slot.item = item;
  }

  /// What `source` sent in cycle `sent_in`, which is past and less than `reach` cycles ago.
  /// InternalError if it sent nothing.
  const ExchangeItem& get(TileId source, Cycle sent_in) const {
    const Slot& slot = slots_[source * reach_ + (sent_in & mask_)];
    if (slot.sent_in != sent_in) silent(source, sent_in);
    return slot.item;
  }

 private:
  struct Slot {
    Cycle sent_in = kNever;
    ExchangeItem item;
  };

  [[noreturn]] static void silent(TileId source, Cycle sent_in);

  std::size_t reach_;  // a power of two
  std::size_t mask_;
  std::vector<Slot> slots_;
};

/// Moves all words of a phase at once, from memory to memory: what a phase does, without time.
void carry(const ExchangePlan& plan, std::vector<TileMemory>& memories);

/// Throws an InternalError unless `plan` fits `tiles` tiles and no port has two things to do in
/// one cycle, and unless as many words are received as its sends and their receivers amount to.
void check_plan(const ExchangePlan& plan, std::size_t tiles);

}  // namespace lacuna::ipu
