// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse::lanes {

/// The next thing that the main thread of a core does.
struct Op {
  enum class Kind : std::uint8_t {
    start,  // a microthread gets an instruction of `count` beats; waits until it is idle
    wait,   // until the microthread is idle
    beats,  // of the main thread
    tell,   // tasks, or a stamp
  };
  Kind kind = Kind::beats;
  std::uint8_t context = 0;
  std::uint8_t extra = 0;      // cycles of each beat beyond the first
  bool continues = false;      // what the op before began
  bool goes_on = false;        // the op after it is of the same instruction of a microthread
  std::uint8_t takes = 0;      // classes of which each beat takes words, as bits,
  std::uint8_t sends = 0;      // and of which it sends some:
  std::uint8_t words_in = 0;   // so many of each,
  std::uint8_t words_out = 0;  // and so many
  bool control = false;        // what it sends is a command for the task with this id
  std::uint8_t id = 0;
  bool stamps = false;
  std::uint32_t count = 0;
  TaskIndex activates = kNoTask;  // when it is over
  TaskIndex unblocks = kNoTask;
  TaskIndex blocks = kNoTask;
  SwitchCommands switches = 0;  // with its last word
};
bool operator==(const Op& a, const Op& b);

/// A task, and what it counts each time it runs.
struct TaskCode {
  Task::Kind kind = Task::Kind::local;
  int cls = 0;          // data
  std::uint8_t id = 0;  // control
  bool active = false;
  bool blocked = false;
  std::size_t begun = 0;  // ops until all steps have begun
  std::vector<Op> ops;
  TaskCounters counters;
};
bool same(const TaskCode& a, const TaskCode& b);

/// What the lanes have not: a reason, thrown while a plan is made.
struct Refused {
  std::string why;
};
[[noreturn]] void refuse(std::string why);

/// What the colors and microthreads of a program are in lanes.
struct Names {
  std::array<int, kColors> class_of{};
  std::array<std::uint8_t, 1 + kMicrothreads> context_of{};  // by thread
};

/// Writes a task as ops.
TaskCode write_code(const TaskParams& params, const std::vector<Routine>& routines,
                    const Names& names, const Task& task);

}  // namespace lacuna::wse::lanes
