// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/system/chip_node.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// Holds the barriers of a segment. Where the last chip comes in cycle a, the chips go on in cycle
/// a + ns. The barrier at the end is of all chips: they are released in cycle a + ns - 1, the last
/// of the segment.
class Conductor : public sc_core::sc_module, public Clocked {
 public:
  /// `end_ns` is at least 3.
  Conductor(const sc_core::sc_module_name& name, ClockDomain& clock, std::vector<Barrier> barriers,
            std::uint32_t chips, std::uint64_t end_ns)
      : sc_module(name),
        clock_(clock),
        barriers_(std::move(barriers)),
        waiting_(barriers_.size() + 1) {
    barriers_.push_back({chips, end_ns});
  }

  sc_core::sc_port<PopIf<Arrival>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> arrive{"arrive"};
  sc_core::sc_port<PushIf<Release>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> release{"release"};

  Cycle step(Cycle now) override {
    for (int i = 0; i < arrive.size(); ++i) {
      while (arrive[i]->can_pop(now)) arrived(arrive[i]->pop(now), now);
    }
    while (!due_.empty() && due_.begin()->first <= now) {
      const auto [place, last] = due_.begin()->second;
      due_.erase(due_.begin());
      for (const std::uint32_t chip : waiting_[place]) {
        release[static_cast<int>(chip)]->push(now, {last});
      }
    }
    return due_.empty() ? kNever : due_.begin()->first;
  }

  void skip(Cycle /*from*/, Cycle /*to*/) override {}

  std::string blocked() const override {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::size_t came = waiting_[i].size();
      if (came == 0 || came == barriers_[i].chips) continue;
      return fmt::format("barrier {}: {} of {} chips have come", i, came, barriers_[i].chips);
    }
    return "";
  }

 private:
  /// A chip came in the cycle before `now`.
  void arrived(const Arrival& arrival, Cycle now) {
    const bool ends = arrival.barrier == kEndBarrier;
    const std::size_t place = ends ? barriers_.size() - 1 : arrival.barrier;
    const Barrier& barrier = barriers_[place];
    waiting_[place].push_back(arrival.chip);
    if (waiting_[place].size() < barrier.chips) return;
    const Cycle last = now - 1;
    clock_.moved(last + barrier.ns);
    if (ends) clock_.stop(last + barrier.ns - 1);
    // a token is seen in the cycle after that in which it is pushed
    due_.emplace(last + barrier.ns - (ends ? 2 : 1), std::make_pair(place, last));
  }

  ClockDomain& clock_;
  std::vector<Barrier> barriers_;                            // the end is the last
  std::vector<std::vector<std::uint32_t>> waiting_;          // chips, by barrier
  std::multimap<Cycle, std::pair<std::size_t, Cycle>> due_;  // when to release, and last arrivals
};

}  // namespace lacuna::system
