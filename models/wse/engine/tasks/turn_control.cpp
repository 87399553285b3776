// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/wse/engine/tasks/turn_lanes.hpp"

namespace lacuna::wse::turns {

void TurnSweep::prepare(std::uint32_t lane) {
  Block& block = block_of(lane);
  Lane& state = state_[lane];
  state.code = &turns_.code(lane);
  state.runs.assign(state.code->tasks.size(), 0);
  for (const std::uint32_t task : state.code->tasks) {
    state.tasks.push_back(turns_.tasks[task].blocked ? kBlocked : 0);
  }
  tasks_.lanes[lane].place.task = 0;
  state.sender_left = sends(kTurnColumn, along(kTurnColumn, lane, 0)) - 1;
  at(tasks_.threads[lane / kWidth].ask, lane) = -1;
  for (unsigned s = 0; s < 2; ++s) {
    const std::uint32_t mine = place(s, lane);
    at(block.has_low[s], lane) = mine > 0 ? Small{-1} : Small{0};
    at(block.has_high[s], lane) = mine + 1 < count(s) ? Small{-1} : Small{0};
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < mine; ++i) before += sends(s, along(s, lane, i));
    const unsigned positions = 1U + (mine > 0 ? 1U : 0U) + (mine + 1 < count(s) ? 1U : 0U);
    state.switches.at(s).rules.positions = static_cast<std::uint8_t>(positions);
    at(block.streams[s].open.at(side(s, lane)), lane) = -1;
    set_until(lane, s, mine > 0 ? before : sends(s, lane));
  }
}

void TurnSweep::set_until(std::uint32_t lane, unsigned stream, std::uint32_t words) {
  const std::uint32_t now = std::min(words, Tasks::kMost);
  at(block_of(lane).streams[stream].until, lane) = static_cast<Small>(now);
  state_[lane].until_more.at(stream) = words - now;
}

/// The last words that the lane knows of, of those before its switch moves, have left.
void TurnSweep::move_switch(std::uint32_t lane, unsigned stream) {
  Stream& t = block_of(lane).streams[stream];
  if (const std::uint32_t more = state_[lane].until_more.at(stream); more != 0) {
    set_until(lane, stream, more);
    return;
  }
  const Side before = side(stream, lane);
  state_[lane].switches.at(stream).obey(SwitchCommand::advance, now_, 0);
  const Side now = side(stream, lane);
  if (now == before) return;
  at(t.open.at(before), lane) = 0;
  at(t.open.at(now), lane) = -1;
  if (now == kOwn) set_until(lane, stream, sends(stream, lane));
}

/// A core, as TaskControl sees it.
class TurnSweep::Core : public Tasks::Core {
 public:
  Core(TurnSweep& sweep, std::uint32_t lane)
      : Tasks::Core(sweep.tasks_, lane),
        sweep_(sweep),
        block_(sweep.block_of(lane)),
        core_(sweep.state_[lane]) {}

  bool all_begun() { return place().next_step >= task().begun; }

  StepTaken take_step(Cycle /*now*/) {
    const LaneOp& op = task().ops[place().next_step];
    if (op.kind == LaneOp::Kind::tell) {
      sweep_.tell(lane_, op);
      ++place().next_step;
      return StepTaken::at_once;
    }
    const StepTaken taken = begin(op);
    if (op.kind != LaneOp::Kind::start || taken == StepTaken::waits) return taken;
    core_.under_way.at(op.context) = &op;
    if (turn_sends(op.context)) sweep_.begin_to_send(lane_, op);
    return taken;
  }

  void begun(Cycle now) {
    ++core_.runs[place().task];
    core_.end = std::max(core_.end, now + 1);
  }

  std::size_t tasks() const {
    return core_.ready == 0 && !sweep_.turns_.by_tasks ? 0 : core_.tasks.size();
  }

  /// What is not local is triggered by words of the column: data, and the sender's closing one.
  bool triggered(std::size_t task, Cycle /*now*/) const {
    if (core_.tasks[task] == kActive) return true;
    if (!sweep_.turns_.by_tasks || block_.streams[kTurnColumn].in.seen[at_] <= 0) return false;
    const TurnTask& what = sweep_.turns_.task(*core_.code, task);
    if (core_.sender_left != 0) return what.kind == Task::Kind::data;
    const std::uint32_t sender = sweep_.along(kTurnColumn, lane_, core_.sender);
    return what.kind == Task::Kind::control && what.id == sweep_.turns_.code(sender).close_id;
  }

  Task::Kind take(std::size_t task, Cycle now) {
    const Task::Kind kind = sweep_.turns_.task(*core_.code, task).kind;
    if (kind == Task::Kind::local) {
      sweep_.mark(lane_, static_cast<TaskIndex>(task), 0, kActive);
    } else {
      block_.streams[kTurnColumn].in.pop_lane(at_);
      sweep_.take_word(lane_);
    }
    core_.end = std::max(core_.end, now + 1);
    return kind;
  }

 private:
  const TurnTask& task() { return sweep_.turns_.task(*core_.code, place().task); }

  TurnSweep& sweep_;
  Block& block_;
  turns::Lane& core_;
};

/// What the main thread of a core does in this cycle before it may issue, and which task it takes
/// next.
void TurnSweep::control(std::uint32_t lane) {
  Core core(*this, lane);
  control_.main_thread(core, now_);
  const TaskPlace& place = core.place();
  Block& block = block_of(lane);
  const bool full = place.taken != kNoTask;
  at(block.full, lane) = full ? Small{-1} : Small{0};
  at(block.delay, lane) =
      full && place.ready > now_ ? static_cast<Small>(place.ready - now_) : Small{0};
  at(block.may_pick, lane) = control_.picks(core) ? Small{-1} : Small{0};
  at(block.no_task, lane) = place.task == kNoTask ? Small{-1} : Small{0};
}

void TurnSweep::mark(std::uint32_t lane, TaskIndex task, std::uint8_t set, std::uint8_t unset) {
  if (task == kNoTask) return;
  Lane& state = state_[lane];
  std::uint8_t& flags = state.tasks[task];
  if (flags == kActive) --state.ready;
  flags = static_cast<std::uint8_t>((flags | set) & ~unset);
  if (flags == kActive) ++state.ready;
  at(block_of(lane).ready, lane) = state.ready != 0 ? Small{-1} : Small{0};
}

/// Tasks hear of a step, or of an instruction that is over.
void TurnSweep::tell(std::uint32_t lane, const LaneOp& op) {
  mark(lane, op.activates, kActive, 0);
  mark(lane, op.unblocks, 0, kBlocked);
}

/// The switches move when as many words have gone by as each core is known to send in its turn.
void TurnSweep::begin_to_send(std::uint32_t lane, const LaneOp& op) {
  const unsigned stream = turn_stream(op.context);
  Lane& state = state_[lane];
  state.sent.at(stream) += op.count;
  const bool all = state.sent.at(stream) == sends(stream, lane);
  lost_ = lost_ || state.ended.at(stream) || op.ends != all;
  state.ended.at(stream) = op.ends;
}

/// A word of the column has been taken.
void TurnSweep::take_word(std::uint32_t lane) {
  Lane& state = state_[lane];
  if (state.sender_left != 0) {
    --state.sender_left;
    return;
  }
  ++state.sender;
  if (state.sender >= turns_.rows) return;
  state.sender_left = sends(kTurnColumn, along(kTurnColumn, lane, state.sender)) - 1;
}

}  // namespace lacuna::wse::turns
