// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
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

/// What is kept of a log.
struct EventScope {
  std::uint64_t kinds = ~std::uint64_t{0};  // a bit for each
  Cycle from = 0;                           // events of cycles in [from, to)
  Cycle to = ~Cycle{0};
  std::vector<bool> units = {};  // empty: of all
  std::size_t most = ~std::size_t{0};
};

/// Records events if it is on. A unit records its own events in an order that does not depend on
/// the engine; sorted() puts the units in an order that does not depend on stepping.
class EventLog {
 public:
  void enable(EventScope scope = {}) {
    enabled_ = true;
    scope_ = std::move(scope);
  }
  bool enabled() const { return enabled_; }
  bool keeps(std::uint16_t kind) const { return enabled_ && (scope_.kinds >> kind & 1U) != 0; }

  void record(Cycle cycle, std::size_t unit, std::uint16_t kind, std::uint64_t argument = 0) {
    record_run(cycle, 1, unit, kind, argument);
  }

  /// Of what began in `cycle` and took `length` cycles.
  void record_run(Cycle cycle, Cycle length, std::size_t unit, std::uint16_t kind,
                  std::uint64_t argument) {
    if (!keeps(kind) || cycle >= scope_.to || cycle + length <= scope_.from) return;
    if (!scope_.units.empty() && !scope_.units[unit]) return;
    if (events_.size() == scope_.most) {
      overflowed_ = true;
      return;
    }
    events_.push_back({cycle, static_cast<std::uint32_t>(unit), kind, argument});
  }

  /// True if there were more events than are kept at most.
  bool overflowed() const { return overflowed_; }

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
  bool overflowed_ = false;
  EventScope scope_;
  std::vector<Event> events_;
};

}  // namespace lacuna
