// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/carrier.hpp"
#include "models/system/program.hpp"
#include "models/system/wiring.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// What a chip tells the conductor: that it has come to a barrier of the segment, or to its end.
struct Arrival {
  std::uint32_t chip = 0;
  std::uint32_t barrier = 0;
};
inline constexpr std::uint32_t kEndBarrier = 0xffffffff;

/// What the conductor tells a chip: to go on, and when the last of the chips had come.
struct Release {
  Cycle last_arrival = 0;
};

/// A chip of a system: does the steps of its lanes, whose times come from a model of the chip, and
/// then waits at the barrier that ends a segment. The tiles' lane keeps the accounts.
class ChipNode : public sc_core::sc_module, public Clocked {
 public:
  /// `arrived` counts the chunks of each transfer that are there; a chip touches those of its own.
  ChipNode(const sc_core::sc_module_name& name, ClockDomain& clock, const ChipSteps& steps,
           const Wiring& wiring, std::uint32_t unit, std::vector<std::uint64_t>& arrived,
           EventLog& log);

  ChunkIn in{"in"};
  ChunkOut out{"out"};
  sc_core::sc_port<PushIf<Arrival>> arrive{"arrive"};
  sc_core::sc_port<PopIf<Release>> release{"release"};

  /// Where its nanoseconds went.
  const TimeStack& time() const { return time_; }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override;
  std::string blocked() const override;

 private:
  struct Lane {
    std::size_t next = 0;  // step
    bool works = false;
    Cycle until = 0;  // the first cycle after the work under way
  };

  void receive_chunks(Cycle now);
  bool advance(std::size_t lane, Cycle now);
  bool done(const Step& step, Lane& lane, Cycle now);
  bool pass_barrier(std::uint32_t barrier, Cycle now);
  void send(std::uint32_t transfer, Cycle now);
  bool finished() const;
  void begin(Cycle now, Use use);
  void end(Cycle now);
  void leave_barrier(Cycle now);
  Cycle take_bubble(Cycle ns);
  std::uint64_t& time(Use use) { return time_[static_cast<std::size_t>(use)]; }
  Cycle next_end() const;

  ClockDomain& clock_;
  const ChipSteps& steps_;
  const Wiring& wiring_;
  std::uint32_t unit_;
  EventLog& log_;
  TimeStack time_{};
  std::array<Lane, kLanes> lanes_;
  std::vector<std::uint64_t>& arrived_;
  Cycle bubble_ns_ = 0;     // that waits for other chips still are of the bubble
  bool waits_ = false;      // at a barrier within the segment
  Cycle arrival_ = kNever;  // at the barrier that ends it
  bool open_ = false;       // a use has begun
  Use use_ = Use::forward;  // the one
};

}  // namespace lacuna::system
