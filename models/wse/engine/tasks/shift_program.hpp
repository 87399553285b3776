// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse {

/// Streams that a core sends, and as many that it takes.
inline constexpr unsigned kShiftStreams = 2;
/// Microthreads of them: one sends, one receives.
inline constexpr std::uint8_t kShiftThreads = 2 * kShiftStreams;

/// The next thing that the main thread of a core does.
struct ShiftOp {
  enum class Kind : std::uint8_t {
    start,  // a microthread that moves `count` words; waits until the microthread is idle
    wait,   // until the microthread is idle
    beats,  // `count` issue slots, each `extra` cycles longer than one
    end,
  };
  Kind kind = Kind::end;
  std::uint8_t thread = 0;  // stream 0 out, 0 in, 1 out, 1 in: they go first in this order
  std::uint8_t extra = 0;
  std::uint32_t count = 0;
};

/// What a core does, and what it counts whatever happens around it.
struct ShiftCode {
  std::vector<ShiftOp> ops;  // the last is `end`
  TaskCounters counters;
  std::array<std::uint32_t, kShiftStreams> sent{};  // words
};

/// The way of a stream from a core to the next, over one or two hops.
struct ShiftPath {
  Color color{};
  unsigned out = 0;        // port of the sender's router
  bool passes = false;     // a router between,
  std::uint32_t over = 0;  // its core
  unsigned over_out = 0;   // and its port
  std::uint32_t to = 0;    // core
};

/// A program of cores of which each runs one list of steps, and sends at most two streams of
/// words to one core each. The streams share no link but the ramps, and lead around circles:
/// lane (j, i) sends stream 0 to (j, i + 1) and stream 1 to (j + 1, i).
struct ShiftProgram {
  unsigned streams = 0;
  std::uint32_t circle = 0;            // lanes along stream 0
  std::uint32_t circles = 1;           // and along stream 1
  std::vector<std::uint32_t> core_of;  // by lane
  std::vector<std::uint32_t> code_of;  // by core
  std::vector<ShiftCode> codes;
  std::array<std::vector<ShiftPath>, kShiftStreams> paths;  // by core
  std::array<unsigned, kShiftStreams> out_depth{};          // of queues
  std::array<unsigned, kShiftStreams> in_depth{};
};

/// `program` as such a program; nullopt if it is none, or if the hardware does things in its
/// course that lanes do not know: choice by age, several words in a beat.
std::optional<ShiftProgram> find_shifts(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
