// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/tasks/lane_tasks.hpp"
#include "models/wse/engine/tasks/turn_program.hpp"
#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/task_control.hpp"
#include "models/wse/task_outcome.hpp"

// Cores that send along their lines in turn, as lanes of small integers. What every cycle does is
// in turn_sweep.cpp, what a core does where something changes in turn_control.cpp.

namespace lacuna::wse::turns {

using Small = std::int8_t;
using Vector = Lanes<Small>;
using Queue = LaneQueue<Small>;
inline constexpr std::uint32_t kWidth = LanesOf<Small>::kCount;

/// Cycles between two readings of the counters, of which a stall is counted up to three times.
inline constexpr unsigned kWindow = 40;
/// Cycles without any word or beat, more than any latency.
inline constexpr Cycle kPatience = 1000;
using Tasks = LaneTasks<kTurnContexts>;
using Issue = Tasks::Issue;

enum Side : std::uint8_t { kLow, kOwn, kHigh };

/// What one router and core have of the stream of their row or column.
struct Stream {
  // the router's buffers: of lower places, the ramp, higher ones
  std::array<LaneBuffer<Small>, 3> from;
  std::array<Vector, 3> open{};          // that which the switch lets through
  LaneCopies<Small, 3> copies;           // to lower places, the core, higher ones
  std::array<LaneLink<Small>, 3> links;  // from the router to lower and higher places
  Vector until{};                        // words until the switch moves; 0 at its last position
  Queue in;
  Queue out;
  Vector closed{};

  Vector words() const {
    Vector words = in.count | out.count;
    for (const Queue& queue : from) words |= queue.count;
    return words;
  }
};

struct Block {
  std::array<Stream, 2> streams;
  std::array<Vector, 2> has_low{};  // there are lower places of the line,
  std::array<Vector, 2> has_high{};
  LaneTurn<Small> queues;  // on the ramp up,
  LanePort<Small> ramp;    // and down
  Vector may_pick{};       // its task register is empty, and it would take a task
  Vector ready{};          // a local task is active and not blocked
  Vector full{};           // the task register,
  Vector delay{};          // and cycles until its task can begin
  Vector no_task{};
  Vector wait_in{};
  Vector wait_out{};
  Vector dispatch{};
  Vector beside{};     // beats of microthreads in cycles of the main thread
  Vector last{};       // in this window: after the last issue slot
  bool words = false;  // there are some in routers or queues: else nothing of them is stepped
  bool sent = false;   // some to others in the last cycle

  // While nothing happens but beats of main threads, cycles are made up for later.
  unsigned still = 0;    // more such cycles,
  unsigned slept = 0;    // and those to be made up for,
  Vector still_waits{};  // in which these lanes wait for words,
  bool beats = false;    // and others have beats

  bool has_words() const { return any(streams[0].words() | streams[1].words()); }
};

inline constexpr std::uint8_t kActive = 1;
inline constexpr std::uint8_t kBlocked = 2;

/// Of a core and its router what is not counted in lanes.
struct Lane {
  const TurnCode* code = nullptr;
  std::array<ColorSwitch, 2> switches;  // by stream
  std::array<std::uint32_t, 2> until_more{};
  std::uint32_t sender = 0;       // of the column, whose words come,
  std::uint32_t sender_left = 0;  // and how many do
  std::vector<std::uint32_t> runs;
  std::vector<std::uint8_t> tasks;  // by task: kActive, kBlocked
  std::uint32_t ready = 0;          // local ones that may run
  std::array<const LaneOp*, kTurnContexts> under_way{};
  std::array<std::uint32_t, 2> sent{};  // by stream, of instructions that have begun
  std::array<bool, 2> ended{};
  Cycle end = 0;
  std::uint64_t wait_in = 0;
  std::uint64_t wait_out = 0;
  std::uint64_t dispatch = 0;
  std::uint64_t beside = 0;
  std::array<std::uint64_t, 2> stalled{};
  std::uint64_t closed = 0;
};

class TurnSweep {
 public:
  TurnSweep(const TaskParams& params, const TurnProgram& turns);

  /// False if nothing more can happen and not all programs have come to their end.
  bool run();
  TaskOutcome outcome() const;

 private:
  using Bytes = std::vector<Small>;
  class Core;
  /// Who does what in a cycle, as the state at its begin says.
  struct Moves {
    std::array<Vector, 2> up{};                   // out of output queues
    std::array<std::array<Vector, 3>, 2> copy{};  // of heads: to lower places, the core, higher
    std::array<Vector, 2> leaves{};

    Vector any() const {
      Vector moved = up[0] | up[1];
      for (const auto& ways : copy) moved |= ways[kLow] | ways[kOwn] | ways[kHigh];
      return moved;
    }
  };

  static Small& at(Vector& lanes, std::uint32_t lane) {
    return reinterpret_cast<Small*>(&lanes)[lane % kWidth];  // NOLINT
  }
  std::vector<std::uint64_t> words_before(unsigned s) const;
  TaskCounters core_counters(std::uint32_t lane, Cycle total) const;
  Block& block_of(std::uint32_t lane) { return blocks_[lane / kWidth]; }
  std::uint32_t place(unsigned stream, std::uint32_t lane) const {
    return stream == kTurnRow ? lane % turns_.columns : lane / turns_.columns;
  }
  std::uint32_t count(unsigned stream) const {
    return stream == kTurnRow ? turns_.columns : turns_.rows;
  }
  /// The lane of place `to` of the line of `lane`.
  std::uint32_t along(unsigned stream, std::uint32_t lane, std::uint32_t to) const {
    return stream == kTurnRow ? lane - lane % turns_.columns + to
                              : to * turns_.columns + lane % turns_.columns;
  }
  /// Words that the core of a lane sends.
  std::uint32_t sends(unsigned stream, std::uint32_t lane) const {
    return turns_.code(lane).words.at(stream);
  }
  /// The side from which words go on at the position of a switch.
  Side side(unsigned stream, std::uint32_t lane) const {
    const unsigned first = place(stream, lane) > 0 ? kLow : kOwn;
    return static_cast<Side>(first + state_[lane].switches.at(stream).position);
  }
  std::uint32_t step_of(unsigned stream) const { return stream == kTurnRow ? 1 : turns_.columns; }

  void prepare(std::uint32_t lane);
  bool step();
  Vector step_block(Block& block, std::size_t index);
  void fall_asleep(Block& block, std::size_t index, const Issue& issue);
  void make_up(Block& block, std::size_t index);
  void choose_words(Block& block, std::size_t index, Moves& moves) const;
  void move_words(Block& block, std::size_t index, const Moves& moves);
  void control(std::uint32_t lane);
  void take_word(std::uint32_t lane);
  void mark(std::uint32_t lane, TaskIndex task, std::uint8_t set, std::uint8_t unset);
  void tell(std::uint32_t lane, const LaneOp& op);
  void begin_to_send(std::uint32_t lane, const LaneOp& op);
  Issue choose_thread(Block& block, std::size_t index);
  void apply(Block& block, std::size_t index, const Issue& issue);
  void move_switch(std::uint32_t lane, unsigned stream);
  void set_until(std::uint32_t lane, unsigned stream, std::uint32_t words);
  void rest(Block& block, std::size_t index);
  void hand_over();
  void flush();
  bool is_over() const;

  const TurnProgram& turns_;
  const std::uint32_t lanes_;
  const ArbiterRule arbiter_;
  const LinkRule link_rule_;
  const IssueRule issue_;
  const TaskControl control_;
  const LaneShape<Small> up_;
  const LaneShape<Small> link_;
  std::vector<LaneShape<Small>> out_;  // by stream
  std::vector<LaneShape<Small>> in_;
  std::vector<Block> blocks_;
  Tasks tasks_;
  std::vector<Lane> state_;
  // By stream: what goes to lower places and to higher ones, and the room there.
  std::array<std::array<LaneBorder<Small>, 3>, 2> borders_;
  Cycle now_ = 0;
  Cycle moved_at_ = 0;  // something last did
  unsigned window_ = 0;
  bool lost_ = false;  // words are not sent or taken as the program was read
};

}  // namespace lacuna::wse::turns
