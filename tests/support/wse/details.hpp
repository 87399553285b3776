// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

/// Takes the details out of a log, which keeps what is compared with the oracle's.
inline std::vector<Event> take_details(std::vector<Event>& events) {
  const auto plain = std::stable_partition(events.begin(), events.end(),
                                           [](const Event& e) { return e.kind < kWordPass; });
  std::vector<Event> details(plain, events.end());
  events.erase(plain, events.end());
  return details;
}

/// The details of several ways to simulate the same, which have to be those of the first.
class SameDetails {
 public:
  /// False if they are others.
  bool take(std::vector<Event>& events) {
    std::vector<Event> details = take_details(events);
    if (!first_) {
      first_ = std::move(details);
      return true;
    }
    return details == *first_;
  }

 private:
  std::optional<std::vector<Event>> first_;
};

}  // namespace lacuna::wse
