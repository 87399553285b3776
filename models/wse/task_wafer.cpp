// SPDX-License-Identifier: Apache-2.0
#include "models/wse/task_wafer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {

/// One row of cores and routers. Engine::clocked steps every unit in every cycle, Engine::event
/// those whose links or timers ask for it. Units meet only in links, so their order is free.
class TaskWafer::Row final : public Clocked {
 public:
  Row(TaskWafer& wafer, std::size_t row) : wafer_(wafer), row_(row), due_(2UL * wafer.columns_) {
    std::iota(due_.begin(), due_.end(), 0U);
  }

  Cycle step(Cycle now) override {
    const bool event = wafer_.options_.engine == Engine::event;
    RowAgenda* agenda = nullptr;
    if (event) {
      wafer_.agendas_.set_stepping(row_);
      agenda = &wafer_.agendas_.row(row_);
      if (now != 0) agenda->collect(now, due_);  // in cycle 0 every unit looks around
    }
    shuffle(now);
    bool moved = false;
    for (const std::uint32_t unit : due_) {
      const Cycle next = step_unit(unit, now);
      moved = moved || next == now + 1;
      if (next == kNever) continue;
      if (event) agenda->add(unit, next);
      wafer_.clock_.moved(next);  // what it waits for is its own
    }
    if (moved) wafer_.clock_.moved(now);
    if (wafer_.done()) wafer_.clock_.stop(now);
    return event ? agenda->next() : now + 1;
  }

  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // its units account for themselves

  std::string blocked() const override {
    std::string text = row_ == 0 ? wafer_.waiting_cycle() : "";
    for (std::size_t c = 0; c < wafer_.columns_; ++c) {
      const std::size_t place = row_ * wafer_.columns_ + c;
      const std::string router = fmt::format("router ({}, {})", c, row_);
      for (const std::string& line :
           {wafer_.routers_.blocked(place, router), wafer_.cores_.blocked(place)}) {
        if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
      }
    }
    return text;
  }

 private:
  Cycle step_unit(std::uint32_t unit, Cycle now) const {
    const std::size_t place = row_ * wafer_.columns_ + unit / 2;
    return unit % 2 == 0 ? wafer_.routers_.step(place, now) : wafer_.cores_.step(place, now);
  }

  void shuffle(Cycle now) {
    if (wafer_.options_.shuffle == 0) return;
    const std::uint64_t seed = mix(wafer_.options_.shuffle ^ mix(now * wafer_.rows_count_ + row_));
    std::sort(due_.begin(), due_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return mix(seed + a) < mix(seed + b); });
  }

  TaskWafer& wafer_;
  std::size_t row_;
  std::vector<std::uint32_t> due_;
};

TaskWafer::TaskWafer(const sc_core::sc_module_name& name, const TaskParams& params,
                     const TaskProgram& program, ClockDomain& clock, const RunOptions& options)
    : sc_module(name),
      clock_(clock),
      columns_(program.columns),
      rows_count_(program.rows),
      options_(options),
      routers_(params.router, links_, log_),
      // one beat at a time for those who look in between
      cores_(params, program, options.look_at_tasks ? Engine::clocked : options.engine, links_,
             log_) {
  if (options.event_log) log_.enable(options.event_scope);
  const TaskMeshPlan plan = build_task_mesh(params, program, links_);
  links_.jitter(options.jitter, options.jitter_seed);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    routers_.add(plan.ports[i].unit - 1, plan.inputs[i]);
    cores_.add(plan.ports[i]);
  }
  if (options.engine == Engine::event) {
    agendas_.start(program.rows, std::size_t{2} * program.columns, *this);
  }
  for (std::size_t r = 0; r < program.rows; ++r) {
    rows_.push_back(std::make_unique<Row>(*this, r));
    clock.add(*rows_.back(), fmt::format("r{}", r));
  }
}

TaskWafer::~TaskWafer() = default;

void TaskWafer::wake_row(std::size_t row, Cycle at) { clock_.wake(*rows_[row], at); }

TaskOutcome TaskWafer::counts_so_far(Cycle at) {
  TaskOutcome outcome;
  outcome.cycles = at;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    routers_.account(i, at);
    outcome.cores.push_back(cores_.count(i, at));
    outcome.routers.push_back(routers_.counters(i));
  }
  return outcome;
}

void TaskWafer::settle(Cycle end) {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    routers_.account(i, end);
    cores_.settle(i, end);
  }
  for (LinkId id = 0; id < links_.size(); ++id) {
    if (links_.stored(id) == 0) continue;
    throw InternalError(fmt::format("{} words are left between units {} and {} of the wafer",
                                    links_.stored(id), links_.writer(id), links_.reader(id)));
  }
}

BufferHistories TaskWafer::buffer_histories() const {
  BufferHistories all(cores_.size());
  for (std::size_t place = 0; place < cores_.size(); ++place) {
    const auto [first, last] = routers_.inputs_of(place);
    for (std::size_t i = first; i < last; ++i) {
      const RouterInput& input = routers_.inputs()[i];
      all[place].push_back({input.color, input.from, links_.digest(input.link)});
    }
  }
  return all;
}

/// What the words of each buffer and queue wait for: room on another link, or words of it.
class TaskWafer::Waits {
 public:
  explicit Waits(const TaskWafer& wafer)
      : wafer_(wafer), next_(wafer.links_.size(), kNoLink), name_(wafer.links_.size()) {
    for (std::size_t place = 0; place < wafer.cores_.size(); ++place) {
      add_router(place);
      add_core(place);
    }
  }

  /// Those that wait for each other in a circle, as a line; empty if none do.
  std::string circle() const {
    std::vector<LinkId> seen_from(next_.size(), kNoLink);
    for (LinkId start = 0; start < next_.size(); ++start) {
      LinkId at = start;
      for (; at != kNoLink && seen_from[at] == kNoLink; at = next_[at]) seen_from[at] = start;
      if (at == kNoLink || seen_from[at] != start) continue;
      std::string text = "these wait for each other: " + name_[at];
      for (LinkId link = next_[at]; link != at; link = next_[link]) text += " -> " + name_[link];
      return text + " -> and so on";
    }
    return "";
  }

 private:
  static constexpr Cycle kLate = kNever - 2;  // whatever was under way has arrived

  void add_router(std::size_t place) {
    const auto [first, last] = wafer_.routers_.inputs_of(place);
    for (std::size_t i = first; i < last; ++i) {
      const RouterInput& input = wafer_.routers_.inputs()[i];
      if (!input.waiting) continue;
      name_[input.link] =
          fmt::format("color {} at router ({}, {}) from {}", static_cast<unsigned>(input.color),
                      place % wafer_.columns_, place / wafer_.columns_, port_name(input.from));
      for (unsigned port = 0; port < kPorts; ++port) {
        if (!input.wants(port)) continue;
        if (!wafer_.links_.can_push(input.out[port], kLate)) next_[input.link] = input.out[port];
      }
    }
  }

  void add_core(std::size_t place) {
    const auto name = [&](const char* queue, Color color) {
      return fmt::format("the {} of color {} at core ({}, {})", queue, static_cast<unsigned>(color),
                         place % wafer_.columns_, place / wafer_.columns_);
    };
    for (const TaskPorts::In& in : wafer_.cores_.ports(place).in) {
      next_[in.queue] = wafer_.cores_.waits_for(place, in.queue);
      name_[in.queue] = name("queue", in.color);
    }
    for (const TaskPorts::Out& out : wafer_.cores_.ports(place).out) {
      if (wafer_.links_.can_push(out.queue, kLate)) continue;
      next_[out.queue] = out.ramp;
      name_[out.queue] = name("output queue", out.color);
    }
  }

  const TaskWafer& wafer_;
  std::vector<LinkId> next_;
  std::vector<std::string> name_;
};

std::string TaskWafer::waiting_cycle() const { return Waits(*this).circle(); }

Cycle TaskOutcome::span() const {
  Cycle begin = kNever;
  Cycle end = 0;
  for (const TaskCounters& core : cores) {
    begin = std::min(begin, core.begin);
    end = std::max(end, core.end);
  }
  return end == 0 ? 0 : end - begin;
}

TaskOutcome simulate_rows(const TaskParams& params, const TaskProgram& program,
                          const RunOptions& options, BufferHistories* histories) {
  TaskOutcome outcome;
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  clock.shuffle(options.shuffle);
  TaskWafer wafer("wafer", params, program, clock, options);
  if (histories != nullptr) wafer.keep_histories();
  if (options.look_at_tasks) {
    clock.watch(options.first_look,
                [&](Cycle at) { return options.look_at_tasks(at, wafer.counts_so_far(at)); });
  }
  if (!wafer.done()) clock.run_until_done();
  // In the last cycles the last instruction retires; what it did was over before.
  for (std::size_t i = 0; i < wafer.cores().size(); ++i) {
    outcome.cycles = std::max(outcome.cycles, wafer.cores().counters(i).end);
  }
  wafer.settle(outcome.cycles);
  for (std::size_t i = 0; i < wafer.cores().size(); ++i) {
    outcome.cores.push_back(wafer.cores().counters(i));
    outcome.routers.push_back(wafer.routers().counters(i));
    if (!program.memory.empty()) outcome.memory.push_back(wafer.cores().memory(i));
    outcome.stamps.push_back(wafer.cores().stamps(i));
  }
  if (histories != nullptr) *histories = wafer.buffer_histories();
  outcome.events = wafer.log().sorted();
  outcome.events_left_out = wafer.log().overflowed();
  sort_events(outcome.events);
  return outcome;
}

}  // namespace lacuna::wse
