// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

/// The number of a tile in the order programs use; tiles 2i and 2i + 1 are a pair.
using TileId = std::uint32_t;

/// A place in the memory of a tile, in 32-bit words.
struct Place {
  TileId tile;
  std::uint32_t address;
};

/// One contiguous region on its way to one or more tiles; each receiver stores it contiguously.
struct Transfer {
  Place source;
  std::uint32_t words;
  std::uint32_t first;  // of its destinations in TransferList::destinations
  std::uint32_t count;
};

/// What an exchange phase has to move. Words are read as they are when the phase begins: no word
/// may be both sent and received by a tile within one phase.
struct TransferList {
  std::vector<Transfer> transfers;
  std::vector<Place> destinations;
  /// Where each tile may store words that only its partner needs, for the two to receive them as a
  /// pair; as long as the longest transfer. Without it, only tiles that need a word receive it.
  std::optional<std::uint32_t> scratch;
  /// The shortest fragment of this list that pairs receive at double width, in place of the chip's
  /// exchange.paired_words; one event of receive control is then enough for a fragment.
  std::optional<std::uint32_t> paired_words;
  /// The address of the first word of each tile's memory; a program with values has its rounds one
  /// after another.
  std::uint32_t memory_begin = 0;

  /// Adds a multicast. No two destinations are on one tile and none is on the source's: copies
  /// within a tile are vertices. Nothing is added without words or without destinations.
  void add(Place source, std::uint32_t words, const Place* begin, const Place* end);
  void add(Place source, std::uint32_t words, std::initializer_list<Place> to) {
    add(source, words, to.begin(), to.end());
  }

  /// Words of the longest transfer.
  std::uint32_t longest() const;
};

/// A send instruction: from cycle `start` of the phase, one word per cycle, or two if `wide`,
/// leave the tile from `address` on.
struct Send {
  std::uint32_t start;
  std::uint32_t words;
  std::uint32_t address;
  std::uint32_t receivers;  // how many tiles listen
  bool wide;

  std::uint32_t cycles() const { return wide ? (words + 1) / 2 : words; }
};

/// Control of the input multiplexer and the memory pointer: from cycle `start` of the phase, what
/// `source` sent `latency` cycles before is written to `address` and after.
struct Receive {
  std::uint32_t start;
  std::uint32_t words;
  std::uint32_t address;
  TileId source;
  std::uint32_t source_address;
  std::uint16_t latency;
  bool wide;

  std::uint32_t cycles() const { return wide ? (words + 1) / 2 : words; }
};

/// What a plan does to one tile.
struct TileTraffic {
  std::uint64_t sent = 0;       // words put on the fabric; a multicast once
  std::uint64_t received = 0;   // words written
  std::uint64_t fragments = 0;  // received
  std::uint64_t conflicts = 0;  // cycles in which it sends from the plain element it receives into
  std::uint64_t busy = 0;       // cycles in which it sends or receives
  std::uint64_t end = 0;        // cycles until its last word has left or landed
};

/// The exchange programs of all tiles for one phase. Made at compile time, so that no tile sends
/// or receives two words in a cycle (a pair at double width: two), and executed as written.
struct ExchangePlan {
  std::vector<std::uint32_t> send_first;  // of a tile, one more at the end
  std::vector<Send> sends;                // by tile, then by start
  std::vector<std::uint32_t> receive_first;
  std::vector<Receive> receives;  // by tile, then by start
  std::vector<TileTraffic> traffic;
  std::uint32_t memory_begin = 0;  // as in TransferList
  Cycle length = 0;                // from the release of the barrier until the last word has landed
  Cycle bound = 0;  // no plan could be shorter: busiest port or receive control, and the latency
};

/// The time of a word from `sender`'s send instruction to `receiver`'s memory.
unsigned exchange_latency(const ChipParams& params, TileId sender, TileId receiver);

}  // namespace lacuna::ipu
