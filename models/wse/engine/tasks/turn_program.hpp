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

/// Contexts of the issue slot.
enum TurnThread : std::uint8_t { kTurnMain, kTurnTakeRow, kTurnSendRow, kTurnSendColumn };

/// A task, and what it counts each time it runs.
struct TurnTask {
  Task::Kind kind = Task::Kind::local;
  std::uint8_t id = 0;  // control
  std::vector<LaneOp> ops;
  std::size_t begun = 0;  // how many of them have begun when its last step has
  TaskCounters counters;
  std::uint32_t row_words = 0;     // that it sends along the row,
  std::uint32_t column_words = 0;  // and along the column, the closing one left out
  std::uint8_t close_id = 0;       // of the word that closes what it sends
  bool closes = false;
};

/// What a core does; its tasks in the program's order. The first begins by itself.
struct TurnCode {
  std::vector<TurnTask> tasks;
  std::uint32_t data = 0;   // the task of a word of the column,
  std::uint32_t close = 0;  // and that which sends the closing one
};

/// A rectangle of cores in which those of a row send along it one after the other, and those of a
/// column along that: while core i of a line sends, its router takes words from the ramp, before
/// from lower places, afterwards from higher ones, and passes them on and to its core. The last
/// word of a core moves its own switch and that of the next.
struct TurnProgram {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<TurnCode> codes;
  std::vector<std::uint32_t> code_of;   // by core
  std::array<Color, 2> color{};         // by stream
  std::array<unsigned, 2> out_depth{};  // of queues
  std::array<unsigned, 2> in_depth{};

  const TurnCode& code(std::size_t core) const { return codes[code_of[core]]; }
};

/// `program` as such a program; nullopt if it is none, or if the hardware does things in its
/// course that lanes do not know.
std::optional<TurnProgram> find_turns(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
