// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"

namespace lacuna::wse {

/// A color that a core takes from, or gives to, its router. A word for the router waits in
/// `queue` and goes over `ramp`.
struct CorePort {
  Color color{};
  LinkId queue = kNoLink;
  LinkId ramp = kNoLink;
};

/// The links between a core and its router, and its place.
struct CorePorts {
  UnitId unit = 0;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  LinkId weights = kNoLink;
  LinkId ring_in = kNoLink;
  LinkId ring_out = kNoLink;  // the output queue
  LinkId ramp_up = kNoLink;   // from there to the router
  std::vector<CorePort> in;   // all that come down the ramp; of these `queue` alone
  std::vector<CorePort> out;
};

/// All cores of a wafer, which run the same kind of kernel. A cycle of a core is performed by
/// step(); cycles in which it slept are accounted for by the next step() or settle().
class CoreArray {
 public:
  CoreArray() = default;
  CoreArray(const CoreArray&) = delete;
  CoreArray& operator=(const CoreArray&) = delete;
  virtual ~CoreArray() = default;

  virtual void add(const CorePorts& ports) = 0;

  /// Performs cycle `now`. Returns the next cycle in which the core could act if nothing arrives.
  virtual Cycle step(std::size_t index, Cycle now) = 0;

  /// Accounts for the cycles before `now`, in which nothing happened.
  virtual void account(std::size_t index, Cycle now) = 0;

  /// Accounts for the cycles before `now` and ends the open records of the event log.
  virtual void settle(std::size_t index, Cycle now) = 0;

  virtual std::size_t size() const = 0;
  virtual std::size_t finished() const = 0;
  virtual const CoreCounters& counters(std::size_t core) const = 0;

  /// What the core waits for; empty if it has finished.
  virtual std::string blocked(std::size_t index) const = 0;

  /// The results of a core, if values are carried.
  virtual std::vector<float> result(std::size_t core) const = 0;

  /// The words of results that a core took from other groups of columns, if values are carried.
  virtual std::vector<std::uint32_t> taken(std::size_t /*core*/) const { return {}; }
};

}  // namespace lacuna::wse
