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

/// The two streams around a core: along its row, and along its column.
inline constexpr unsigned kTurnRow = 0;
inline constexpr unsigned kTurnColumn = 1;

/// Contexts of the issue slots, in the order of the threads.
enum TurnThread : std::uint8_t {
  kTurnMain,
  kTurnTakeRow,
  kTurnTakeColumn,
  kTurnSendRow,
  kTurnSendColumn
};
inline constexpr std::size_t kTurnContexts = 5;
constexpr bool turn_sends(std::uint8_t context) { return context >= kTurnSendRow; }
constexpr unsigned turn_stream(std::uint8_t context) { return (context - 1U) % 2; }

/// A task, and what it counts each time it runs.
struct TurnTask {
  Task::Kind kind = Task::Kind::local;
  std::uint8_t id = 0;  // control
  bool blocked = false;
  std::vector<LaneOp> ops;
  std::size_t begun = 0;  // how many of them have begun when its last step has
  TaskCounters counters;
  std::array<std::uint32_t, 2> words{};  // that it sends, by stream,
  std::array<std::uint32_t, 2> ends{};   // and how many instructions send the last of them
  bool takes_column = false;             // in a microthread,
  bool main_takes = false;               // and in the main thread
  bool closes = false;                   // the last word of the column is a control wavelet
  std::uint8_t close_id = 0;
};

/// What a core does.
struct TurnCode {
  std::vector<std::uint32_t> tasks;      // of the program's; the first begins by itself
  std::array<std::uint32_t, 2> words{};  // that it sends, by stream
  std::uint8_t close_id = 0;
};

/// A rectangle of cores in which those of a row send along it one after the other, and those of a
/// column along that: while core i of a line sends, its router takes words from the ramp, before
/// from lower places, afterwards from higher ones, and passes them on and to its core. The last
/// word of a core moves its own switch and that of the next. Words of the row are taken by a
/// microthread, and so are those of the column; or each of these begins a task: data, and a control
/// wavelet that ends what a core sends. All other tasks are local.
struct TurnProgram {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<TurnTask> tasks;  // those that differ
  std::vector<TurnCode> codes;
  std::vector<std::uint32_t> code_of;   // by core
  std::array<Color, 2> color{};         // by stream
  std::array<unsigned, 2> out_depth{};  // of queues
  std::array<unsigned, 2> in_depth{};
  std::array<bool, 2> to_itself{};                        // what a core sends comes to it, too
  bool by_tasks = false;                                  // words of the column begin tasks
  std::array<std::uint8_t, 1 + kMicrothreads> context{};  // by thread; kTurnMain: it is not used

  const TurnCode& code(std::size_t core) const { return codes[code_of[core]]; }
  const TurnTask& task(const TurnCode& code, std::size_t index) const {
    return tasks[code.tasks[index]];
  }
};

/// `program` as such a program; nullopt if it is none, or if the hardware does things in its
/// course that lanes do not know.
std::optional<TurnProgram> find_turns(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
