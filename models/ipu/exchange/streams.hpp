// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/exchange/plan.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {

/// What one send instruction puts on the fabric: a transfer, or the part of one that goes to
/// whole pairs at double width, or the part that does not.
struct Stream {
  Place source{};
  std::uint32_t words = 0;
  std::uint32_t first = 0;  // of its destinations in StreamList::destinations
  std::uint32_t count = 0;
  bool wide = false;
  bool leftover = false;  // the part of a transfer that does not go to pairs, though another does

  std::uint32_t cycles() const { return wide ? (words + 1) / 2 : words; }
};

/// Streams that are sent one right after another because they go from one tile to the same tiles:
/// what is scheduled as a whole.
struct Train {
  TileId source;
  std::uint32_t first_stream;
  std::uint32_t streams;
  std::uint32_t first;  // of its receivers in StreamList::receivers
  std::uint32_t count;
  std::uint32_t cycles;  // it occupies the sender
  std::uint32_t held;    // it occupies each receiver
  bool wide;
  bool leftover;
};

/// A receiver of a train: the tile, and which of the destinations of each of its streams it is.
struct TrainReceiver {
  TileId tile;
  std::uint32_t position;
};

/// The streams of an exchange, and the trains that carry them.
struct StreamList {
  std::vector<Stream> streams;  // by source
  std::vector<Place> destinations;
  std::vector<Train> trains;  // by source
  std::vector<TrainReceiver> receivers;
};

/// The chip as the exchange of `list` finds it: with the limits that the list has of its own.
ChipParams exchange_params(const ChipParams& params, const TransferList& list);

/// Checks a list (InternalError) and decides what is sent at double width. That is a fragment of at
/// least `paired_words`, to its complete pairs, if they are busier receiving than sender and
/// partner are sending.
StreamList make_streams(const ChipParams& params, const TransferList& list);

inline std::uint32_t train_latency(const LatencyTable& latencies, const Train& train,
                                   TileId receiver) {
  return train.wide ? latencies.paired_latency(train.source, receiver)
                    : latencies.latency(train.source, receiver);
}

/// How long one fragment of so many cycles occupies its receiver.
inline std::uint32_t held_cycles(const ChipParams& params, std::uint32_t cycles) {
  return std::max<std::uint32_t>(cycles, params.exchange.control_events);
}

/// The cycles each tile's ports are busy at least.
struct PortLoads {
  std::vector<std::uint64_t> send;  // lending its port to its partner included
  std::vector<std::uint64_t> receive;
};
PortLoads port_loads(const ChipParams& params, const StreamList& streams);

/// No schedule of these streams can be shorter: the busiest port, and the shortest way.
Cycle lower_bound(const ChipParams& params, const LatencyTable& latencies,
                  const StreamList& streams);

}  // namespace lacuna::ipu
