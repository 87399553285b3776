// SPDX-License-Identifier: Apache-2.0
#include "models/system/conductor.hpp"

#include <fmt/format.h>

namespace lacuna::system {

Conductor::Conductor(const sc_core::sc_module_name& name, ClockDomain& clock,
                     const std::vector<Barrier>& barriers, std::uint32_t chips,
                     std::uint64_t end_ns)
    : sc_module(name),
      clock_(clock),
      barriers_(barriers),
      end_{chips, end_ns},
      waiting_(barriers.size() + 1) {}

/// A chip came in the cycle before `now`.
void Conductor::arrived(const Arrival& arrival, Cycle now) {
  const bool ends = arrival.barrier == kEndBarrier;
  const std::size_t place = ends ? barriers_.size() : arrival.barrier;
  const Barrier& barrier = ends ? end_ : barriers_[place];
  waiting_[place].push_back(arrival.chip);
  if (waiting_[place].size() < barrier.chips) return;
  const Cycle last = now - 1;
  clock_.moved(last + barrier.ns);
  if (ends) clock_.stop(last + barrier.ns - 1);
  // a token is seen in the cycle after that in which it is pushed
  due_.emplace(last + barrier.ns - (ends ? 2 : 1), std::make_pair(place, last));
}

Cycle Conductor::step(Cycle now) {
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

std::string Conductor::blocked() const {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const std::uint32_t chips = i < barriers_.size() ? barriers_[i].chips : end_.chips;
    if (waiting_[i].empty() || waiting_[i].size() == chips) continue;
    return fmt::format("barrier {}: {} of {} chips have come", i, waiting_[i].size(), chips);
  }
  return "";
}

}  // namespace lacuna::system
