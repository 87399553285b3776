// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "models/system/wiring.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// The ports of a block that chunks come to and leave from.
using ChunkIn = sc_core::sc_port<PopIf<Chunk>, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;
using ChunkOut = sc_core::sc_port<PushIf<Chunk>, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// A resource: carries one chunk at a time, of its inputs in turn, in whole nanoseconds. A chunk
/// taken in cycle t that takes n is handed on in cycle t + n - 1; the output adds the latency.
class Carrier : public sc_core::sc_module, public Clocked {
 public:
  Carrier(const sc_core::sc_module_name& name, ClockDomain& clock, const Resource& resource,
          const Wiring& wiring, std::uint32_t unit, EventLog& log);

  ChunkIn in{"in"};
  ChunkOut out{"out"};

  /// Nanoseconds in which a chunk was carried, and bytes of all.
  std::uint64_t busy_ns() const { return busy_ns_; }
  std::uint64_t bytes() const { return bytes_; }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override;
  std::string blocked() const override;

 private:
  bool take(Cycle now);

  ClockDomain& clock_;
  const Resource& resource_;
  const Wiring& wiring_;
  std::uint32_t unit_;
  EventLog& log_;
  std::uint64_t busy_ns_ = 0;
  std::uint64_t bytes_ = 0;
  Chunk chunk_;
  bool carries_ = false;
  Cycle last_ = 0;  // cycle in which the chunk is carried
  int turn_ = 0;    // the input to look at first
};

}  // namespace lacuna::system
