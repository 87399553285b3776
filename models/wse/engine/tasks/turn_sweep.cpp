// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/turn_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/tasks/turn_lanes.hpp"

namespace lacuna::wse {
namespace turns {
namespace {

void add_task(const TaskCounters& task, std::uint64_t times, TaskCounters& sum) {
  for (std::size_t i = 0; i < sum.cycles.size(); ++i) sum.cycles[i] += task.cycles[i] * times;
  add_numbers<TaskCounters::Declared>(sum, task, times);
}

}  // namespace

TurnSweep::TurnSweep(const TaskParams& params, const TurnProgram& turns)
    : turns_(turns),
      lanes_(turns.rows * turns.columns),
      arbiter_(params.router),
      link_rule_(params.router),
      issue_(params.core),
      control_(params),
      up_(QueueShapes(params.router).ramp_up()),
      link_(QueueShapes(params.router).link()),
      blocks_((lanes_ + kWidth - 1) / kWidth),
      tasks_(blocks_.size()),
      state_(blocks_.size() * kWidth) {
  for (unsigned s = 0; s < 2; ++s) {
    out_.emplace_back(QueueShapes::output(turns.out_depth.at(s)));
    in_.emplace_back(QueueShapes(params.router).ramp_down(turns.in_depth.at(s)));
    for (const Side side : {kLow, kHigh}) {
      borders_[s][side] = LaneBorder<Small>(state_.size(), turns.columns);
    }
  }
  for (Block& block : blocks_) block.words = link_rule_.on_links();
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) prepare(lane);
}

/// Output queues to ramps, and copies of heads. Every port goes by itself; the ramp down has one
/// word of both streams in a cycle.
void TurnSweep::choose_words(Block& block, std::size_t index, Moves& moves) const {
  std::array<Vector, 2> heads{};
  std::array<LaneWays<Small, 3>, 2> to{};
  for (unsigned s = 0; s < 2; ++s) {
    Stream& t = block.streams[s];
    begin_cycles(t.from[kLow], t.from[kOwn], t.from[kHigh], t.in, t.out);
    moves.up[s] = t.out.has() & t.from[kOwn].room(up_);
    Vector& head = heads[s];
    for (unsigned side = 0; side < 3; ++side) head |= t.open[side] & t.from[side].has();
    const Vector itself = turns_.to_itself.at(s) ? t.open[kOwn] : Vector{};
    to[s].way = {(t.open[kOwn] | t.open[kHigh]) & block.has_low[s],
                 t.open[kLow] | t.open[kHigh] | itself,
                 (t.open[kOwn] | t.open[kLow]) & block.has_high[s]};
    const std::size_t first = index * kWidth;
    auto& copy = moves.copy[s];
    for (unsigned side = 0; side < 3; ++side)
      copy[side] = t.copies.wants(side, head & to[s].way[side]);
    const Vector higher = copy[kHigh];
    copy[kLow] = t.links[kLow].send(link_rule_, copy[kLow],
                                    borders_[s][kLow].room_before(first, step_of(s)));
    copy[kHigh] =
        t.links[kHigh].send(link_rule_, higher, borders_[s][kHigh].room_after(first, step_of(s)));
    copy[kOwn] &= t.in.room(in_[s]);
    // of a head that goes on to the south and elsewhere
    const Vector beside = to[s].way[kLow] | to[s].way[kOwn];
    if (s == kTurnColumn) t.closed -= found_closed(beside, higher, copy[kHigh]);
  }
  const LanePair<Small> up(block.queues.key(moves.up[0], all_lanes<Small>(0)),
                           block.queues.key(moves.up[1], all_lanes<Small>(1)));
  moves.up = {up.first, up.second};
  std::array<Vector, 2> color{};
  for (unsigned s = 0; s < 2; ++s) {
    color[s] = all_lanes<Small>(static_cast<unsigned>(turns_.color.at(s)));
  }
  const LanePair<Small> down(block.ramp.key(arbiter_, moves.copy[0][kOwn], color[0]),
                             block.ramp.key(arbiter_, moves.copy[1][kOwn], color[1]));
  moves.copy[0][kOwn] = down.first;
  moves.copy[1][kOwn] = down.second;
  for (unsigned s = 0; s < 2; ++s) {
    LaneCopies<Small, 3>& copies = block.streams[s].copies;
    block.queues.had(moves.up[s], all_lanes<Small>(s));
    block.ramp.sent(arbiter_, moves.copy[s][kOwn], color[s]);
    for (unsigned side = 0; side < 3; ++side) copies.make(side, moves.copy[s][side]);
    moves.leaves[s] = copies.leave(heads[s], to[s]);
  }
}

Issue TurnSweep::choose_thread(Block& block, std::size_t index) {
  const Stream& row = block.streams[kTurnRow];
  const Stream& column = block.streams[kTurnColumn];
  Tasks::Threads& threads = tasks_.threads[index];
  Issue issue = tasks_.begin_issue(index);
  issue.fed[kTurnMain] = ~threads.takes | column.in.has();
  issue.fed[kTurnTakeRow] = row.in.has();
  issue.fed[kTurnTakeColumn] = column.in.has();
  issue.room[kTurnSendRow] = row.out.room(out_[kTurnRow]);
  issue.room[kTurnSendColumn] = column.out.room(out_[kTurnColumn]);
  issue.taken = block.full;
  issue.starting = block.no_task & block.full & (block.delay > 0);
  issue.choose(issue_, threads.slot);
  block.wait_in -= issue.waits.in;
  block.wait_out -= issue.waits.out;
  block.dispatch -= issue.waits.dispatch;
  block.beside -= issue.beside;
  // of two slots that of the main thread may be taken for longer
  const Vector after = all_lanes<Small>(window_ + 1);
  for (const Vector& issued : issue.issued) {
    block.last = select(issued & (block.last < after), after, block.last);
  }
  const Vector end = after + threads.extra;
  block.last = select(issue.issued[kTurnMain] & (block.last < end), end, block.last);
  return issue;
}

void TurnSweep::move_words(Block& block, std::size_t index, const Moves& moves) {
  const Vector zero{};
  const auto first = static_cast<std::uint32_t>(index * kWidth);
  for (unsigned s = 0; s < 2; ++s) {
    Stream& t = block.streams[s];
    for (unsigned side = 0; side < 3; ++side) {
      t.from[side].let_go(moves.leaves[s] & t.open[side]);
    }
    t.from[kOwn].push(moves.up[s], up_);
    t.out.pop(moves.up[s]);
    t.in.push(moves.copy[s][kOwn], in_[s]);
    for (const Side side : {kLow, kHigh}) borders_[s][side].send(first, moves.copy[s][side]);
    block.sent = block.sent || any(moves.copy[s][kLow] | moves.copy[s][kHigh]);
    const Vector counted = moves.leaves[s] & (t.until > zero);
    t.until += counted;
    const Vector over = counted & (t.until == zero);
    if (any(over)) for_each_lane<Small>(over, [&](unsigned lane) { move_switch(first + lane, s); });
  }
}

/// Beats have been issued: words go into output queues and come out of input queues.
void TurnSweep::apply(Block& block, std::size_t index, const Issue& issue) {
  const auto first = static_cast<std::uint32_t>(index * kWidth);
  const auto& issued = issue.issued;
  Stream& row = block.streams[kTurnRow];
  Stream& column = block.streams[kTurnColumn];
  row.in.pop(issued[kTurnTakeRow]);
  column.in.pop(issued[kTurnTakeColumn]);
  row.out.push(issued[kTurnSendRow], out_[kTurnRow]);
  column.out.push(issued[kTurnSendColumn], out_[kTurnColumn]);
  block.words = block.words || any(issued[kTurnSendRow] | issued[kTurnSendColumn]);
  const Vector words = issued[kTurnMain] & tasks_.threads[index].takes;
  if (any(words)) {
    column.in.pop(words);
    for_each_lane<Small>(words, [&](unsigned lane) {
      lost_ = lost_ || state_[first + lane].sender_left == 0;
      take_word(first + lane);
    });
  }
  const auto ops = [&](std::uint32_t lane) -> const std::vector<LaneOp>& {
    return turns_.task(*state_[lane].code, tasks_.lanes[lane].place.task).ops;
  };
  tasks_.apply(index, issue, now_, ops, [&](std::uint32_t lane, std::uint8_t context) {
    if (context != kTurnMain) tell(lane, *state_[lane].under_way.at(context));
  });
}

/// A cycle of routers without words: they send none.
void TurnSweep::rest(Block& block, std::size_t index) {
  if (!block.sent) return;
  block.sent = false;
  for (auto& stream : borders_) {
    for (const Side side : {kLow, kHigh}) stream[side].send(index * kWidth, Vector{});
  }
}

/// Words that went on to the next routers, and the room there.
void TurnSweep::hand_over() {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::size_t first = b * kWidth;
    Vector come{};
    for (unsigned s = 0; s < 2; ++s) {
      come |= borders_[s][kHigh].sent_before(first, step_of(s)) |
              borders_[s][kLow].sent_after(first, step_of(s));
    }
    if (!blocks_[b].words && !any(come)) continue;
    for (unsigned s = 0; s < 2; ++s) {
      Stream& t = blocks_[b].streams[s];
      auto& to = borders_[s];
      t.from[kLow].push(to[kHigh].sent_before(first, step_of(s)), link_);
      t.from[kHigh].push(to[kLow].sent_after(first, step_of(s)), link_);
      to[kHigh].show(first, t.from[kLow].room(link_));
      to[kLow].show(first, t.from[kHigh].room(link_));
    }
    // links that pause count cycles
    blocks_[b].words = link_rule_.on_links() || blocks_[b].has_words();
  }
}

/// Falls asleep if in cycles like this one nothing happens but beats of one cycle each.
void TurnSweep::fall_asleep(Block& block, std::size_t index, const Issue& issue) {
  const Tasks::Threads& t = tasks_.threads[index];
  const Vector main = t.left[kTurnMain] > Vector{};
  const Vector busy = t.ask | block.full | (block.may_pick & block.ready) | t.left[kTurnSendRow] |
                      t.left[kTurnSendColumn] | t.slot.left(0) | t.slot.left(1) |
                      (main & (t.extra | ~issue.issued[kTurnMain]));
  if (block.words || any(busy)) return;
  block.beats = any(main);
  block.still_waits = issue.waits.in;
  block.still = kWindow;
  for_each_lane<Small>(main, [&](unsigned lane) {
    block.still = std::min(block.still, static_cast<unsigned>(t.left[kTurnMain][lane]) - 1);
  });
}

void TurnSweep::make_up(Block& block, std::size_t index) {
  if (block.slept == 0) return;
  Vector& beats = tasks_.threads[index].left[kTurnMain];
  const Vector main = beats > Vector{};
  const Vector slept = all_lanes<Small>(block.slept);
  beats -= slept & main;
  block.wait_in += slept & block.still_waits;
  block.last = select(main, all_lanes<Small>(window_), block.last);
  block.slept = 0;
}

/// Returns the lanes in which something happened.
Vector TurnSweep::step_block(Block& block, std::size_t index) {
  Moves moves;
  if (block.words) {
    choose_words(block, index, moves);
  } else {
    rest(block, index);
  }
  block.delay += block.delay > 0;
  const Vector due = block.no_task & block.full & (block.delay == 0);
  const Vector words = turns_.by_tasks ? block.streams[kTurnColumn].in.has() : Vector{};
  const Vector look = tasks_.threads[index].ask | due | (block.may_pick & (words | block.ready));
  if (any(look)) {
    const auto first = static_cast<std::uint32_t>(index * kWidth);
    for_each_lane<Small>(look, [&](unsigned lane) { control(first + lane); });
  }
  const Issue issue = choose_thread(block, index);
  if (block.words) move_words(block, index, moves);
  apply(block, index, issue);
  fall_asleep(block, index, issue);
  Vector moved = look | moves.any();
  for (const Vector& issued : issue.issued) moved |= issued;
  return moved;
}

/// Returns whether anything happened.
bool TurnSweep::step() {
  Vector moved{};
  bool beats = false;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    if (block.still != 0 && !block.words) {
      --block.still;
      ++block.slept;
      beats = beats || block.beats;
      continue;
    }
    make_up(block, b);
    block.still = 0;
    moved |= step_block(block, b);
  }
  const bool acted = any(moved) || beats || tasks_.starts();
  tasks_.start_threads();
  hand_over();
  if (++window_ == kWindow) flush();
  return acted;
}

void TurnSweep::flush() {
  const Cycle begin = now_ + 1 - window_;
  for (std::size_t b = 0; b < blocks_.size(); ++b) make_up(blocks_[b], b);
  window_ = 0;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    Block& block = block_of(lane);
    Lane& state = state_[lane];
    const auto add = [&](std::uint64_t& sum, Vector& lanes) {
      sum += static_cast<std::uint64_t>(at(lanes, lane));
    };
    add(state.wait_in, block.wait_in);
    add(state.wait_out, block.wait_out);
    add(state.dispatch, block.dispatch);
    add(state.beside, block.beside);
    for (unsigned s = 0; s < 2; ++s) {
      for (auto& from : block.streams[s].from) add(state.stalled.at(s), from.stalled);
    }
    add(state.closed, block.streams[kTurnColumn].closed);
    Cycle last = 0;
    add(last, block.last);
    if (last != 0) state.end = std::max(state.end, begin + last);
  }
  for (Block& block : blocks_) {
    block.wait_in = block.wait_out = block.dispatch = block.beside = block.last = Vector{};
    for (Stream& t : block.streams) {
      t.closed = Vector{};
      for (auto& from : t.from) from.stalled = Vector{};
    }
  }
}

/// Every core has taken all words of its column and has nothing left to do.
bool TurnSweep::is_over() const {
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    const Lane& state = state_[lane];
    if (state.ready != 0 || tasks_.lanes[lane].place.task != kNoTask) return false;
  }
  for (const Tasks::Threads& threads : tasks_.threads) {
    Vector busy = threads.ask | threads.slot.kept(0);
    for (const Vector& left : threads.left) busy |= left;
    if (any(busy)) return false;
  }
  return std::all_of(blocks_.begin(), blocks_.end(),
                     [](const Block& block) { return !any(block.full) && !block.has_words(); });
}

bool TurnSweep::run() {
  for (bool over = false; !over;) {
    if (step()) moved_at_ = now_;
    if (lost_ || now_ - moved_at_ > kPatience) return false;  // they wait for each other
    over = window_ == 0 && is_over();
    ++now_;
  }
  return true;
}

/// Of a core in a run of so many cycles.
TaskCounters TurnSweep::core_counters(std::uint32_t lane, Cycle total) const {
  const Lane& state = state_[lane];
  TaskCounters counters;
  for (std::size_t i = 0; i < state.runs.size(); ++i) {
    const TurnTask& task = turns_.task(*state.code, i);
    counters.tasks += state.runs[i];
    // the word that started it
    if (task.kind != Task::Kind::local) counters.received += state.runs[i];
    add_task(task.counters, state.runs[i] + (i == 0 ? 1 : 0), counters);
  }
  counters.begin = tasks_.lanes[lane].begin;
  counters.end = state.end;
  counters.beside = state.beside;
  auto& cycles = counters.cycles;
  cycles[static_cast<std::size_t>(TaskCycle::fabric)] -= state.beside;
  cycles[static_cast<std::size_t>(TaskCycle::wait_in)] = state.wait_in;
  cycles[static_cast<std::size_t>(TaskCycle::wait_out)] = state.wait_out;
  cycles[static_cast<std::size_t>(TaskCycle::dispatch)] = state.dispatch;
  Cycle booked = 0;
  for (const std::uint64_t part : cycles) booked += part;
  cycles[static_cast<std::size_t>(TaskCycle::idle)] = total - booked;
  return counters;
}

/// Words that a stream's line sends before each place.
std::vector<std::uint64_t> TurnSweep::words_before(unsigned s) const {
  std::vector<std::uint64_t> before(lanes_, 0);
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    const std::uint32_t mine = place(s, lane);
    if (mine != 0) before[lane] = before[lane - step_of(s)] + sends(s, lane - step_of(s));
  }
  return before;
}

TaskOutcome TurnSweep::outcome() const {
  TaskOutcome outcome;
  outcome.cores.resize(lanes_);
  outcome.routers.resize(lanes_);
  for (const Lane& lane : state_) outcome.cycles = std::max(outcome.cycles, lane.end);
  const std::array<std::vector<std::uint64_t>, 2> before{words_before(0), words_before(1)};
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    outcome.cores[lane] = core_counters(lane, outcome.cycles);
    const Lane& state = state_[lane];
    RouterCounters& router = outcome.routers[lane];
    router.closures = state.closed;
    for (unsigned s = 0; s < 2; ++s) {
      const std::uint32_t ends = along(s, lane, count(s) - 1);
      const std::uint64_t all = before[s][ends] + sends(s, ends);
      const std::uint64_t upto = before[s][lane] + sends(s, lane);
      const bool row = s == kTurnRow;
      if (place(s, lane) != 0) router.sent[row ? kWest : kNorth] = all - before[s][lane];
      if (place(s, lane) + 1 != count(s)) router.sent[row ? kEast : kSouth] = upto;
      router.sent[kRamp] += turns_.to_itself.at(s) ? all : all - sends(s, lane);
      router.stalls[static_cast<std::size_t>(turns_.color.at(s))] = state.stalled.at(s);
    }
  }
  return outcome;
}

}  // namespace turns

std::optional<TaskOutcome> sweep_turns(const TaskParams& params, const TaskProgram& program) {
  const std::optional<TurnProgram> turns = find_turns(params, program);
  if (!turns) return std::nullopt;
  turns::TurnSweep sweep(params, *turns);
  if (!sweep.run()) return std::nullopt;
  return sweep.outcome();
}

}  // namespace lacuna::wse
