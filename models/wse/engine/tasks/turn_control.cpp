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
  state.task = 0;
  state.sender_left = sends(kTurnColumn, along(kTurnColumn, lane, 0)) - 1;
  at(block.ask, lane) = -1;
  for (unsigned s = 0; s < 2; ++s) {
    const std::uint32_t mine = place(s, lane);
    at(block.has_low[s], lane) = mine > 0 ? Small{-1} : Small{0};
    at(block.has_high[s], lane) = mine + 1 < count(s) ? Small{-1} : Small{0};
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < mine; ++i) before += sends(s, along(s, lane, i));
    at(block.streams[s].open[mine > 0 ? kLow : kOwn], lane) = -1;
    set_until(lane, s, mine > 0 ? before : sends(s, lane));
  }
}

void TurnSweep::set_until(std::uint32_t lane, unsigned stream, std::uint32_t words) {
  const std::uint32_t now = std::min(words, kMost);
  at(block_of(lane).streams[stream].until, lane) = static_cast<Small>(now);
  state_[lane].until_more.at(stream) = words - now;
}

/// The last words that the lane knows of, of those before its switch moves, have left.
void TurnSweep::move_switch(std::uint32_t lane, unsigned stream) {
  Stream& t = block_of(lane).streams[stream];
  if (const std::uint32_t more = state_[lane].until_more.at(stream); more != 0) {
    set_until(lane, stream, more);
  } else if (at(t.open[kLow], lane) != 0) {
    at(t.open[kLow], lane) = 0;
    at(t.open[kOwn], lane) = -1;
    set_until(lane, stream, sends(stream, lane));
  } else if (place(stream, lane) + 1 < count(stream)) {
    at(t.open[kOwn], lane) = 0;
    at(t.open[kHigh], lane) = -1;
  }
}

/// What the main thread of a core does in this cycle before it may issue, and which task it takes
/// next.
void TurnSweep::control(std::uint32_t lane) {
  Block& block = block_of(lane);
  Lane& state = state_[lane];
  const bool in_beat = at(block.taken, lane) != 0;  // the one before is not over
  if (!in_beat) at(block.ask, lane) = 0;
  const auto is_idle = [&] { return !in_beat && at(block.words[kTurnMain], lane) == 0; };
  const auto left = [&] { return state.code->tasks[state.task].ops.size() - state.next; };
  const auto leave = [&] {
    if (state.task != kNoTask && is_idle() && left() == 0) state.task = kNoTask;
  };
  leave();
  if (state.task == kNoTask && at(block.full, lane) != 0 && state.ready <= now_) {
    state.task = state.register_task;
    at(block.full, lane) = 0;
    state.next = 0;
    ++state.runs[state.task];
    state.end = std::max(state.end, now_ + 1);
  }
  if (state.task != kNoTask && is_idle()) take_steps(lane);
  leave();
  const auto open = [&] {
    return at(block.full, lane) == 0 &&
           (state.task == kNoTask || (dispatch_.overlaps() && (left() == 0 || in_last_step(lane))));
  };
  if (open()) pick(lane);
  at(block.may_pick, lane) = open() ? Small{-1} : Small{0};
  at(block.no_task, lane) = state.task == kNoTask ? Small{-1} : Small{0};
}

/// Whether the last step of the task has begun, of which there may be parts to come.
bool TurnSweep::in_last_step(std::uint32_t lane) const {
  const Lane& state = state_[lane];
  const std::vector<TurnOp>& ops = state.code->tasks[state.task].ops;
  return state.next != 0 && ops[state.next - 1].last && ops[state.next].last;
}

void TurnSweep::take_steps(std::uint32_t lane) {
  Block& block = block_of(lane);
  Lane& state = state_[lane];
  const std::vector<TurnOp>& ops = state.code->tasks[state.task].ops;
  for (; state.next != ops.size(); ++state.next) {
    const TurnOp& op = ops[state.next];
    switch (op.kind) {
      case TurnOp::Kind::wait:
      case TurnOp::Kind::start:
        if (is_busy(lane, op.thread)) {
          state.waits_for = op.thread;
          return;
        }
        if (op.kind == TurnOp::Kind::wait) break;
        starts_.push_back({lane, op.thread, op.count});
        state.starting = static_cast<std::uint8_t>(state.starting | 1U << op.thread);
        ++state.next;
        at(block.ask, lane) = -1;
        return;
      case TurnOp::Kind::activate:
        at(block.closing, lane) = -1;
        break;
      case TurnOp::Kind::beats:
      case TurnOp::Kind::take: {
        const std::uint32_t now = std::min(op.count, kMost);
        at(block.words[kTurnMain], lane) = static_cast<Small>(now);
        at(block.takes, lane) = op.kind == TurnOp::Kind::take ? Small{-1} : Small{0};
        at(block.extra, lane) = static_cast<Small>(op.extra);
        state.more[kTurnMain] = op.count - now;
        ++state.next;
        return;
      }
    }
  }
}

/// Takes the next task, in turn, into the task register.
void TurnSweep::pick(std::uint32_t lane) {
  Block& block = block_of(lane);
  Lane& state = state_[lane];
  const TurnCode& code = *state.code;
  const auto tasks = static_cast<std::uint32_t>(code.tasks.size());
  const bool closing = at(block.closing, lane) != 0;
  std::uint32_t found = kNoTask;
  if (at(block.streams[kTurnColumn].in.seen, lane) > 0) {
    if (state.sender_left != 0) {
      found = code.data;
    } else {
      const TurnCode& sender = turns_.code(along(kTurnColumn, lane, state.sender));
      const std::uint8_t id = sender.tasks[sender.close].close_id;
      for (std::uint32_t i = 0; i < tasks; ++i) {
        const TurnTask& task = code.tasks[i];
        if (task.kind == Task::Kind::control && task.id == id) found = i;
      }
    }
  }
  if (found == kNoTask && !closing) return;
  const auto turn = [&](std::uint32_t task) {
    return (task + tasks - state.next_task % tasks) % tasks;
  };
  const bool close = closing && (found == kNoTask || turn(code.close) < turn(found));
  state.register_task = close ? code.close : found;
  if (close) {
    at(block.closing, lane) = 0;
  } else {
    block.streams[kTurnColumn].in.pop_lane(lane % kWidth);
    take_word(lane);
  }
  state.next_task = state.register_task + 1;
  const bool command = code.tasks[state.register_task].kind == Task::Kind::control;
  const Cycle delay = dispatch_.delay(command);
  state.ready = now_ + delay;
  at(block.full, lane) = -1;
  at(block.delay, lane) = static_cast<Small>(delay);
  state.end = std::max(state.end, now_ + 1);
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

/// The last word or beat that the lane knows of is over.
void TurnSweep::end_thread(std::uint32_t lane, std::uint8_t thread) {
  Lane& state = state_[lane];
  Block& block = block_of(lane);
  if (std::uint32_t& more = state.more.at(thread); more != 0) {
    const std::uint32_t now = std::min(more, kMost);
    at(block.words.at(thread), lane) = static_cast<Small>(now);
    more -= now;
    return;
  }
  if (thread == kTurnMain || state.waits_for == thread) at(block.ask, lane) = -1;
  if (state.waits_for == thread) state.waits_for = 0;
  // the list has been sent; the closing word ends its thread later, and tells nobody
  if (thread == kTurnSendColumn && state.runs[state.code->close] == 0) at(block.closing, lane) = -1;
}

/// Microthreads that were told to start in this cycle may issue in the next.
void TurnSweep::start_threads() {
  for (const Start& start : starts_) {
    const std::uint32_t now = std::min(start.words, kMost);
    at(block_of(start.lane).words.at(start.thread), start.lane) = static_cast<Small>(now);
    state_[start.lane].more.at(start.thread) = start.words - now;
    state_[start.lane].starting = 0;
  }
  starts_.clear();
}

}  // namespace lacuna::wse::turns
