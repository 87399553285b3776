// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <systemc>

#include "models/system/event_kinds.hpp"
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
          const Wiring& wiring, std::uint32_t unit, EventLog& log)
      : sc_module(name),
        clock_(clock),
        resource_(resource),
        wiring_(wiring),
        unit_(unit),
        log_(log) {}

  ChunkIn in{"in"};
  ChunkOut out{"out"};

  /// Nanoseconds in which a chunk was carried, and bytes of all.
  std::uint64_t busy_ns() const { return busy_ns_; }
  std::uint64_t bytes() const { return bytes_; }

  Cycle step(Cycle now) override {
    if (!carries_) carries_ = take(now);
    if (!carries_) return kNever;  // a channel wakes it
    ++busy_ns_;
    if (now < last_) return last_;
    log_.record(now, unit_, kCarryLast, chunk_.transfer);
    bytes_ += chunk_.bytes;
    const auto output = static_cast<int>(wiring_.output(chunk_));
    ++chunk_.hop;
    out[output]->push(now, chunk_);
    carries_ = false;
    return now + 1;
  }

  void skip(Cycle from, Cycle to) override {
    if (carries_) busy_ns_ += to - from;
  }

  std::string blocked() const override {
    return carries_ ? fmt::format("carries a chunk of transfer {}", chunk_.transfer) : "";
  }

 private:
  bool take(Cycle now) {
    for (int i = 0; i < in.size(); ++i) {
      const int from = (next_input_ + i) % in.size();
      if (!in[from]->can_pop(now)) continue;
      chunk_ = in[from]->pop(now);
      next_input_ = from + 1;
      last_ = now + resource_.ns(chunk_.bytes) - 1;
      clock_.moved(last_);
      log_.record(now, unit_, kCarryFirst, chunk_.transfer);
      return true;
    }
    return false;
  }

  ClockDomain& clock_;
  const Resource& resource_;
  const Wiring& wiring_;
  std::uint32_t unit_;
  EventLog& log_;
  std::uint64_t busy_ns_ = 0;
  std::uint64_t bytes_ = 0;
  Chunk chunk_;
  bool carries_ = false;
  Cycle last_ = 0;      // cycle in which the chunk is carried
  int next_input_ = 0;  // the input to look at first
};

}  // namespace lacuna::system
