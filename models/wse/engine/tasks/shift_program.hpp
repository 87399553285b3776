// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/engine/tasks/lane_tasks.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse {

/// Streams that a core sends, and as many that it takes.
inline constexpr unsigned kShiftStreams = 2;
/// Microthreads of them: one sends, one receives, in the order of the streams.
inline constexpr std::uint8_t kShiftThreads = 2 * kShiftStreams;
constexpr std::uint8_t shift_context(unsigned stream, bool sends) {
  return static_cast<std::uint8_t>(2 * stream + (sends ? 1 : 2));
}

/// What a core does, and what it counts whatever happens around it.
struct ShiftCode {
  std::vector<LaneOp> ops;  // the last is `end`
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
