// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

/// What the event log of a wafer tells, and what the argument of each kind is.
enum EventKind : std::uint16_t {
  kWordOut,         // router: color << 8 | port
  kClosure,         // router: color; first cycle in which a copy to the south finds its link closed
  kQueuePush,       // core: color; the word can be taken from this cycle on
  kQueuePop,        // core: color
  kTask,            // core: 0 weight, 1 command; it comes into effect
  kVectorActive,    // core: index of the step
  kBeatRun,         // core: length << 1 | context (0 main thread, 1 microthread)
  kReductionStart,  // core: index of the step
  kReductionEnd,    // core: index of the step
  kWordIn,          // injector: number of the word
  kVectorEnd,       // core: thread of a tensor instruction that has ended
};

std::vector<std::string> event_kind_names();

}  // namespace lacuna::wse
