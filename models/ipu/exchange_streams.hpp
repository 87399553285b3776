// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/exchange_plan.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {

/// What one send instruction puts on the fabric: a transfer, or the part of one that goes to
/// whole pairs at double width, or the part that does not.
struct Stream {
  Place source;
  std::uint32_t words;
  std::uint32_t first;  // of its destinations in StreamList::destinations
  std::uint32_t count;
  bool wide;
  bool leftover = false;  // the part of a transfer that does not go to pairs, though another does

  std::uint32_t cycles() const { return wide ? (words + 1) / 2 : words; }
};

struct StreamList {
  std::vector<Stream> streams;
  std::vector<Place> destinations;

  /// The numbers of the streams, ordered by their source, then as they are.
  std::vector<std::uint32_t> by_source(TileId tiles) const;
};

/// Checks a list (InternalError) and decides what is sent at double width: a fragment of at least
/// `paired_words`, to its complete pairs, if these are busier receiving than its sender and the
/// sender's partner are sending.
StreamList make_streams(const ChipParams& params, const TransferList& list);

inline std::uint32_t stream_latency(const LatencyTable& latencies, const Stream& stream,
                                    TileId receiver) {
  return stream.wide ? latencies.paired_latency(stream.source.tile, receiver)
                     : latencies.latency(stream.source.tile, receiver);
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
