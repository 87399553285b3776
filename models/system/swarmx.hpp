// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// A part of a layer's weights or gradients on its way; each hop has all of it before the next.
struct SwarmChunk {
  std::uint32_t pass = 0;
  std::uint32_t index = 0;  // within the pass, weights and gradients apart
  std::uint32_t bytes = 0;
};

/// Whole nanoseconds at a rate that is no whole number of bytes in each: what a chunk leaves over
/// counts for the next, if that follows without a gap.
class SwarmPace {
 public:
  explicit SwarmPace(std::uint64_t bytes_per_us) : bytes_per_us_(bytes_per_us) {}

  /// The cycle in which a chunk that begins in `now` has passed; it takes at least that one.
  Cycle last(Cycle now, std::uint64_t bytes) {
    if (now != free_) rest_ = 0;
    const std::uint64_t work = bytes * 1000 + rest_;
    const std::uint64_t ns = work / bytes_per_us_;
    rest_ = ns == 0 ? 0 : work % bytes_per_us_;
    free_ = now + (ns == 0 ? 1 : ns);
    return free_ - 1;
  }

 private:
  std::uint64_t bytes_per_us_;
  std::uint64_t rest_ = 0;
  Cycle free_ = kNever;
};

/// A link between two levels, with weights down and gradients up. A chunk is taken when there is
/// room for it at the other end, and handed on in the last cycle it takes. Half duplex: one
/// chunk at a time, the directions by turns if both have one.
class SwarmLink : public sc_core::sc_module, public Clocked {
 public:
  SwarmLink(const sc_core::sc_module_name& name, ClockDomain& clock, std::uint64_t bytes_per_us,
            bool half_duplex);

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> down_out{"down_out"};
  sc_core::sc_port<PopIf<SwarmChunk>> up_in{"up_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Nanoseconds in which a chunk was carried; bytes of weights, and of gradients.
  std::uint64_t busy_ns() const { return busy_ns_; }
  std::uint64_t down_bytes() const { return bytes_[0]; }
  std::uint64_t up_bytes() const { return bytes_[1]; }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override;
  std::string blocked() const override;

 private:
  struct Lane {
    SwarmPace pace;
    SwarmChunk chunk;
    bool carries = false;
    Cycle last = 0;
  };

  bool take(std::size_t which, Cycle now);
  bool carries() const { return lanes_[0].carries || lanes_[1].carries; }

  ClockDomain& clock_;
  const bool half_duplex_;
  std::uint64_t busy_ns_ = 0;
  std::array<std::uint64_t, 2> bytes_{};
  std::array<Lane, 2> lanes_;  // down, up
  std::size_t turn_ = 0;       // the lane to look at first
};

/// A node of the tree: hands each chunk of weights to all children at once, when all have room,
/// and adds up a chunk of gradients when it has those of all children.
class SwarmNode : public sc_core::sc_module, public Clocked {
 public:
  explicit SwarmNode(const sc_core::sc_module_name& name) : sc_module(name) {}

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>, 0> down_out{"down_out"};
  sc_core::sc_port<PopIf<SwarmChunk>, 0> up_in{"up_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Bytes of gradients of its children.
  std::uint64_t added_bytes() const { return added_bytes_; }

  Cycle step(Cycle now) override;
  void skip(Cycle /*from*/, Cycle /*to*/) override {}
  std::string blocked() const override { return ""; }

 private:
  bool copy(Cycle now);
  bool add(Cycle now);

  std::uint64_t added_bytes_ = 0;
};

}  // namespace lacuna::system
