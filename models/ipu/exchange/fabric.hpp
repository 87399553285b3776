// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ipu/exchange/plan.hpp"
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
    put_words(tile, now, item.words);
    Pair& pair = pairs_[place(tile, now)];
    pair = {item.low, item.high};
  }

  /// The same of words that have no value.
  void put_words(TileId tile, Cycle now, std::uint32_t words) {
    stamps_[place(tile, now)] = stamp(now, words);
  }

  /// What `source` sent in cycle `sent_in`, which is past and less than `reach` cycles ago.
  /// InternalError if it sent nothing.
  ExchangeItem get(TileId source, Cycle sent_in) const {
    const Pair& pair = pairs_[place(source, sent_in)];
    return {pair.low, pair.high, static_cast<std::uint8_t>(words_of(source, sent_in))};
  }

  /// How many words that were.
  std::uint32_t words_of(TileId source, Cycle sent_in) const {
    const std::uint32_t found = stamps_[place(source, sent_in)];
    const std::uint32_t words = found & 3U;
    if (words == 0 || found != stamp(sent_in, words)) silent(source, sent_in);
    return words;
  }

 private:
  struct Pair {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
  };

  /// The cycle, as far as it is needed to tell it from others within reach, and the words: small,
  /// as every tile in an exchange meets a new one in each clock.
  static std::uint32_t stamp(Cycle now, std::uint32_t words) {
    return static_cast<std::uint32_t>(now << 2U) | words;
  }
  std::size_t place(TileId tile, Cycle cycle) const { return tile * reach_ + (cycle & mask_); }

  [[noreturn]] static void silent(TileId source, Cycle sent_in);

  std::size_t reach_;  // a power of two
  std::size_t mask_;
  std::vector<std::uint32_t> stamps_;
  std::vector<Pair> pairs_;
};

/// Moves all words of a phase at once, from memory to memory: what a phase does, without time.
void carry(const ExchangePlan& plan, std::vector<TileMemory>& memories);

/// Throws an InternalError unless `plan` fits `tiles` tiles and each port does at most one thing in
/// a cycle. Words received have to be words sent, times the receivers of each send.
void check_plan(const ExchangePlan& plan, std::size_t tiles);

}  // namespace lacuna::ipu
