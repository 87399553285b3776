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

  // Details. A word that was sent over a link or put into a queue so many cycles ago:
  kWordPass,   // router, with each kWordOut: cycles << 24 | from port << 16 | color << 8 | port
  kWordUp,     // core: cycles << 8 | color; it goes up the ramp
  kWordTaken,  // core: cycles << 8 | color; out of an input queue
  // What core or injector did beside beats: length << 1
  kBusyRun,  // core that runs tasks: beats and what they wait for themselves
  kScalarRun,
  kConflictRun,
  kResidualRun,
  kDispatchRun,
  kWaitWeightsRun,
  kWaitSumsRun,
  kWaitWordsRun,
  kWaitRoomRun,
  kWaitBufferRun,
  kIoRateRun,  // injector: no word was due at the wafer's I/O rate
  kClosedRun,  // there was no room in the router below
  kScanRun,    // the filter looked for the next word
};

/// A log without details, with them, and what a critical path is found in.
inline constexpr std::uint64_t kPlainEvents = (std::uint64_t{1} << kWordPass) - 1;
inline constexpr std::uint64_t kAllEvents = ~std::uint64_t{0};
inline constexpr std::uint64_t kPathEvents = ~kPlainEvents | std::uint64_t{1} << kBeatRun;

std::vector<std::string> event_kind_names();

}  // namespace lacuna::wse
