// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/event_kinds.hpp"
#include "models/system/memoryx.hpp"
#include "models/system/swarmx.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// A wafer of a system. The time of a pass comes from the model of the wafer; a chunk of its
/// weights takes its share of that, from when it is there and the chunk before is through, and
/// gives its share of the gradients.
class WaferNode : public sc_core::sc_module, public Clocked {
 public:
  WaferNode(const sc_core::sc_module_name& name, ClockDomain& clock, std::uint32_t index,
            const std::vector<WaferPass>& passes, WaferCountdown& countdown, EventLog& log);

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Where its nanoseconds went.
  const TimeStack& time() const { return time_; }
  const std::vector<Cycle>& begins() const { return begins_; }
  const std::vector<Cycle>& ends() const { return ends_; }

  /// The run has ended: what the wafer did last ends in the log.
  void end(Cycle ns) { log_.record(ns - 1, index_, last_of(use_)); }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override { time(use_) += to - from; }
  std::string blocked() const override;

 private:
  std::uint64_t share_ns(std::uint32_t chunk) const;
  bool send(Cycle now);
  Cycle book(Cycle now, Use use, Cycle next);
  std::uint64_t& time(Use use) { return time_[static_cast<std::size_t>(use)]; }

  ClockDomain& clock_;
  const std::uint32_t index_;
  const std::vector<WaferPass>& passes_;
  WaferCountdown& countdown_;
  TimeStack time_{};
  EventLog& log_;
  Use use_ = Use::weights;
  std::uint32_t pass_ = 0;
  std::uint32_t chunk_ = 0;  // under way, or the next
  std::uint32_t sent_ = 0;   // chunks of gradients of the pass
  bool works_ = false;
  Cycle until_ = 0;
  std::vector<Cycle> begins_;
  std::vector<Cycle> ends_;
};

}  // namespace lacuna::system
