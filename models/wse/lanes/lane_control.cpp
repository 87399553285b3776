// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/lanes/lane_state.hpp"

// What happens in few lanes at a time: main threads go from step to step, instructions end, words
// carry commands.

namespace lacuna::wse::lanes {
namespace {

constexpr std::uint32_t kMostBeats = 100;  // that a lane counts down

}  // namespace

void LaneWafer::tell(std::uint32_t block, Event what, int of, const std::int8_t* lanes) {
  for (unsigned word = 0; word < width_ / 8; ++word) {
    std::uint64_t left = 0;
    std::memcpy(&left, lanes + std::size_t{8} * word, sizeof left);
    while (left != 0) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctzll(left)) / 8;
      happens(what, block * width_ + 8 * word + lane, of);
      left &= ~(std::uint64_t{0xFF} << (8 * lane));
    }
  }
}

void LaneWafer::happens(Event what, std::uint32_t lane, int of) {
  switch (what) {
    case Event::control:
      return control(lane);
    case Event::begins:
      lanes_[lane].counters.begin = now_;
      return;
    case Event::over:
      return over(lane, of);
    case Event::goes_up:
      return tags(lane, at_.ramp_slot[of]).push(tags(lane, kMostSlots + of).pop());
    case Event::passes:
      return pass(lane, of);
    case Event::leaves:
      return leave(lane, of);
    case Event::reads:
      return commands_read(lane, of);
  }
}

void LaneWafer::set_active(Lane& state, TaskIndex task, bool active) {
  const bool before = state.active[task] != 0;
  state.active[task] = active ? 1 : 0;
  if (before != active && state.blocked[task] == 0) active ? ++state.ready : --state.ready;
}
void LaneWafer::set_blocked(Lane& state, TaskIndex task, bool blocked) {
  const bool before = state.blocked[task] != 0;
  state.blocked[task] = blocked ? 1 : 0;
  if (before != blocked && state.active[task] != 0) blocked ? --state.ready : ++state.ready;
}
void LaneWafer::tell_tasks(Lane& state, const Op& op) const {
  if (op.activates != kNoTask) set_active(state, op.activates, true);
  if (op.unblocks != kNoTask) set_blocked(state, op.unblocks, false);
  if (op.blocks != kNoTask) set_blocked(state, op.blocks, true);
  if (op.stamps) state.stamps.push_back(now_);
}

/// The beats of an op of a context begin.
void LaneWafer::load(std::uint32_t lane, const Op& op) {
  Lane& state = lanes_[lane];
  state.under_way.at(op.context) = &op;
  for (int u = 0; u < shape_.uses; ++u) {
    const Use& use = shape_.use[u];
    if (use.context != op.context) continue;
    const unsigned classes = use.out ? op.sends : op.takes;
    const bool needs = (classes >> fit_class(use.cls) & 1U) != 0;
    const std::uint8_t words = use.out ? op.words_out : op.words_in;
    field(at_.need[u], lane) = static_cast<std::int8_t>(needs ? words : 0);
  }
  if (op.context == 0) field(at_.extra, lane) = static_cast<std::int8_t>(op.extra);
  count_down(lane, op.context, op.count);
}
void LaneWafer::count_down(std::uint32_t lane, std::uint8_t context, std::uint32_t beats) {
  const std::uint32_t here = std::min(beats, kMostBeats);
  field(at_.left[context], lane) = static_cast<std::int8_t>(here);
  lanes_[lane].more.at(context) = beats - here;
}
void LaneWafer::start_threads() {
  for (const Start& start : starts_) load(start.lane, *start.op);
  starts_.clear();
}

/// The beats that a lane knows of have been issued.
void LaneWafer::over(std::uint32_t lane, int number) {
  const auto context = static_cast<std::uint8_t>(number);
  Lane& state = lanes_[lane];
  const Op& op = *state.under_way.at(context);
  const Cycle end = now_ + 1 + op.extra;
  state.counters.end = std::max(state.counters.end, end);
  end_ = std::max(end_, end);
  if (state.more.at(context) != 0) {
    count_down(lane, context, state.more.at(context));
    return;
  }
  if (op.switches != 0 || op.control) tag_last(lane, op);
  if (context == 0) return go_on(lane, op);
  if (op.goes_on) return load(lane, *(&op + 1));
  tell_tasks(state, op);
  field(at_.ask, lane) = -1;
}

/// The main thread goes on with the beats that follow, or asks what does.
void LaneWafer::go_on(std::uint32_t lane, const Op& op) {
  Lane& state = lanes_[lane];
  const TaskCode& task = *state.code->tasks[state.place.task];
  std::size_t& next = state.place.next_step;
  const bool tells = op.activates != kNoTask || op.unblocks != kNoTask;
  const bool follows = !tells && next != task.ops.size() && task.ops[next].continues &&
                       task.ops[next].kind == Op::Kind::beats;
  if (follows) {
    load(lane, task.ops[next++]);
    if (next != task.begun) return;
  } else {
    state.told = &op;
  }
  field(at_.ask, lane) = -1;
}

/// The word that was put last into an output queue carries commands, or is one.
void LaneWafer::tag_last(std::uint32_t lane, const Op& op) {
  for (int c = 0; c < shape_.classes; ++c) {
    const int slot = at_.ramp_slot[c];
    if (slot == kNone || (op.sends >> fit_class(c) & 1U) == 0) continue;
    if (!shape_.slot[slot].switched) continue;
    const int words = value(at_.words[c], lane);
    std::int8_t& tagged = field(at_.out_tags[c], lane);
    tagged = static_cast<std::int8_t>(static_cast<unsigned>(tagged) | 1U << (words - 1));
    tags(lane, kMostSlots + c).push({op.switches, op.control, op.id});
  }
}
/// Of the words of a slot, or an output queue, that have some.
Tags& LaneWafer::tags(std::uint32_t lane, int of) {
  return tags_[std::size_t{lane} * (kMostSlots + kMostClasses) + static_cast<std::size_t>(of)];
}
void LaneWafer::pass(std::uint32_t lane, int path) {
  const int slot = shape_.path[path].slot;
  const int cls = shape_.slot[slot].cls;
  Tag tag = tags(lane, slot).front();
  const int to = at_.to_slot[path];
  if (to == kNone) {
    if (tag.control && is_trigger(shape_, cls)) comes_down(lane, cls, tag.id);
    return;
  }
  tag.switches = lanes_[lane].switches.at(static_cast<std::size_t>(cls)).passed_on(tag.switches);
  tags(neighbour(lane, shape_.path[path].port), to).push(tag);
}
std::uint32_t LaneWafer::neighbour(std::uint32_t lane, unsigned port) const {
  const std::uint32_t row = blocks_of_row_ * width_;
  switch (port) {
    case kNorth:
      return lane - row;
    case kEast:
      return lane + 1;
    case kSouth:
      return lane + row;
    default:
      return lane - 1;
  }
}
void LaneWafer::leave(std::uint32_t lane, int number) {
  const Slot& slot = shape_.slot[number];
  const SwitchCommand command =
      ColorSwitch::command_for(tags(lane, number).pop().switches, static_cast<Port>(slot.port));
  if (command == SwitchCommand::none) return;
  ColorSwitch& state = lanes_[lane].switches.at(slot.cls);
  state.obey(command, now_, 0);
  set_masks(lane, slot.cls, state.position);
}

/// A command goes into an input queue, behind the words that are there.
void LaneWafer::comes_down(std::uint32_t lane, int cls, std::uint8_t id) {
  std::vector<Command>& commands = lanes_[lane].commands.at(static_cast<std::size_t>(cls));
  int ahead = value(at_.in_count[cls], lane);
  if (commands.empty()) {
    field(at_.told[cls], lane) = -1;
    field(at_.until[cls], lane) = static_cast<std::int8_t>(ahead);
  } else {
    ahead -= field(at_.until[cls], lane) + 1;
    for (std::size_t i = 1; i < commands.size(); ++i) ahead -= commands[i].after + 1;
  }
  commands.push_back({ahead, id});
}
/// The first command of an input queue has been taken, and maybe more.
void LaneWafer::commands_read(std::uint32_t lane, int cls) {
  std::vector<Command>& commands = lanes_[lane].commands.at(static_cast<std::size_t>(cls));
  int until = value(at_.until[cls], lane);
  while (until < 0 && !commands.empty()) {
    commands.erase(commands.begin());
    until += 1 + (commands.empty() ? 0 : commands.front().after);
  }
  field(at_.told[cls], lane) = mask(!commands.empty());
  field(at_.until[cls], lane) = static_cast<std::int8_t>(commands.empty() ? 0 : until);
}

/// A lane as TaskControl sees it.
class LaneWafer::Main {
 public:
  Main(LaneWafer& wafer, std::uint32_t lane)
      : wafer_(wafer), lane_(lane), state_(wafer.lanes_[lane]) {}

  TaskPlace& place() { return state_.place; }
  bool idle() const {
    return wafer_.field(wafer_.at_.left[0], lane_) == 0 && state_.told == nullptr &&
           wafer_.field(wafer_.at_.kept, lane_) == 0;
  }
  bool all_begun() const { return state_.place.next_step >= running().begun; }
  StepTaken take_step(Cycle now);
  void begun(Cycle now) {
    ++state_.counters.tasks;
    ++state_.times[state_.place.task];
    ends(now);
  }
  std::size_t tasks() const { return state_.code->tasks.size(); }
  bool triggered(std::size_t task, Cycle now);
  TaskTrigger take(std::size_t task, Cycle now);
  static unsigned full_outputs(Cycle /*now*/) { return 0; }

 private:
  const TaskCode& running() const { return *state_.code->tasks[state_.place.task]; }
  void ends(Cycle now) {
    state_.counters.end = std::max(state_.counters.end, now + 1);
    wafer_.end_ = std::max(wafer_.end_, now + 1);
  }
  bool starts(const TaskCode& task, int cls) const;
  bool is_read(int cls) const;

  LaneWafer& wafer_;
  const std::uint32_t lane_;
  Lane& state_;
  int word_of_ = kNone;  // the class of the word that has triggered a task
};

StepTaken LaneWafer::Main::take_step(Cycle /*now*/) {
  const std::vector<Op>& ops = running().ops;
  const Op& op = ops[state_.place.next_step];
  if (op.kind == Op::Kind::tell) {
    ++state_.place.next_step;
    wafer_.tell_tasks(state_, op);
    return StepTaken::at_once;
  }
  if (op.context != 0 && wafer_.field(wafer_.at_.left[op.context], lane_) != 0) {
    return StepTaken::waits;
  }
  while (ops[state_.place.next_step].goes_on) ++state_.place.next_step;
  ++state_.place.next_step;
  if (op.kind == Op::Kind::wait) return StepTaken::at_once;
  if (op.context == 0) {
    wafer_.load(lane_, op);
  } else {
    wafer_.starts_.push_back({lane_, &op});
    wafer_.field(wafer_.at_.ask, lane_) = -1;
  }
  return StepTaken::time;
}

bool LaneWafer::Main::triggered(std::size_t task, Cycle /*now*/) {
  word_of_ = kNone;
  if (state_.blocked[task] != 0) return false;
  const TaskCode& what = *state_.code->tasks[task];
  if (what.kind == Task::Kind::local) return state_.active[task] != 0;
  int color = kColors;  // queues are asked in the order of their colors
  for (int c = 0; c < wafer_.shape_.classes; ++c) {
    if (!is_trigger(wafer_.shape_, c) || !starts(what, c)) continue;
    const int here = wafer_.color_use(lane_, c).down;
    if (here < 0 || here >= color) continue;
    color = here;
    word_of_ = c;
  }
  return word_of_ != kNone;
}

bool LaneWafer::Main::starts(const TaskCode& task, int cls) const {
  if (task.kind == Task::Kind::data && wafer_.shape_class(task.cls) != cls) return false;
  if (wafer_.field(wafer_.at_.in_seen[cls], lane_) <= 0) return false;
  const bool command = wafer_.field(wafer_.at_.told[cls], lane_) != 0 &&
                       wafer_.field(wafer_.at_.until[cls], lane_) == 0;
  if (command != (task.kind == Task::Kind::control)) return false;
  if (command && state_.commands.at(static_cast<std::size_t>(cls)).front().id != task.id) {
    return false;
  }
  return !is_read(cls);
}

/// An instruction takes words of this class, now or next.
bool LaneWafer::Main::is_read(int cls) const {
  const unsigned bit = 1U << wafer_.fit_class(cls);
  for (int k = 0; k < wafer_.shape_.contexts; ++k) {
    const bool busy = k == 0 ? !idle() : wafer_.field(wafer_.at_.left[k], lane_) != 0;
    if (busy && (state_.under_way.at(static_cast<std::size_t>(k))->takes & bit) != 0) return true;
  }
  const bool next = !wafer_.starts_.empty() && wafer_.starts_.back().lane == lane_;
  return next && (wafer_.starts_.back().op->takes & bit) != 0;
}

TaskTrigger LaneWafer::Main::take(std::size_t task, Cycle now) {
  TaskTrigger by;
  by.kind = state_.code->tasks[task]->kind;
  wafer_.set_active(state_, static_cast<TaskIndex>(task), false);
  if (word_of_ != kNone) {
    by.color = static_cast<unsigned>(wafer_.color_use(lane_, word_of_).down);
    --wafer_.field(wafer_.at_.in_seen[word_of_], lane_);
    --wafer_.field(wafer_.at_.in_count[word_of_], lane_);
    ++state_.counters.received;
    if (wafer_.field(wafer_.at_.told[word_of_], lane_) != 0) {
      --wafer_.field(wafer_.at_.until[word_of_], lane_);
      wafer_.commands_read(lane_, word_of_);
    }
  }
  ends(now);
  return by;
}

void LaneWafer::control(std::uint32_t lane) {
  Lane& state = lanes_[lane];
  std::int8_t& ask = field(at_.ask, lane);
  const bool in_beat = field(at_.kept, lane) != 0;
  ask = mask(in_beat);
  if (!in_beat && state.told != nullptr) {
    tell_tasks(state, *state.told);
    state.told = nullptr;
  }
  Main main(*this, lane);
  control_.main_thread(main, now_);
  const TaskPlace& place = state.place;
  field(at_.no_task, lane) = mask(place.task == kNoTask);
  field(at_.full, lane) = mask(place.taken != kNoTask);
  field(at_.picks, lane) = mask(control_.picks(main));
  if (place.taken != kNoTask) {
    field(at_.delay, lane) = static_cast<std::int8_t>(place.ready > now_ ? place.ready - now_ : 0);
  }
  bool runs = place.task != kNoTask || place.taken != kNoTask || state.ready != 0;
  for (int k = 0; k < shape_.contexts; ++k) runs = runs || field(at_.left[k], lane) != 0;
  runs = runs || (!starts_.empty() && starts_.back().lane == lane);
  if (runs == state.runs) return;
  state.runs = runs;
  runs ? ++running_ : --running_;
}

}  // namespace lacuna::wse::lanes
