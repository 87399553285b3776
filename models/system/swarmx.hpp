// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <systemc>

#include "sim/base/error.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// A part of a layer's weights or gradients on its way; each hop has all of it before the next.
struct SwarmChunk {
  std::uint32_t pass = 0;
  std::uint32_t index = 0;  // within the pass, weights and gradients apart
  std::uint32_t bytes = 0;
};

/// What carries one chunk at a time, in whole nanoseconds. Its rate is no whole number of bytes in
/// each: what a chunk leaves over counts for the next, if that follows without a gap.
class SwarmLane {
 public:
  explicit SwarmLane(std::uint64_t bytes_per_us) : bytes_per_us_(bytes_per_us) {}

  /// Takes a chunk in cycle `now`, which it has for at least that one.
  void take(const SwarmChunk& chunk, Cycle now, ClockDomain& clock) {
    if (now != free_) rest_ = 0;
    const std::uint64_t work = std::uint64_t{chunk.bytes} * 1000 + rest_;
    const std::uint64_t ns = work / bytes_per_us_;
    rest_ = ns == 0 ? 0 : work % bytes_per_us_;
    free_ = now + (ns == 0 ? 1 : ns);
    chunk_ = chunk;
    carries_ = true;
    clock.moved(last());
  }

  /// The chunk leaves in the last cycle that it takes.
  bool is_last(Cycle now) const { return carries_ && now >= last(); }
  void leave() { carries_ = false; }

  const SwarmChunk& chunk() const { return chunk_; }
  bool carries() const { return carries_; }
  Cycle last() const { return free_ - 1; }

  /// When it has to be looked at next.
  Cycle next() const { return carries_ ? last() : kNever; }

 private:
  std::uint64_t bytes_per_us_;
  std::uint64_t rest_ = 0;
  Cycle free_ = kNever;
  SwarmChunk chunk_;
  bool carries_ = false;
};

/// A link between two levels, with weights down and gradients up. A chunk is taken when there is
/// room for it at the other end, and handed on in the last cycle it takes. Half duplex: one
/// chunk at a time, the directions by turns if both have one.
class SwarmLink : public sc_core::sc_module, public Clocked {
 public:
  SwarmLink(const sc_core::sc_module_name& name, ClockDomain& clock, std::uint64_t bytes_per_us,
            bool half_duplex)
      : sc_module(name),
        clock_(clock),
        half_duplex_(half_duplex),
        lanes_{SwarmLane(bytes_per_us), SwarmLane(bytes_per_us)} {}

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> down_out{"down_out"};
  sc_core::sc_port<PopIf<SwarmChunk>> up_in{"up_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Nanoseconds in which a chunk was carried; bytes of weights, and of gradients.
  std::uint64_t busy_ns() const { return busy_ns_; }
  std::uint64_t down_bytes() const { return bytes_[kDown]; }
  std::uint64_t up_bytes() const { return bytes_[kUp]; }

  Cycle step(Cycle now) override {
    const std::size_t first = next_lane_;
    take(first, now);
    take(1 - first, now);
    if (!carries()) return kNever;  // a channel wakes it
    ++busy_ns_;
    Cycle next = kNever;
    for (const std::size_t which : {kDown, kUp}) {
      SwarmLane& lane = lanes_.at(which);
      if (lane.is_last(now)) {
        (which == kDown ? down_out : up_out)->push(now, lane.chunk());
        bytes_.at(which) += lane.chunk().bytes;
        lane.leave();
        next = now + 1;
      } else {
        next = std::min(next, lane.next());
      }
    }
    return next;
  }

  void skip(Cycle from, Cycle to) override {
    if (carries()) busy_ns_ += to - from;
  }

  std::string blocked() const override {
    return carries() ? fmt::format("carries a chunk of pass {}",
                                   lanes_[lanes_[kDown].carries() ? kDown : kUp].chunk().pass)
                     : "";
  }

 private:
  static constexpr std::size_t kDown = 0;
  static constexpr std::size_t kUp = 1;

  void take(std::size_t which, Cycle now) {
    if (lanes_.at(which).carries() || (half_duplex_ && carries())) return;
    PopIf<SwarmChunk>& in = which == kDown ? *down_in.operator->() : *up_in.operator->();
    const PushIf<SwarmChunk>& out = which == kDown ? *down_out.operator->() : *up_out.operator->();
    if (!in.can_pop(now) || !out.can_push(now)) return;
    lanes_.at(which).take(in.pop(now), now, clock_);
    next_lane_ = 1 - which;
  }

  bool carries() const { return lanes_[kDown].carries() || lanes_[kUp].carries(); }

  ClockDomain& clock_;
  const bool half_duplex_;
  std::uint64_t busy_ns_ = 0;
  std::array<std::uint64_t, 2> bytes_{};
  std::array<SwarmLane, 2> lanes_;  // down, up
  std::size_t next_lane_ = 0;       // the lane to look at first
};

/// A node of the tree. It hands each chunk of weights to all children at once, when all have room.
/// It adds up a chunk of gradients when it has those of all children.
class SwarmNode : public sc_core::sc_module, public Clocked {
 public:
  explicit SwarmNode(const sc_core::sc_module_name& name) : sc_module(name) {}

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>, 0> down_out{"down_out"};
  sc_core::sc_port<PopIf<SwarmChunk>, 0> up_in{"up_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Bytes of gradients of its children.
  std::uint64_t added_bytes() const { return added_bytes_; }

  Cycle step(Cycle now) override {
    while (copy(now)) {
    }
    while (add(now)) {
    }
    return kNever;  // channels wake it
  }

  void skip(Cycle /*from*/, Cycle /*to*/) override {}
  std::string blocked() const override { return ""; }

 private:
  bool copy(Cycle now) {
    if (!down_in->can_pop(now)) return false;
    for (int i = 0; i < down_out.size(); ++i) {
      if (!down_out[i]->can_push(now)) return false;
    }
    const SwarmChunk chunk = down_in->pop(now);
    for (int i = 0; i < down_out.size(); ++i) down_out[i]->push(now, chunk);
    return true;
  }

  bool add(Cycle now) {
    if (!up_out->can_push(now)) return false;
    for (int i = 0; i < up_in.size(); ++i) {
      if (!up_in[i]->can_pop(now)) return false;
    }
    const SwarmChunk sum = up_in[0]->pop(now);
    for (int i = 1; i < up_in.size(); ++i) {
      const SwarmChunk part = up_in[i]->pop(now);
      if (part.pass != sum.pass || part.index != sum.index || part.bytes != sum.bytes) {
        throw InternalError("SwarmX adds up gradients of different weights");
      }
    }
    added_bytes_ += std::uint64_t{sum.bytes} * static_cast<std::uint64_t>(up_in.size());
    up_out->push(now, sum);
    return true;
  }

  std::uint64_t added_bytes_ = 0;
};

}  // namespace lacuna::system
