// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/system/event_kinds.hpp"
#include "models/system/program.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::system {

/// Where the nanoseconds of a chip go, with an event where each use begins and ends.
class UseBook {
 public:
  UseBook(std::uint32_t unit, EventLog& log) : unit_(unit), log_(log) {}

  void begin(Cycle now, Use use) {
    if (open_ && use_ == use) return;
    end(now);
    open_ = true;
    use_ = use;
    log_.record(now, unit_, first_of(use));
  }

  /// Before cycle `now`.
  void end(Cycle now) {
    if (open_) log_.record(now - 1, unit_, last_of(use_));
    open_ = false;
  }

  /// So many nanoseconds of a use, or of the one that has begun.
  void book(Use use, Cycle ns) { time_[use] += ns; }
  void book(Cycle ns) { book(use_, ns); }

  Use use() const { return use_; }
  const TimeStack& time() const { return time_; }

 private:
  std::uint32_t unit_;
  EventLog& log_;
  TimeStack time_{};
  bool open_ = false;
  Use use_ = Use::forward;  // that has begun last
};

}  // namespace lacuna::system
