// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/lane_wafer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/lanes/fit.hpp"
#include "models/wse/lanes/lane_plan.hpp"
#include "models/wse/lanes/steps.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/task_control.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse::lanes {
namespace {

constexpr std::uint32_t kMost = 100;  // beats that a lane counts down
constexpr Cycle kWindow = 100;        // cycles that it counts
constexpr Cycle kPatience = 1000;     // cycles in which nothing happens

/// Memory that begins at a line of the host's cache.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : store_(size + 64, 0) {
    void* at = store_.data();
    std::size_t room = store_.size();
    data_ = static_cast<std::int8_t*>(std::align(64, size, at, room));
  }
  std::int8_t* data() { return data_; }

 private:
  std::vector<std::int8_t> store_;
  std::int8_t* data_ = nullptr;
};

/// Commands in the order of the words that carry them, no more than a queue with tags holds.
class Commands {
 public:
  void push(SwitchCommands commands) { ring_[(first_ + count_++) % kMost] = commands; }
  SwitchCommands front() const { return ring_[first_]; }
  SwitchCommands pop() {
    const SwitchCommands commands = front();
    first_ = (first_ + 1U) % kMost;
    --count_;
    return commands;
  }

 private:
  static constexpr std::uint8_t kMost = 8;
  std::array<SwitchCommands, kMost> ring_{};
  std::uint8_t first_ = 0;
  std::uint8_t count_ = 0;
};

class LaneWafer {
 public:
  LaneWafer(const TaskParams& params, const TaskProgram& program, const LanePlan& plan,
            const Fit& fit, StepFunction step, unsigned width)
      : program_(program),
        plan_(plan),
        shape_(*fit.shape),
        at_(*fit.shape),
        class_of_(turned(fit.class_of)),
        control_(params),
        step_(step),
        width_(width),
        blocks_of_row_((program.columns + width - 1) / width),
        blocks_(std::size_t{blocks_of_row_} * program.rows),
        lanes_(blocks_ * width),
        fields_(blocks_ * width * static_cast<std::size_t>(at_.fields)),
        awake_(blocks_, 0),
        stride_(std::uint64_t{blocks_of_row_} * width + 2 * kFrame),
        plane_(stride_ * (program.rows + 2)),
        room_(2 * kMostSlots * plane_),
        sent_(2 * kMostSlots * plane_),
        sent_tags_(2 * kMostSlots * plane_),
        commands_(lanes_.size() * (kMostSlots + kMostClasses)) {
    describe_machine(params);
    for (std::size_t place = 0; place < program.core_of.size(); ++place) add_core(place);
  }

  LaneOutcome run() {
    Cycle moved_at = 0;
    while (running_ != 0 || words_are_left()) {
      const Happened happened = step_(machine_, now_);
      start_threads();
      if (happened.moved) moved_at = now_;
      if (happened.busy) end_ = std::max(end_, now_ + 1);
      if (now_ - moved_at > kPatience) throw InternalError("lanes wait for each other");
      ++now_;
      if (now_ % kWindow == 0) flush();
    }
    flush();
    return outcome();
  }

 private:
  struct Lane {
    const Code* code = nullptr;
    const std::array<ColorUse, kMostClasses>* router = nullptr;
    TaskPlace place;
    std::array<std::uint32_t, kMostContexts> more{};  // beats beyond those in the lanes
    std::array<const Op*, kMostContexts> under_way{};
    std::vector<std::uint8_t> active, blocked;
    std::uint32_t ready = 0;   // tasks that are active and not blocked
    const Op* told = nullptr;  // of the main thread, which is over and not left yet
    bool runs = false;
    std::array<ColorSwitch, kMostClasses> switches;
    LaneOutcome::Core counters;
    std::uint64_t stalls = 0;
  };
  struct Start {
    std::uint32_t lane;
    const Op* op;
  };
  class Main;

  std::int8_t& field(int number, std::uint32_t lane) {
    const std::size_t first = lane & ~(width_ - 1);
    return fields_.data()[first * static_cast<std::size_t>(at_.fields) +
                          static_cast<std::size_t>(number) * width_ + (lane - first)];
  }
  std::uint32_t lane_of(std::size_t place) const {
    const auto row = static_cast<std::uint32_t>(place / program_.columns);
    const auto column = static_cast<std::uint32_t>(place % program_.columns);
    return row * blocks_of_row_ * width_ + column;
  }
  const ColorUse& color_use(std::uint32_t lane, int cls) const {
    return (*lanes_[lane].router)[static_cast<std::size_t>(fit_class(cls))];
  }
  /// The program's class that a class of the shape stands for.
  int fit_class(int cls) const { return class_of_[static_cast<std::size_t>(cls)]; }

  static std::array<int, kMostClasses> turned(const std::array<int, kMostClasses>& class_of) {
    std::array<int, kMostClasses> of{};
    for (int c = 0; c < kMostClasses; ++c) {
      of.at(static_cast<std::size_t>(class_of.at(static_cast<std::size_t>(c)))) = c;
    }
    return of;
  }

  void describe_machine(const TaskParams& params) {
    const QueueShapes shapes(params.router);
    const auto bit_of = [](Cycle latency) { return static_cast<std::int8_t>(1U << (latency - 1)); };
    machine_.fields = fields_.data();
    machine_.blocks = static_cast<std::uint32_t>(blocks_);
    machine_.blocks_of_row = blocks_of_row_;
    machine_.awake = awake_.data();
    machine_.room = room_.data();
    machine_.sent = sent_.data();
    machine_.sent_tags = sent_tags_.data();
    machine_.plane = plane_;
    machine_.stride = stride_;
    machine_.link_room = static_cast<std::int8_t>(shapes.link().capacity);
    machine_.ramp_room = static_cast<std::int8_t>(shapes.ramp_up().capacity);
    machine_.link_bit = bit_of(shapes.link().latency);
    machine_.ramp_bit = bit_of(shapes.ramp_up().latency);
    machine_.core_bit = bit_of(shapes.ramp_down(1).latency);
    machine_.turns = ArbiterRule(params.router).in_turn;
    const IssueRule issue(params.core);
    machine_.first = static_cast<std::uint8_t>(issue.first);
    machine_.context_turns = issue.in_turn;
    std::fill_n(room_.data(), 2 * kMostSlots * plane_, machine_.link_room);
    machine_.owner = this;
    machine_.tell = [](void* owner, std::uint32_t block, Event what, int of,
                       const std::int8_t* lanes) {
      LaneWafer& self = *static_cast<LaneWafer*>(owner);
      self.each(block, lanes, [&](std::uint32_t lane) { self.happens(what, lane, of); });
    };
  }

  template <class Visit>
  void each(std::uint32_t block, const std::int8_t* lanes, const Visit& visit) const {
    for (unsigned word = 0; word < width_ / 8; ++word) {
      std::uint64_t left = 0;
      std::memcpy(&left, lanes + std::size_t{8} * word, sizeof left);
      while (left != 0) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(left)) / 8;
        visit(block * width_ + 8 * word + lane);
        left &= ~(std::uint64_t{0xFF} << (8 * lane));
      }
    }
  }

  void add_core(std::size_t place) {
    const std::uint32_t lane = lane_of(place);
    const std::uint32_t number = program_.core_of[place];
    Lane& state = lanes_[lane];
    state.code = &plan_.codes[number];
    state.router = &plan_.routers[program_.router_of[place]];
    for (int c = 0; c < shape_.classes; ++c) add_queues(lane, c, number);
    for (int s = 0; s < shape_.slots; ++s) {
      const Slot& slot = shape_.slot[s];
      const int color = color_use(lane, slot.cls).color.at(slot.port);
      field(at_.color[s], lane) = static_cast<std::int8_t>(std::max(color, 0));
      if (shape_.slot[s].switched) field(at_.tail[s], lane) = 1;
    }
    std::uint8_t queues = 0;
    for (const SwitchedRoute& route : program_.routers[program_.router_of[place]].routes) {
      if (route.from != kRamp) continue;
      for (int c = 0; c < shape_.classes; ++c) {
        if (at_.ramp_slot[c] == kNone) continue;
        if (color_use(lane, c).color[kRamp] != static_cast<int>(route.color)) continue;
        if (numbered_.insert({lane, c}).second) {
          field(at_.number[c], lane) = static_cast<std::int8_t>(queues++);
        }
      }
    }
    for (const auto& task : state.code->tasks) {
      state.active.push_back(task->active ? 1 : 0);
      state.blocked.push_back(task->blocked ? 1 : 0);
      const bool first = task->active && !task->blocked && state.place.task == kNoTask;
      if (!first) continue;
      state.place.task = static_cast<TaskIndex>(state.active.size() - 1);
      state.active.back() = 0;
    }
    for (std::size_t i = 0; i < state.active.size(); ++i) {
      state.ready += state.active[i] != 0 && state.blocked[i] == 0 ? 1 : 0;
    }
    field(at_.no_task, lane) = state.place.task == kNoTask ? -1 : 0;
    if (state.place.task != kNoTask || state.ready != 0) {
      field(at_.ask, lane) = -1;
      state.runs = true;
      ++running_;
    }
  }
  void add_queues(std::uint32_t lane, int cls, std::uint32_t number) {
    const auto from = static_cast<std::size_t>(fit_class(cls));
    const ColorUse& use = color_use(lane, cls);
    if (at_.to_core[cls]) {
      field(at_.in_room[cls], lane) = static_cast<std::int8_t>(plan_.in_room[number].at(from));
    }
    if (at_.ramp_slot[cls] != kNone) {
      field(at_.out_room[cls], lane) = static_cast<std::int8_t>(plan_.out_room[number].at(from));
    }
    ColorSwitch& state = lanes_[lane].switches.at(static_cast<std::size_t>(cls));
    state.rules = {use.positions, use.ring, use.pop};
    set_masks(lane, cls, 0);
  }
  void set_masks(std::uint32_t lane, int cls, std::uint8_t position) {
    const ColorUse& use = color_use(lane, cls);
    for (int p = 0; p < shape_.paths; ++p) {
      const Slot& slot = shape_.slot[shape_.path[p].slot];
      if (slot.cls != cls) continue;
      const PortSet to = use.to.at(slot.port).at(position);
      field(at_.mask[p], lane) = (to & bit(shape_.path[p].port)) != 0 ? -1 : 0;
    }
  }

  void set_active(Lane& state, TaskIndex task, bool active) {
    change(state, task, [&] { state.active[task] = active ? 1 : 0; });
  }
  void set_blocked(Lane& state, TaskIndex task, bool blocked) {
    change(state, task, [&] { state.blocked[task] = blocked ? 1 : 0; });
  }
  template <class Change>
  static void change(Lane& state, TaskIndex task, const Change& change) {
    const auto ready = [&] {
      return state.active[task] != 0 && state.blocked[task] == 0 ? 1U : 0U;
    };
    state.ready -= ready();
    change();
    state.ready += ready();
  }
  void tell(Lane& state, const Op& op) {
    if (op.activates != kNoTask) set_active(state, op.activates, true);
    if (op.unblocks != kNoTask) set_blocked(state, op.unblocks, false);
    if (op.blocks != kNoTask) set_blocked(state, op.blocks, true);
  }

  void control(std::uint32_t lane);
  void happens(Event what, std::uint32_t lane, int of) {
    switch (what) {
      case Event::control:
        return control(lane);
      case Event::over:
        return over(lane, of);
      case Event::goes_up:
        return go_up(lane, of);
      case Event::passes:
        return pass(lane, of);
      case Event::leaves:
        return leave(lane, of);
    }
  }

  /// The beats of an op of a context begin.
  void load(std::uint32_t lane, const Op& op) {
    Lane& state = lanes_[lane];
    state.under_way.at(op.context) = &op;
    for (int u = 0; u < shape_.uses; ++u) {
      const Use& use = shape_.use[u];
      if (use.context != op.context) continue;
      const unsigned classes = use.out ? op.sends : op.takes;
      field(at_.need[u], lane) = (classes >> fit_class(use.cls) & 1U) != 0 ? -1 : 0;
    }
    if (op.context == 0) field(at_.extra, lane) = static_cast<std::int8_t>(op.extra);
    count_down(lane, op.context, op.count);
  }
  void count_down(std::uint32_t lane, std::uint8_t context, std::uint32_t beats) {
    const std::uint32_t here = std::min(beats, kMost);
    field(at_.left[context], lane) = static_cast<std::int8_t>(here);
    lanes_[lane].more.at(context) = beats - here;
  }
  void start_threads() {
    for (const Start& start : starts_) load(start.lane, *start.op);
    starts_.clear();
  }

  /// The beats that a lane knows of have been issued.
  void over(std::uint32_t lane, int number) {
    const auto context = static_cast<std::uint8_t>(number);
    Lane& state = lanes_[lane];
    if (state.more.at(context) != 0) {
      count_down(lane, context, state.more.at(context));
      return;
    }
    const Op& op = *state.under_way.at(context);
    if (op.switches != 0) tag_last(lane, op);
    if (context != 0) {
      tell(state, op);
    } else {
      const std::vector<Op>& ops = state.code->tasks[state.place.task]->ops;
      std::size_t& next = state.place.next_step;
      const bool tells = op.activates != kNoTask || op.unblocks != kNoTask;
      if (!tells && next != ops.size() && ops[next].continues &&
          ops[next].kind == Op::Kind::beats) {
        load(lane, ops[next++]);
        if (next != state.code->tasks[state.place.task]->begun) return;
      } else {
        state.told = &op;
      }
    }
    field(at_.ask, lane) = -1;
  }

  /// The word that was put last into an output queue carries commands.
  void tag_last(std::uint32_t lane, const Op& op) {
    for (int c = 0; c < shape_.classes; ++c) {
      const int slot = at_.ramp_slot[c];
      if (slot == kNone || (op.sends >> fit_class(c) & 1U) == 0) continue;
      if (!shape_.slot[slot].switched) continue;
      const int words = field(at_.words[c], lane);
      std::int8_t& tags = field(at_.out_tags[c], lane);
      tags = static_cast<std::int8_t>(static_cast<unsigned>(tags) | 1U << (words - 1));
      commands(lane, kMostSlots + c).push(op.switches);
    }
  }
  /// Of the words of a slot, or an output queue, that carry some.
  Commands& commands(std::uint32_t lane, int of) {
    return commands_[std::size_t{lane} * (kMostSlots + kMostClasses) +
                     static_cast<std::size_t>(of)];
  }
  void go_up(std::uint32_t lane, int cls) {
    commands(lane, at_.ramp_slot[cls]).push(commands(lane, kMostSlots + cls).pop());
  }
  void pass(std::uint32_t lane, int path) {
    const int to = at_.to_slot[path];
    if (to == kNone) return;
    const int slot = shape_.path[path].slot;
    const ColorSwitch& state = lanes_[lane].switches.at(shape_.slot[slot].cls);
    commands(neighbour(lane, shape_.path[path].port), to)
        .push(state.passed_on(commands(lane, slot).front()));
  }
  std::uint32_t neighbour(std::uint32_t lane, unsigned port) const {
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
  void leave(std::uint32_t lane, int number) {
    const Slot& slot = shape_.slot[number];
    const SwitchCommand command =
        ColorSwitch::command_for(commands(lane, number).pop(), static_cast<Port>(slot.port));
    if (command == SwitchCommand::none) return;
    ColorSwitch& state = lanes_[lane].switches.at(slot.cls);
    state.obey(command, now_, 0);
    set_masks(lane, slot.cls, state.position);
  }

  bool words_are_left() const {
    return std::any_of(awake_.begin(), awake_.end(), [](std::uint8_t awake) { return awake != 0; });
  }

  void flush() {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      Lane& state = lanes_[lane];
      if (state.code == nullptr) continue;
      const auto add = [&](std::uint64_t& sum, int number) {
        std::int8_t& counted = field(number, lane);
        sum += static_cast<std::uint64_t>(counted);
        counted = 0;
      };
      add(state.counters.wait_in, at_.wait_in);
      add(state.counters.wait_out, at_.wait_out);
      add(state.counters.dispatch, at_.dispatch);
      for (int s = 0; s < shape_.slots; ++s) add(state.stalls, at_.stall[s]);
    }
  }

  LaneOutcome outcome() const {
    LaneOutcome outcome;
    outcome.width = width_;
    outcome.cycles = end_;
    for (std::size_t place = 0; place < program_.core_of.size(); ++place) {
      outcome.cores.push_back(lanes_[lane_of(place)].counters);
      outcome.stalls.push_back(lanes_[lane_of(place)].stalls);
    }
    return outcome;
  }

  const TaskProgram& program_;
  const LanePlan& plan_;
  const Shape& shape_;
  const Layout at_;
  const std::array<int, kMostClasses> class_of_;  // of the program, by the shape's
  const TaskControl control_;
  const StepFunction step_;
  const unsigned width_;
  const std::uint32_t blocks_of_row_;
  const std::size_t blocks_;
  std::vector<Lane> lanes_;
  Bytes fields_;
  std::vector<std::uint8_t> awake_;
  const std::uint64_t stride_;
  const std::uint64_t plane_;
  Bytes room_, sent_, sent_tags_;
  std::vector<Commands> commands_;
  std::set<std::pair<std::uint32_t, int>> numbered_;
  std::vector<Start> starts_;
  Machine machine_;
  Cycle now_ = 0;
  Cycle end_ = 0;
  std::size_t running_ = 0;  // lanes with something to do
};

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
    wafer_.end_ = std::max(wafer_.end_, now + 1);
  }
  /// None if none could be taken.
  std::size_t tasks() const { return state_.ready == 0 ? 0 : state_.active.size(); }
  bool triggered(std::size_t task, Cycle /*now*/) const {
    return state_.active[task] != 0 && state_.blocked[task] == 0;
  }
  Task::Kind take(std::size_t task, Cycle now) {
    wafer_.set_active(state_, static_cast<TaskIndex>(task), false);
    wafer_.end_ = std::max(wafer_.end_, now + 1);
    return Task::Kind::local;
  }
  static unsigned full_outputs(Cycle /*now*/) { return 0; }

 private:
  const Code::Task& running() const { return *state_.code->tasks[state_.place.task]; }

  LaneWafer& wafer_;
  const std::uint32_t lane_;
  Lane& state_;
};

StepTaken LaneWafer::Main::take_step(Cycle /*now*/) {
  const Op& op = running().ops[state_.place.next_step];
  if (op.kind == Op::Kind::tell) {
    ++state_.place.next_step;
    wafer_.tell(state_, op);
    return StepTaken::at_once;
  }
  if (op.context != 0 && wafer_.field(wafer_.at_.left[op.context], lane_) != 0) {
    return StepTaken::waits;
  }
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

void LaneWafer::control(std::uint32_t lane) {
  Lane& state = lanes_[lane];
  std::int8_t& ask = field(at_.ask, lane);
  const bool in_beat = field(at_.kept, lane) != 0;
  ask = in_beat ? -1 : 0;
  if (!in_beat && state.told != nullptr) {
    tell(state, *state.told);
    state.told = nullptr;
  }
  Main main(*this, lane);
  control_.main_thread(main, now_);
  const TaskPlace& place = state.place;
  field(at_.no_task, lane) = place.task == kNoTask ? -1 : 0;
  field(at_.full, lane) = place.taken != kNoTask ? -1 : 0;
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

}  // namespace

std::vector<unsigned> lane_widths() { return step_widths(); }

LaneOutcome simulate_lanes(const TaskParams& params, const TaskProgram& program, unsigned width) {
  LaneOutcome outcome;
  LanePlan plan;
  outcome.refused = plan_lanes(params, program, plan);
  if (!outcome.refused.empty()) return outcome;
  const Fit fit = tightest_shape(plan.needs);
  if (fit.shape == nullptr) {
    outcome.refused = fit.why;
    return outcome;
  }
  const unsigned chosen = width != 0 ? width : step_widths().back();
  LaneWafer wafer(params, program, plan, fit, step_function(fit.number, chosen), chosen);
  outcome = wafer.run();
  outcome.shape = fit.name;
  return outcome;
}

}  // namespace lacuna::wse::lanes
