// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/tasks.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/wse/oracle/router.hpp"
#include "tests/support/wse/oracle/task_core.hpp"

namespace lacuna::wse::oracle {
namespace {

/// The rectangle: routers, cores and the queues between them.
class Rectangle {
 public:
  Rectangle(const TaskParams& params, const TaskProgram& program)
      : params_(params), program_(program) {
    const std::size_t places = std::size_t{program.columns} * program.rows;
    for (std::size_t place = 0; place < places; ++place) {
      routers_.emplace_back(params_.router, static_cast<std::uint32_t>(2 * place));
      cores_.emplace_back(params_, program_, place);
    }
    for (std::size_t place = 0; place < places; ++place) make_buffers(place);
    for (std::size_t place = 0; place < places; ++place) connect(place);
  }

  std::optional<TaskOutcome> run(Cycle patience) {
    for (Cycle now = 0; !is_over(); ++now) {
      if (now == patience) return std::nullopt;
      for (Router& router : routers_) router.cycle(now, events_);
      for (TaskCore& core : cores_) core.cycle(now, events_);
      for (Queue& queue : queues_) queue.end_cycle();
    }
    return outcome();
  }

 private:
  const RouterProgram& routes(std::size_t place) const {
    return program_.routers[program_.router_of[place]];
  }
  const CoreProgram& code(std::size_t place) const {
    return program_.cores[program_.core_of[place]];
  }

  Queue* add(unsigned capacity, Cycle latency) {
    queues_.emplace_back(capacity, latency);
    return &queues_.back();
  }

  static unsigned queue_number(const std::vector<QueueUse>& uses, Color color, unsigned otherwise) {
    for (const QueueUse& use : uses) {
      if (use.color == color) return use.queue;
    }
    return otherwise;
  }

  /// A link of latency L into a buffer of B words holds B + L - 1, those under way included.
  void make_buffers(std::size_t place) {
    Router& router = routers_[place];
    TaskCore& core = cores_[place];
    std::map<unsigned, Queue*> out_queues;
    for (const Route& route : routes(place).routes) {
      ColorState& color = router.colors[route.color];
      color.positions = std::max(color.positions, route.position + 1U);
      auto buffer = std::find_if(
          router.buffers.begin(), router.buffers.end(),
          [&](const Buffer& b) { return b.color == route.color && b.from == route.from; });
      if (buffer == router.buffers.end()) {
        const Cycle latency = route.from == kRamp ? params_.router.ramp : params_.router.hop;
        Buffer made;
        made.color = route.color;
        made.from = route.from;
        made.words = add(params_.router.entries + static_cast<unsigned>(latency) - 1, latency);
        buffer = router.buffers.insert(router.buffers.end(), made);
        if (route.from == kRamp) give_output(core, route.color, made.words, out_queues, place);
      }
      buffer->to.at(route.position) = route.to;
    }
    for (const RouterProgram::Rule& rule : routes(place).rules) {
      router.colors[rule.color].ring = rule.ring;
      router.colors[rule.color].pop = rule.pop;
    }
    for (const RouterProgram::Filter& filter : routes(place).filters) {
      router.colors[filter.color].settings = filter.filter;
    }
    std::sort(router.buffers.begin(), router.buffers.end(), [](const Buffer& a, const Buffer& b) {
      return std::tie(a.color, a.from) < std::tie(b.color, b.from);
    });
  }

  /// Colors that name the same output queue share it.
  void give_output(TaskCore& core, Color color, Queue* ramp, std::map<unsigned, Queue*>& queues,
                   std::size_t place) {
    const unsigned number = queue_number(code(place).out, color, 2);
    if (queues.count(number) == 0) {
      queues[number] = add(params_.queue.out_depths().at(number), 1);
      core.served.push_back(queues[number]);
    }
    core.out[color] = queues[number];
    core.ramp[color] = ramp;
  }

  void connect(std::size_t place) {
    for (Buffer& buffer : routers_[place].buffers) {
      for (const PortSet to : buffer.to) {
        for (unsigned port = 0; port < kPorts; ++port) {
          if ((to >> port & 1U) == 0) continue;
          buffer.out.at(port) = port == kRamp ? input_queue(place, buffer.color)
                                              : buffer_of(place, port, buffer.color);
          if (turns(buffer.from, port)) buffer.out.at(port)->lengthen(params_.router.turn);
        }
      }
    }
  }

  /// Each color that comes down has a queue of its own, of the depth of its number.
  Queue* input_queue(std::size_t place, Color color) {
    Queue*& queue = cores_[place].in[color];
    if (queue != nullptr) return queue;
    const unsigned depth = params_.queue.in_depths().at(queue_number(code(place).in, color, 0));
    const unsigned latency = params_.router.ramp + params_.router.ramp_in;
    queue = add(depth + latency - 1, latency);
    return queue;
  }

  /// The buffer at the other end of the link at `port`.
  Queue* buffer_of(std::size_t place, unsigned port, Color color) {
    const std::size_t there = port == kNorth   ? place - program_.columns
                              : port == kSouth ? place + program_.columns
                              : port == kEast  ? place + 1
                                               : place - 1;
    for (const Buffer& buffer : routers_.at(there).buffers) {
      if (buffer.color == color && buffer.from == opposite(port)) return buffer.words;
    }
    return nullptr;
  }

  bool is_over() const {
    return std::all_of(cores_.begin(), cores_.end(),
                       [](const TaskCore& core) { return core.is_quiet(); }) &&
           std::all_of(queues_.begin(), queues_.end(),
                       [](const Queue& queue) { return queue.empty(); });
  }

  TaskOutcome outcome() const {
    TaskOutcome outcome;
    for (const TaskCore& core : cores_) {
      outcome.cycles = std::max(outcome.cycles, core.counters.end);
    }
    for (const TaskCore& core : cores_) {
      TaskCounters counters = core.counters;
      for (Cycle i = 0; i < outcome.cycles; ++i) {
        const TaskCycle kind = i < core.kinds.size() ? core.kinds[i] : TaskCycle::idle;
        ++counters.cycles.at(static_cast<std::size_t>(kind));
      }
      outcome.cores.push_back(counters);
      if (!program_.memory.empty()) outcome.memory.push_back(core.memory);
    }
    for (const Router& router : routers_) outcome.routers.push_back(router.counters);
    outcome.events = events_;
    sort_events(outcome.events);
    return outcome;
  }

  const TaskParams& params_;
  const TaskProgram& program_;
  std::deque<Queue> queues_;
  std::vector<Router> routers_;
  std::vector<TaskCore> cores_;
  std::vector<Event> events_;
};

}  // namespace

std::optional<TaskOutcome> run_tasks(const TaskParams& params, const TaskProgram& program,
                                     Cycle patience) {
  return Rectangle(params, program).run(patience);
}

}  // namespace lacuna::wse::oracle
