// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// How a core that runs tasks spends a cycle.
enum class TaskCycle : std::uint8_t {
  vector,    // a beat that works on memory alone
  fabric,    // a beat with words of the fabric
  scalar,    // scalar code
  conflict,  // of a beat: two reads of one bank, or too many bytes for the ports
  residual,  // of a multiply-accumulate in place
  special,   // of a division or special function, beyond its first
  dispatch,  // a task was being started and nothing could issue
  wait_in,   // an instruction waited for words
  wait_out,  // and one for room in its output queue
  idle,      // nothing to do
};
inline constexpr unsigned kTaskCycles = 10;

/// What one core counts.
struct TaskCounters {
  std::array<std::uint64_t, kTaskCycles> cycles{};
  std::uint64_t beside = 0;  // beats of microthreads in cycles of the main thread's slot
  std::uint64_t mac16 = 0;   // multiply-accumulates, FP16 sums
  std::uint64_t mac16_32 = 0;
  std::uint64_t mac32 = 0;
  std::uint64_t add16 = 0;  // additions, subtractions, maxima
  std::uint64_t add32 = 0;
  std::uint64_t mul16 = 0;
  std::uint64_t mul32 = 0;
  std::uint64_t special16 = 0;
  std::uint64_t special32 = 0;
  std::uint64_t reads = 0;  // 64-bit accesses
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t tasks = 0;
  std::uint64_t instructions = 0;  // tensor instructions started
  std::uint64_t sent = 0;          // words put on the ramp
  std::uint64_t received = 0;      // words taken out of queues
  Cycle begin = kNever;            // of the first issue slot
  Cycle end = 0;                   // after the last

  auto all() const {
    return std::tie(cycles, beside, mac16, mac16_32, mac32, add16, add32, mul16, mul32, special16,
                    special32, reads, writes, read_bytes, write_bytes, tasks, instructions, sent,
                    received, begin, end);
  }
};

inline bool operator==(const TaskCounters& a, const TaskCounters& b) { return a.all() == b.all(); }

}  // namespace lacuna::wse
