// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// A program of tasks on a random mesh of random hardware.
struct TaskCase {
  TaskParams params;
  TaskProgram program;
};

/// Streams of words between cores (over trees, gathered, dealt and turned by switches, filtered,
/// handed on), taken and sent by the main thread, microthreads, FIFOs and tasks that words or
/// control wavelets trigger, beside work of the cores' own. Most of them end: cores take streams in
/// one order. A stream whose bit is set in `skip` is left out, the others stay.
TaskCase random_tasks(std::uint64_t seed, std::uint64_t skip = 0);
inline constexpr unsigned kMostStreams = 8;

/// A case as text: what is not as declared, the routes and what each core does.
std::string print(const TaskCase& made);

}  // namespace lacuna::wse
