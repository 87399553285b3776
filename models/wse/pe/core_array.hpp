// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/wse/fabric/link.hpp"

namespace lacuna::wse {

/// A color that a core takes from, or gives to, its router. A word for the router waits in `queue`,
/// which other colors may use too, and goes over `ramp`.
struct CorePort {
  Color color{};
  LinkId queue = kNoLink;
  LinkId ramp = kNoLink;
};

/// The queue of a color; kNoLink if there is none.
inline LinkId queue_of(const std::vector<CorePort>& ports, Color color) {
  for (const CorePort& port : ports) {
    if (port.color == color) return port.queue;
  }
  return kNoLink;
}

/// The links between a core and its router, and its place.
struct CorePorts {
  UnitId unit = 0;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::vector<CorePort> in;  // of these `queue` alone
  std::vector<CorePort> out;
};

/// All cores of a wafer, which do the same kind of work. A cycle of a core is performed by step();
/// cycles in which it slept are accounted for by the next step() or settle().
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

  /// Accounts for the cycles before `now`, after which the core does nothing, and ends the open
  /// records of the event log.
  virtual void settle(std::size_t index, Cycle now) = 0;

  virtual std::size_t size() const = 0;

  /// How many have nothing to do unless a word comes.
  virtual std::size_t finished() const = 0;

  /// What the core waits for; empty if it has nothing to do.
  virtual std::string blocked(std::size_t index) const = 0;
};

}  // namespace lacuna::wse
