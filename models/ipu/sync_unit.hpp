// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/kernel/clock_domain.hpp"

namespace lacuna::ipu {

/// The barrier of all tiles: releases them a fixed time after the last arrival. It is to tiles
/// what a Channel is: what they say in a cycle is seen in a later one.
class SyncUnit {
 public:
  /// Barriers are numbered; a program has `barriers` of them at most.
  SyncUnit(ClockDomain& clock, Cycle delay, std::size_t barriers)
      : clock_(clock), delay_(delay), barriers_(barriers) {}

  /// One more block that takes part.
  void add(const Clocked& block) { members_.push_back(&block); }

  /// A member arrives in cycle `at`, which may lie ahead if it knows that nothing can stop it.
  void arrive(std::size_t barrier, Cycle at) {
    Barrier& b = barriers_[barrier];
    b.last_arrival = std::max(b.last_arrival, at);
    if (++b.arrived < members_.size()) return;
    b.release = b.last_arrival + delay_;
    clock_.moved(b.release);
    for (const Clocked* member : members_) clock_.wake(*member, b.release);
  }

  /// The cycle from which on members may pass; kNever until the last has arrived.
  Cycle release(std::size_t barrier) const { return barriers_[barrier].release; }

  /// The cycle of the last arrival.
  Cycle last_arrival(std::size_t barrier) const { return barriers_[barrier].last_arrival; }

 private:
  struct Barrier {
    std::size_t arrived = 0;
    Cycle last_arrival = 0;
    Cycle release = kNever;
  };

  ClockDomain& clock_;
  Cycle delay_;
  std::vector<Barrier> barriers_;
  std::vector<const Clocked*> members_;
};

}  // namespace lacuna::ipu
