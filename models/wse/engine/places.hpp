// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/router.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

/// A core and its router: one of many in arrays, or, of a module, the only one.
template <class Cores>
struct Place {
  RouterArray& routers;
  Cores& cores;
  std::size_t number = 0;

  /// Accounts for the cycles before `at`, in which nothing happened.
  void account(Cycle at) const {
    routers.account(number, at);
    cores.account(number, at);
  }
  const RouterCounters& router() const { return routers.counters(number); }
  const auto& core() const { return cores.counters(number); }
};

/// A wafer of routers and cores, be they arrays or modules; its places are row-major.
template <class Cores>
class Places {
 public:
  virtual ~Places() = default;

  virtual std::size_t size() const = 0;
  virtual Place<Cores> place(std::size_t number) = 0;

  /// Nothing is left to do.
  virtual bool done() const = 0;
  /// InternalError if a word is left anywhere.
  virtual void check_empty() const = 0;

  const EventLog& log() const { return log_; }

  /// The run is over: accounts for the units asleep, and ends the records of the log.
  void end_units(Cycle end) {
    for (std::size_t i = 0; i < size(); ++i) {
      const Place<Cores> unit = place(i);
      unit.routers.account(unit.number, end);
      unit.cores.settle(unit.number, end);
    }
  }

  /// Moves what the log has into the outcome of the run.
  template <class Outcome>
  void take_events(Outcome& outcome) const {
    outcome.events = log_.sorted();
    outcome.events_left_out = log_.overflowed();
  }

 protected:
  EventLog log_;
};

}  // namespace lacuna::wse
