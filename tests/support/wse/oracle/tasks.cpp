// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/tasks.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tests/support/wse/oracle/mesh.hpp"
#include "tests/support/wse/oracle/task_core.hpp"

namespace lacuna::wse::oracle {
namespace {

/// A rectangle of cores that run tasks.
class Rectangle : public Mesh {
 public:
  Rectangle(const TaskParams& params, const TaskProgram& program)
      : Mesh(params.router, program),
        params_(params),
        program_(program),
        out_queues_(program.size()) {
    for (std::size_t place = 0; place < program.size(); ++place) {
      cores_.emplace_back(params_, program_, place);
    }
    build();
  }

  std::optional<TaskOutcome> run(Cycle patience) {
    for (Cycle now = 0; !is_over(); ++now) {
      if (now == patience) return std::nullopt;
      route(now);
      for (TaskCore& core : cores_) core.cycle(now, events_);
      end_cycle();
    }
    return outcome();
  }

 private:
  const CoreProgram& code(std::size_t place) const {
    return program_.cores[program_.core_of[place]];
  }

  static unsigned queue_number(const std::vector<QueueUse>& uses, Color color, unsigned otherwise) {
    for (const QueueUse& use : uses) {
      if (use.color == color) return use.queue;
    }
    return otherwise;
  }

  /// Colors that name the same output queue share it.
  void add_output(std::size_t place, Color color, Queue* ramp) override {
    TaskCore& core = cores_[place];
    const unsigned number = queue_number(code(place).out, color, 2);
    Queue*& queue = out_queues_[place][number];
    if (queue == nullptr) {
      queue = add(params_.queue.out_depths().at(number), 1);
      core.served.push_back(queue);
    }
    core.out[color] = queue;
    core.ramp[color] = ramp;
  }

  unsigned in_depth(std::size_t place, Color color) const override {
    return params_.queue.in_depths().at(queue_number(code(place).in, color, 0));
  }
  void add_input(std::size_t place, Color color, Queue* queue) override {
    cores_[place].in[color] = queue;
  }

  bool is_over() const {
    return is_empty() && std::all_of(cores_.begin(), cores_.end(),
                                     [](const TaskCore& core) { return core.is_quiet(); });
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
  std::vector<TaskCore> cores_;
  std::vector<std::map<unsigned, Queue*>> out_queues_;  // by core and number
};

}  // namespace

std::optional<TaskOutcome> run_tasks(const TaskParams& params, const TaskProgram& program,
                                     Cycle patience) {
  return Rectangle(params, program).run(patience);
}

}  // namespace lacuna::wse::oracle
