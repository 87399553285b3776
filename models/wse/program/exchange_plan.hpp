// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// How groups of columns that share the rows of a product tell each other their results. A row of
/// sums that a column has kept goes, as a packet of its words and a control wavelet, to the columns
/// of the same place in all other groups, along a row of cores.
///
/// Of groups side by side a bus is a color that runs from neighbouring columns of one group
/// eastwards, or westwards, past all that follow. These senders put a packet each on it, in a fixed
/// order, round after round: the switch of a sender's router lets pass what comes from those before
/// it, then its own, and is moved by the control wavelets. Routers of other groups copy every word
/// to those cores that take from the bus, and filters there pass one packet in a round. Of groups
/// that are interleaved a color each way is a bus of the columns of each place, which are
/// neighbours: each sends after those before it, and takes every packet of theirs.
struct ExchangePlan {
  struct Bus {
    Color color{};
    bool east = false;
    std::uint32_t senders = 0;  // of a round
  };
  /// What a column's router and core do on a bus.
  struct Part {
    std::uint32_t bus = 0;
    bool sends = false;
    bool takes = false;          // words are copied to its core,
    bool every = false;          // and the filter passes every packet
    bool passes = false;         // words of others go on to the next column
    std::uint32_t upstream = 0;  // senders whose words come here
    std::uint32_t turn = 0;      // of a round, packets that come before its own, or that it takes
  };
  struct Send {
    std::uint32_t bus = 0;
    SwitchCommands control = 0;  // of its packets
    std::uint32_t copies = 0;    // groups that take them
  };
  struct Take {
    std::uint32_t bus = 0;
    std::uint32_t sender = 0;  // column
  };
  struct Column {
    std::vector<Part> parts;
    std::vector<Send> sends;  // an instruction each for every packet
    std::vector<Take> takes;  // of each round in this order
    std::uint32_t keeps = 0;  // rows; the rest of its packets, of `packets`, says nothing
  };

  std::vector<Bus> buses;
  std::vector<Column> columns;
  std::uint32_t colors = 0;       // that buses have, a bit each
  std::uint32_t packets = 0;      // of each sender and bus: rows of the column that keeps most
  std::uint32_t send_cycles = 1;  // of a beat that reads results
  std::uint32_t take_cycles = 1;  // and of one that writes them

  bool on() const { return !buses.empty(); }
  bool has(Color color) const { return (colors >> static_cast<unsigned>(color) & 1U) != 0; }
};

}  // namespace lacuna::wse
