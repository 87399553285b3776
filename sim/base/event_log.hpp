// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "sim/base/cycle.hpp"

namespace lacuna {

/// One thing that happened: in `cycle`, at `unit` (the machine names units), of `kind` (the
/// machine has a name table of kinds), with an argument whose meaning the kind gives.
struct Event {
  Cycle cycle;
  std::uint32_t unit;
  std::uint16_t kind;
  std::uint64_t argument;
};

inline bool operator==(const Event& a, const Event& b) {
  return std::tie(a.cycle, a.unit, a.kind, a.argument) ==
         std::tie(b.cycle, b.unit, b.kind, b.argument);
}

/// Records events if it is on. A unit records its own events in an order that does not depend on
/// the engine; sorted() puts the units in an order that does not depend on stepping.
class EventLog {
 public:
  void enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }

  void record(Cycle cycle, std::size_t unit, std::uint16_t kind, std::uint64_t argument = 0) {
    if (enabled_) events_.push_back({cycle, static_cast<std::uint32_t>(unit), kind, argument});
  }

  /// By cycle, then unit; events of one unit in one cycle stay in the order they were recorded.
  std::vector<Event> sorted() const {
    std::vector<Event> events = events_;
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.cycle, a.unit) < std::tie(b.cycle, b.unit);
    });
    return events;
  }

 private:
  bool enabled_ = false;
  std::vector<Event> events_;
};

}  // namespace lacuna
