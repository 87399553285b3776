// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/system/execution.hpp"
#include "models/system/fabric.hpp"
#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::system {

/// What a run of one segment came to.
struct SegmentResult : RunResult {
  std::vector<std::uint64_t> bytes;    // carried, by resource
  std::vector<std::uint64_t> busy_ns;  // by resource
  std::vector<Event> events;           // sorted; if asked for
  std::uint64_t steps = 0;             // of blocks, the work done
};

/// Runs a segment on the chips of `fabric`, each block a SystemC module. Throws DeadlockError if a
/// chip waits for what nobody sends.
SegmentResult run_segment(const SystemParams& params, const Fabric& fabric, const Segment& segment,
                          const SystemExecution& execution);

/// What a run of a whole program came to: sums over its segments, each simulated once and counted
/// as often as it is run. Segments are separated by barriers of all chips.
struct ProgramResult : RunResult {
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> busy_ns;
  std::vector<SegmentResult> segments;  // of one run each
};

/// Runs each segment of `program` once, in their order, and adds up what their repeats take. Time
/// is in ns. Throws DeadlockError as run_segment() does.
ProgramResult run_program(const SystemParams& params, const Fabric& fabric, const Program& program,
                          const SystemExecution& execution);

}  // namespace lacuna::system
