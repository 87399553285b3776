// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/lane_wafer.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes/lane_state.hpp"
#include "models/wse/lanes/steps.hpp"
#include "models/wse/pe/issue.hpp"

namespace lacuna::wse::lanes {
namespace {

constexpr Cycle kWindow = 100;     // cycles that a lane counts
constexpr Cycle kPatience = 1000;  // cycles in which nothing happens

std::array<int, kMostClasses> turned(const std::array<int, kMostClasses>& class_of) {
  std::array<int, kMostClasses> of{};
  for (int c = 0; c < kMostClasses; ++c) {
    of.at(static_cast<std::size_t>(class_of.at(static_cast<std::size_t>(c)))) = c;
  }
  return of;
}

/// From the last word before a pause of a link to the first after it.
Cycle shut_after(const LinkRule& links) {
  LinkMeter meter;
  for (unsigned i = 0; i < links.words; ++i) meter.sent(links, 0);
  return meter.opens();
}

/// What so many columns cost: blocks do, and so do lanes.
std::uint64_t cost(std::uint32_t columns, unsigned width) {
  constexpr unsigned kBlock = 16;  // as many lanes
  return (columns + width - 1) / width * std::uint64_t{kBlock + width};
}
unsigned best_width(std::uint32_t columns) {
  const std::vector<unsigned> widths = step_widths();
  return *std::min_element(widths.begin(), widths.end(), [&](unsigned a, unsigned b) {
    return cost(columns, a) < cost(columns, b);
  });
}
std::uint64_t cost_of(std::uint32_t columns, std::uint32_t rows) {
  return rows * cost(columns, best_width(columns));
}

/// Nothing says which of rows and columns is which: no ports are asked in an order, and no copies
/// to the south are told apart.
bool may_turn(const Shape& needs) {
  const auto copies = [](const Slot& slot) { return slot.several; };
  return needs.contested == 0 &&
         std::none_of(needs.slot.begin(), needs.slot.begin() + needs.slots, copies);
}
/// North is west then, and south is east.
constexpr unsigned turned_port(unsigned port) { return port == kRamp ? port : 3U - port; }

/// The same program with rows for columns.
TaskProgram turned_around(const TaskProgram& program) {
  TaskProgram other = program;
  std::swap(other.columns, other.rows);
  for (RouterProgram& router : other.routers) {
    for (Route& route : router.routes) {
      route.from = static_cast<Port>(turned_port(route.from));
      PortSet to = 0;
      for (unsigned port = 0; port < kPorts; ++port) {
        if ((route.to & bit(port)) != 0) to = static_cast<PortSet>(to | bit(turned_port(port)));
      }
      route.to = to;
    }
  }
  for (std::size_t place = 0; place < program.core_of.size(); ++place) {
    const std::size_t at = place % program.columns * program.rows + place / program.columns;
    other.core_of[at] = program.core_of[place];
    other.router_of[at] = program.router_of[place];
  }
  return other;
}
TaskOutcome turned_back(const TaskProgram& program, TaskOutcome from) {
  TaskOutcome outcome;
  outcome.cycles = from.cycles;
  for (std::size_t place = 0; place < program.core_of.size(); ++place) {
    const std::size_t at = place % program.columns * program.rows + place / program.columns;
    outcome.cores.push_back(from.cores[at]);
    outcome.stamps.push_back(std::move(from.stamps[at]));
    RouterCounters router = from.routers[at];
    for (unsigned port = 0; port < kPorts; ++port) {
      router.sent.at(turned_port(port)) = from.routers[at].sent.at(port);
    }
    outcome.routers.push_back(router);
  }
  return outcome;
}

}  // namespace

LaneWafer::LaneWafer(const TaskParams& params, const TaskProgram& program, const LanePlan& plan,
                     const Fit& fit, StepFunction step, unsigned width)
    : program_(program),
      plan_(plan),
      shape_(*fit.shape),
      at_(*fit.shape),
      shape_of_(fit.class_of),
      class_of_(turned(fit.class_of)),
      control_(params),
      arbiter_(params.router),
      step_(step),
      width_(width),
      blocks_of_row_((program.columns + width - 1) / width),
      blocks_(blocks_of_row_ * program.rows),
      lanes_(std::size_t{blocks_} * width),
      fields_(lanes_.size() * static_cast<std::size_t>(at_.fields)),
      awake_(blocks_, 0),
      comes_(2 * std::size_t{blocks_}, 0),
      sleeps_(blocks_),
      flushed_(blocks_, 0),
      stride_(std::uint64_t{blocks_of_row_} * width + 2 * kFrame),
      plane_(stride_ * (program.rows + 2)),
      room_(plane_ * 2 * kMostSlots),
      sent_(plane_ * 2 * kMostSlots),
      sent_tags_(plane_ * 2 * kMostSlots) {
  for (int s = 0; s < shape_.slots && tags_.empty(); ++s) {
    if (shape_.slot[s].switched) tags_.resize(lanes_.size() * (kMostSlots + kMostClasses));
  }
  describe_machine(params);
  for (std::size_t place = 0; place < program.core_of.size(); ++place) add_core(place);
}

void LaneWafer::describe_machine(const TaskParams& params) {
  const QueueShapes shapes(params.router);
  const auto bit_of = [](Cycle latency) { return static_cast<std::int8_t>(1U << (latency - 1)); };
  machine_.fields = fields_.data();
  machine_.blocks = blocks_;
  machine_.blocks_of_row = blocks_of_row_;
  machine_.awake = awake_.data();
  machine_.comes = comes_.data();
  machine_.sleeps = sleeps_.data();
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
  const LinkRule links(params.router);
  machine_.link_words = static_cast<std::int8_t>(links.words);
  machine_.link_shut =
      links.on_links() ? static_cast<std::int8_t>(shut_after(links)) : std::int8_t{0};
  machine_.turns = arbiter_.in_turn;
  const IssueRule issue(params.core);
  for (unsigned thread = 1; thread < issue.first; ++thread) {
    if (plan_.names.context_of.at(thread) != 0) ++machine_.first;
  }
  if (issue.first == 0) machine_.first = 0;
  machine_.context_turns = issue.in_turn;
  machine_.two = issue.two;
  std::fill_n(room_.data(), plane_ * 2 * kMostSlots, machine_.link_room);
  machine_.owner = this;
  machine_.tell = [](void* owner, std::uint32_t block, Event what, int of,
                     const std::int8_t* lanes) {
    static_cast<LaneWafer*>(owner)->tell(block, what, of, lanes);
  };
  machine_.wake = [](void* owner, std::uint32_t block) {
    static_cast<LaneWafer*>(owner)->wake(block);
  };
}

void LaneWafer::add_core(std::size_t place) {
  const std::uint32_t lane = lane_of(place);
  const std::uint32_t core = program_.core_of[place];
  const std::uint32_t router = program_.router_of[place];
  Lane& state = lanes_[lane];
  state.code = &plan_.codes[core];
  state.router = &plan_.routers[router];
  add_queues(lane, plan_.rooms.at({core, router}), program_.routers[router]);
  for (int s = 0; s < shape_.slots; ++s) {
    const Slot& slot = shape_.slot[s];
    const int color = std::max(color_use(lane, slot.cls).color.at(slot.port), 0);
    field(at_.color[s], lane) = static_cast<std::int8_t>(arbiter_.place(color));
    if (shape_.slot[s].switched) field(at_.tail[s], lane) = 1;
  }
  add_tasks(lane);
}

/// Queues are asked in the order of the routes from them.
void LaneWafer::add_queues(std::uint32_t lane, const Rooms& rooms, const RouterProgram& router) {
  for (int c = 0; c < shape_.classes; ++c) {
    const auto from = static_cast<std::size_t>(fit_class(c));
    const ColorUse& use = color_use(lane, c);
    if (at_.to_core[c]) {
      field(at_.in_room[c], lane) = static_cast<std::int8_t>(rooms.in.at(from));
    }
    if (at_.ramp_slot[c] != kNone) {
      field(at_.out_room[c], lane) = static_cast<std::int8_t>(rooms.out.at(from));
    }
    lanes_[lane].switches.at(static_cast<std::size_t>(c)).rules = {use.positions, use.ring,
                                                                   use.pop};
    set_masks(lane, c, 0);
  }
  std::int8_t queues = 0;
  std::set<int> numbered;
  for (const Route& route : router.routes) {
    if (route.from != kRamp) continue;
    for (int c = 0; c < shape_.classes; ++c) {
      if (color_use(lane, c).color[kRamp] != static_cast<int>(route.color)) continue;
      if (numbered.insert(c).second) field(at_.number[c], lane) = queues++;
    }
  }
}

void LaneWafer::add_tasks(std::uint32_t lane) {
  Lane& state = lanes_[lane];
  state.times.assign(state.code->tasks.size(), 0);
  for (const auto& task : state.code->tasks) {
    state.active.push_back(task->active ? 1 : 0);
    state.blocked.push_back(task->blocked ? 1 : 0);
    const bool first = task->active && !task->blocked && state.place.task == kNoTask;
    if (!first) continue;
    state.place.task = static_cast<TaskIndex>(state.active.size() - 1);
    state.active.back() = 0;
    ++state.times[state.place.task];
  }
  for (std::size_t i = 0; i < state.active.size(); ++i) {
    state.ready += state.active[i] != 0 && state.blocked[i] == 0 ? 1 : 0;
  }
  field(at_.no_task, lane) = mask(state.place.task == kNoTask);
  field(at_.picks, lane) = mask(state.place.task == kNoTask && !state.code->tasks.empty());
  if (state.place.task == kNoTask && state.ready == 0) return;
  field(at_.ask, lane) = -1;
  state.runs = true;
  ++running_;
}

void LaneWafer::set_masks(std::uint32_t lane, int cls, std::uint8_t position) {
  const ColorUse& use = color_use(lane, cls);
  for (int p = 0; p < shape_.paths; ++p) {
    const Slot& slot = shape_.slot[shape_.path[p].slot];
    if (slot.cls != cls) continue;
    const PortSet to = use.to.at(slot.port).at(position);
    field(at_.mask[p], lane) = mask((to & bit(shape_.path[p].port)) != 0);
  }
  for (int s = 0; s < shape_.slots; ++s) {
    const Slot& slot = shape_.slot[s];
    if (slot.cls != cls || (!slot.switched && !slot.several)) continue;
    const PortSet to = use.to.at(slot.port).at(position);
    field(at_.many[s], lane) = mask((to & (to - 1U)) != 0);
  }
}

bool LaneWafer::words_are_left() const {
  return std::any_of(awake_.begin(), awake_.end(), [](std::uint8_t awake) { return awake != 0; });
}

/// In queues of cores.
bool LaneWafer::words_wait() {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    for (int c = 0; c < shape_.classes; ++c) {
      if (at_.to_core[c] && field(at_.in_count[c], lane) != 0) return true;
    }
  }
  return false;
}

bool LaneWafer::run() {
  Cycle moved_at = 0;
  while (running_ != 0 || words_are_left()) {
    const Happened happened = step_(machine_, now_);
    start_threads();
    if (happened.moved) moved_at = now_;
    if (!happened.stepped) {
      if (happened.next == kForGood) return false;
      now_ = moved_at = happened.next;
    } else {
      ++now_;
    }
    if (now_ - moved_at > kPatience) return false;
    if (now_ % kWindow != 0) continue;
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      if (sleeps_[block].until == 0) flush(block);
    }
  }
  for (std::uint32_t block = 0; block < blocks_; ++block) {
    if (sleeps_[block].until != 0) wake(block);
    flush(block);
  }
  return !words_wait();
}

/// Reads the counters of a block's lanes.
void LaneWafer::flush(std::uint32_t block) {
  flushed_[block] = now_ / kWindow;
  const auto each = [&](int number, const auto& add) {
    std::int8_t* const counted = &field(number, block * width_);
    for (unsigned first = 0; first < width_; first += 8) {
      std::uint64_t some = 0;
      std::memcpy(&some, counted + first, sizeof some);
      if (some == 0) continue;
      for (unsigned lane = first; lane < first + 8; ++lane) {
        if (counted[lane] != 0) {
          add(lanes_[block * width_ + lane], block * width_ + lane,
              static_cast<std::uint64_t>(counted[lane]));
        }
        counted[lane] = 0;
      }
    }
  };
  const auto spent = [&](int number, TaskCycle kind) {
    each(number, [&](Lane& lane, std::uint32_t /*at*/, std::uint64_t more) {
      lane.counters.cycles.at(static_cast<std::size_t>(kind)) += more;
    });
  };
  spent(at_.wait_in, TaskCycle::wait_in);
  spent(at_.wait_out, TaskCycle::wait_out);
  spent(at_.dispatch, TaskCycle::dispatch);
  each(at_.beside,
       [](Lane& lane, std::uint32_t /*at*/, std::uint64_t more) { lane.counters.beside += more; });
  each(at_.closed,
       [](Lane& lane, std::uint32_t /*at*/, std::uint64_t more) { lane.passed.closures += more; });
  for (int s = 0; s < shape_.slots; ++s) {
    const Slot& slot = shape_.slot[s];
    for (int i = 0; i < kBufferCounts; ++i) {
      each(at_.counts[s] + i, [&](Lane& lane, std::uint32_t at, std::uint64_t more) {
        const int color = color_use(at, slot.cls).color.at(slot.port);
        lane.passed.statistic(i).at(static_cast<std::size_t>(color)) += more;
      });
    }
  }
  for (int p = 0; p < shape_.paths; ++p) {
    each(at_.gone[p], [&](Lane& lane, std::uint32_t /*at*/, std::uint64_t more) {
      lane.passed.sent.at(shape_.path[p].port) += more;
    });
  }
}

/// It has slept since a cycle: what happened in the one before happened in all.
void LaneWafer::wake(std::uint32_t block) {
  const Cycle slept = now_ - sleeps_[block].since;
  const auto cycles = [&](Lane& lane, int number, std::uint32_t at, TaskCycle kind) {
    if (field(number, at) != 0) lane.counters.cycles.at(static_cast<std::size_t>(kind)) += slept;
  };
  for (std::uint32_t at = block * width_; at < (block + 1) * width_ && slept != 0; ++at) {
    Lane& lane = lanes_[at];
    if (lane.code == nullptr) continue;
    cycles(lane, at_.still_in, at, TaskCycle::wait_in);
    cycles(lane, at_.still_out, at, TaskCycle::wait_out);
    cycles(lane, at_.still_dispatch, at, TaskCycle::dispatch);
    if (field(at_.still_main, at) == 0) continue;
    std::int8_t& left = field(at_.left[0], at);
    left = static_cast<std::int8_t>(left - static_cast<int>(slept));
  }
  if (flushed_[block] != now_ / kWindow) flush(block);
}

/// What a core has done is that of its tasks, as often as they ran.
TaskOutcome LaneWafer::outcome() const {
  TaskOutcome outcome;
  outcome.cycles = end_;
  for (std::size_t place = 0; place < program_.core_of.size(); ++place) {
    const Lane& lane = lanes_[lane_of(place)];
    TaskCounters core = lane.counters;
    for (std::size_t i = 0; i < lane.times.size(); ++i) {
      const TaskCounters& task = lane.code->tasks[i]->counters;
      add_all_counts<TaskCounters::Declared>(core, task, lane.times[i]);
      for (std::size_t k = 0; k < kTaskCycles; ++k)
        core.cycles[k] += task.cycles[k] * lane.times[i];
    }
    core.cycles[static_cast<std::size_t>(TaskCycle::fabric)] -= core.beside;
    Cycle booked = 0;
    for (const std::uint64_t part : core.cycles) booked += part;
    core.cycles[static_cast<std::size_t>(TaskCycle::idle)] = outcome.cycles - booked;
    outcome.cores.push_back(core);
    outcome.routers.push_back(lane.passed);
    outcome.stamps.push_back(lane.stamps);
  }
  return outcome;
}

namespace {

Attempt run_as(const TaskParams& params, const TaskProgram& program, const LanePlan& plan,
               const Fit& fit, unsigned width) {
  if (width == 0) width = best_width(program.columns);
  LaneWafer wafer(params, program, plan, fit, step_function(fit.number, width), width);
  if (!wafer.run()) return {"it waits for good, of which units can tell", {}};
  return {"", wafer.outcome()};
}

}  // namespace

Attempt simulate_lanes(const TaskParams& params, const TaskProgram& program, unsigned width) {
  Attempt run;
  LanePlan plan;
  run.refused = plan_lanes(params, program, plan);
  if (!run.refused.empty()) return run;
  const Fit fit = tightest_shape(plan.needs);
  const bool fits = fit.shape != nullptr;
  const bool tall = cost_of(program.rows, program.columns) < cost_of(program.columns, program.rows);
  if (may_turn(plan.needs) && (tall || !fits)) {
    const TaskProgram other = turned_around(program);
    LanePlan turned;
    plan_lanes(params, other, turned);
    const Fit other_fit = tightest_shape(turned.needs);
    if (other_fit.shape != nullptr) {
      run = run_as(params, other, turned, other_fit, width);
      if (run.refused.empty()) run.outcome = turned_back(program, std::move(run.outcome));
      return run;
    }
  }
  if (fits) return run_as(params, program, plan, fit, width);
  run.refused = fit.why;
  return run;
}

}  // namespace lacuna::wse::lanes
