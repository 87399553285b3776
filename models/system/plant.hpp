// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/execution.hpp"
#include "models/system/program.hpp"
#include "sim/base/error.hpp"
#include "sim/base/event_log.hpp"
#include "sim/base/mix.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::system {

/// What the modules of every system have: a clock of whole nanoseconds, a log of events, and wires
/// over which tokens go, delayed as the execution says.
template <typename Token>
class Plant {
 protected:
  explicit Plant(const SystemExecution& execution)
      : clock_("clock", sc_core::sc_time(1, sc_core::SC_NS), execution.engine),
        execution_(execution) {
    clock_.shuffle(execution.shuffle);
    if (execution.event_log) log_.enable();
  }

  Channel<Token>& wire(std::size_t capacity, Cycle latency) {
    wires_.push_back(std::make_unique<Channel<Token>>(clock_, capacity, latency));
    if (execution_.jitter != 0) {
      wires_.back()->jitter(execution_.jitter, mix(execution_.jitter_seed + wires_.size()));
    }
    return *wires_.back();
  }

  /// Makes a module of this name, and has the clock step it.
  template <typename Module, typename... Arguments>
  Module& add(std::vector<std::unique_ptr<Module>>& to, const std::string& name,
              Arguments&... arguments) {
    to.push_back(std::make_unique<Module>(name.c_str(), arguments...));
    clock_.add(*to.back(), name);
    return *to.back();
  }

  /// The time of a chip, of which every nanosecond is booked in one part; else AccountingError.
  template <typename Chip>
  static const TimeStack& checked_time(const Chip& chip, Cycle ns) {
    const TimeStack& time = chip.time();
    const std::uint64_t booked = std::accumulate(time.begin(), time.end(), std::uint64_t{0});
    if (booked == ns) return time;
    throw AccountingError(fmt::format("{}: {} ns are booked of {}", chip.name(), booked, ns));
  }

  ClockDomain clock_;
  EventLog log_;

 private:
  const SystemExecution& execution_;
  std::vector<std::unique_ptr<Channel<Token>>> wires_;
};

/// Makes a plant in a simulation of its own, and runs it.
template <typename Made, typename... Arguments>
auto run_plant(const Arguments&... arguments) {
  const SimContext context;
  sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
  return Made(arguments...).run();
}

}  // namespace lacuna::system
