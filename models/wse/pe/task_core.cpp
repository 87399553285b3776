// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/task_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/fp16.hpp"
#include "models/wse/fabric/ramp.hpp"
#include "models/wse/pe/instruction_time.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

/// Works on memory alone, so that nothing outside the core can hold it up.
bool is_local(const Instruction& instruction) {
  const auto local = [](const Operand& o) { return !o.is_fabric() && !o.is_fifo(); };
  return local(instruction.to) && local(instruction.a) && local(instruction.b);
}

bool takes_fabric(const Instruction& instruction) {
  return instruction.to.is_fabric() || instruction.a.is_fabric() || instruction.b.is_fabric();
}

bool may_be_shared(const Instruction& what) {
  const auto alone = [](const Operand& o) {
    return o.kind != Kind::word && o.index_bytes == 0 && o.offset_bytes == 0;
  };
  return is_local(what) && what.length != 0 && what.thread == kMainThread &&
         what.activates == kNoTask && what.unblocks == kNoTask && alone(what.to) && alone(what.a) &&
         alone(what.b);
}

std::size_t at(TaskCycle cycle) { return static_cast<std::size_t>(cycle); }

LinkId in_queue(const CorePorts& ports, Color color) {
  const LinkId queue = queue_of(ports.in, color);
  if (queue != kNoLink) return queue;
  throw InternalError(fmt::format("core ({}, {}) reads color {}, which does not come down its ramp",
                                  ports.column, ports.row, static_cast<unsigned>(color)));
}

LinkId out_queue(const CorePorts& ports, Color color) {
  const LinkId queue = queue_of(ports.out, color);
  if (queue != kNoLink) return queue;
  throw InternalError(fmt::format("core ({}, {}) sends color {}, for which its router has no route",
                                  ports.column, ports.row, static_cast<unsigned>(color)));
}

}  // namespace

TaskCores::TaskCores(const TaskParams& params, const TaskProgram& program, Engine engine,
                     LinkArray& links, EventLog& log)
    : params_(params),
      link_rule_(params.router),
      control_(params),
      issue_(params.core),
      program_(program),
      engine_(engine),
      links_(links),
      log_(log) {
  for (const Routine& routine : program.routines) {
    if (routine.empty()) throw InternalError("a routine without instructions");
    std::vector<Cycle> begins;
    Cycle now = 0;
    for (const Instruction& what : routine) {
      if (!may_be_shared(what)) throw InternalError("a routine depends on the task that calls it");
      begins.push_back(now);
      now += cycles_alone(what, cost_of(what, 0), 0);
    }
    begins_.push_back(std::move(begins));
  }
}

void TaskCores::add(const CorePorts& ports) {
  Core core;
  core.ports = ports;
  const std::size_t place = std::size_t{ports.row} * program_.columns + ports.column;
  core.program = &program_.cores[program_.core_of[place]];
  for (const CorePort& port : ports.out) {
    const auto known = std::find_if(core.out_queues.begin(), core.out_queues.end(),
                                    [&](const OutQueue& out) { return out.queue == port.queue; });
    if (known == core.out_queues.end()) {
      core.out_queues.push_back({port.queue, port.ramp});
    } else {
      known->ramp = kNoLink;
    }
  }
  for (const Task& task : core.program->tasks) {
    core.active.push_back(task.active);
    core.blocked.push_back(task.blocked);
    if (task.active && !task.blocked && core.place.task == kNoTask) {
      core.place.task = static_cast<TaskIndex>(core.active.size() - 1);
      core.active.back() = false;
    }
  }
  if (!program_.memory.empty()) core.memory = program_.memory[place];
  for (const SoftwareFifo& fifo : core.program->fifos) {
    core.fifos.emplace_back();
    core.fifos.back().words.resize(fifo.capacity);
  }
  core.is_idle = quiet(core);
  idle_ += core.is_idle ? 1 : 0;
  cores_.push_back(std::move(core));
}

/// The main thread of a core, which is in all its tasks.
class TaskCores::Main {
 public:
  Main(TaskCores& cores, Core& core) : cores_(cores), core_(core) {}

  TaskPlace& place() { return core_.place; }
  bool idle() const { return core_.threads[0].instruction == nullptr; }
  bool all_begun() const { return core_.place.next_step == running().steps.size(); }
  StepTaken take_step(Cycle now);
  void begun(Cycle now);
  std::size_t tasks() const { return core_.program->tasks.size(); }
  bool triggered(std::size_t task, Cycle now);
  TaskTrigger take(std::size_t task, Cycle now);

  unsigned full_outputs(Cycle now) const {
    unsigned full = 0;
    for (const OutQueue& out : core_.out_queues) {
      full += cores_.links_.can_push(out.queue, now) ? 0 : 1;
    }
    return full;
  }

 private:
  const Task& running() const { return core_.program->tasks[core_.place.task]; }

  TaskCores& cores_;
  Core& core_;
  LinkId queue_ = kNoLink;  // of the wavelet that has triggered a task,
  unsigned color_ = Dispatch::kNoColor;
};

void TaskCores::Main::begun(Cycle now) {
  core_.word = core_.taken_word;
  ++core_.counters.tasks;
  core_.counters.end = std::max(core_.counters.end, now + 1);
  cores_.log_.record(now, core_.ports.unit, kTask, core_.place.task);
}

StepTaken TaskCores::Main::take_step(Cycle now) {
  const Step& step = running().steps[core_.place.next_step];
  if (step.kind == Step::Kind::vector) {
    // two instructions of one microthread never overlap
    const Thread& thread = core_.threads.at(step.vector.thread);
    const bool busy = step.vector.thread != kMainThread && thread.instruction != nullptr;
    if (busy || thread.next != nullptr) return StepTaken::waits;
  }
  if (step.kind == Step::Kind::call) {
    const Routine& routine = cores_.program_.routines[step.routine];
    cores_.start(core_, core_.threads[0], routine[core_.in_routine], core_.word, now);
    if (++core_.in_routine != routine.size()) return StepTaken::time;
    core_.in_routine = 0;
    ++core_.place.next_step;
    return StepTaken::time;
  }
  ++core_.place.next_step;
  if (step.kind == Step::Kind::activate) core_.active[step.task] = true;
  if (step.kind == Step::Kind::block) core_.blocked[step.task] = true;
  if (step.kind == Step::Kind::unblock) core_.blocked[step.task] = false;
  if (step.kind == Step::Kind::stamp) core_.stamps.push_back(now);
  if (step.kind != Step::Kind::vector || step.vector.length == 0) return StepTaken::at_once;
  Thread& thread = core_.threads[step.vector.thread];
  if (step.vector.thread == kMainThread) {
    cores_.start(core_, thread, step.vector, core_.word, now);
  } else {
    thread.next = &step.vector;
    thread.next_word = core_.word;
    core_.queued = static_cast<std::uint16_t>(core_.queued | 1U << step.vector.thread);
  }
  return StepTaken::time;
}

bool TaskCores::Main::triggered(std::size_t task, Cycle now) {
  queue_ = kNoLink;
  color_ = Dispatch::kNoColor;
  const Task& what = core_.program->tasks[task];
  if (core_.blocked[task]) return false;
  if (what.kind == Task::Kind::local) return core_.active[task];
  const auto starts = [&](const CorePort& port) {
    if (what.kind == Task::Kind::data && port.color != what.color) return false;
    if (!cores_.links_.can_pop(port.queue, now)) return false;
    const Wavelet& word = cores_.links_.front(port.queue);
    const bool meant = what.kind == Task::Kind::data
                           ? !word.control
                           : word.control && word.payload >> 16U == what.id;
    return meant && !is_read(core_, port.queue);
  };
  const auto& ports = core_.ports.in;
  const auto found = std::find_if(ports.begin(), ports.end(), starts);
  if (found == ports.end()) return false;
  queue_ = found->queue;
  color_ = static_cast<unsigned>(found->color);
  return true;
}

TaskTrigger TaskCores::Main::take(std::size_t task, Cycle now) {
  if (queue_ != kNoLink) {
    core_.taken_word = cores_.take(core_, queue_, now).payload;
    cores_.log_.record(now, core_.ports.unit, kQueuePop, core_.taken_word);
  }
  core_.active[task] = false;
  core_.counters.end = std::max(core_.counters.end, now + 1);
  return {core_.program->tasks[task].kind, color_};
}

Cycle TaskCores::step(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (core.stepped > now) return kNever;
  core.stepped = now + 1;
  catch_up(core, now);
  account(index, now);
  bool acted = send_output(core, now);
  acted = retire(core, now) || acted;
  acted = load_microthreads(core, now) || acted;
  Main main(*this, core);
  acted = control_.main_thread(main, now) || acted;
  const bool issued = issue(core, now);
  if (core.slot_free[0] > now && goes_on(core)) core.stretch = core.slot_free[0];
  const bool is_idle = quiet(core);
  if (is_idle != core.is_idle) {
    core.is_idle = is_idle;
    is_idle ? ++idle_ : --idle_;
  }
  if (issue_.two) book_kept(core, now + 1);
  if (core.accounted <= now) {
    core.waiting_for = cause(core, now);
    extend_run(core, kind_of(core.waiting_for), now, 1);
    ++core.counters.cycles[at(core.waiting_for)];
    core.accounted = now + 1;
  }
  if (core.stretch != kNever && !acted) return std::min(next_timer(core, now), stretch_end(core));
  return acted || issued ? now + 1 : next_timer(core, now);
}

/// When the code that is under way ends if nothing interrupts it: the instruction or, of a routine,
/// the last but one.
Cycle TaskCores::stretch_end(const Core& core) const {
  const Thread& thread = core.threads[0];
  Cycle end = core.slot_free[0];
  if (thread.finish == kNever) end += cycles_alone(*thread.instruction, thread.cost, thread.done);
  if (core.in_routine == 0) return end;
  const TaskPlace& at = core.place;
  const Step& step = core.program->tasks[at.task].steps[at.next_step];
  const std::vector<Cycle>& begins = begins_[step.routine];
  return end + begins.back() - begins[core.in_routine];
}

/// Code that nothing has interrupted has had the slot in each cycle before `now`.
void TaskCores::catch_up(Core& core, Cycle now) {
  if (core.stretch == kNever) return;
  core.stretch = kNever;
  Thread& thread = core.threads[0];
  for (Cycle at = core.slot_free[0]; at < now; at = core.slot_free[0]) {
    if (thread.finish != kNever) {
      retire(core, at);
      Main main(*this, core);
      control_.take_steps(main, at);
    }
    beats(core, thread, at, now);
    core.next_thread[0] = 1;
    core.counters.end = core.slot_free[0];
  }
}

/// Whether the main thread has the slot from when it is free until something from outside comes or
/// its code ends: no microthread can issue then, so none can without a word or room that wakes the
/// core.
bool TaskCores::goes_on(const Core& core) const {
  const Thread& thread = core.threads[0];
  if (engine_ != Engine::event || thread.instruction == nullptr) return false;
  if (!IssueRule::always_open()) return false;
  if (!is_local(*thread.instruction) || (core.queued & ~core.busy) != 0) return false;
  if (thread.finish != kNever && core.in_routine == 0) return false;
  if (issue_.two) return alone(core);  // whose slot a microthread has does not keep it waiting
  for (std::uint32_t left = core.busy & ~1U; left != 0; left &= left - 1) {
    const Thread& other = core.threads[first_of(left)];
    if (other.finish != kNever) return false;  // somebody may wait for that
    if ((issue_.in_turn || issue_.first != kMainThread) &&
        can_issue(core, other, core.slot_free[0])) {
      return false;
    }
  }
  return true;
}

void TaskCores::account(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (issue_.two) book_kept(core, now);
  if (core.accounted >= now) return;
  extend_run(core, kind_of(core.waiting_for), core.accounted, now - core.accounted);
  core.counters.cycles[at(core.waiting_for)] += now - core.accounted;
  core.accounted = now;
}

/// A beat of the first slot is booked whole when it is issued: its stalls that are still to come,
/// the last ones first, are not counted yet.
TaskCounters TaskCores::count(std::size_t index, Cycle at) {
  catch_up(cores_[index], at);
  account(index, at);
  const Core& core = cores_[index];
  TaskCounters counters = core.counters;
  Cycle ahead = core.accounted > at ? core.accounted - at : 0;
  const auto take = [&](TaskCycle kind, std::uint64_t most) {
    const std::uint64_t part = std::min<std::uint64_t>(ahead, most);
    counters.cycles[static_cast<std::size_t>(kind)] -= part;
    ahead -= part;
  };
  take(TaskCycle::special, core.stalls[0].special);
  take(TaskCycle::residual, core.stalls[0].residual);
  take(TaskCycle::conflict, core.stalls[0].bank);
  return counters;
}

void TaskCores::settle(std::size_t index, Cycle end) {
  account(index, end);
  Core& core = cores_[index];
  extend_run(core, kWordOut, kNever, 0);
  if (core.accounted <= end) return;
  core.counters.cycles[at(core.waiting_for)] -= core.accounted - end;  // in which nothing was done
  core.accounted = end;
}

/// The next cycle in which something of the core's own becomes due.
Cycle TaskCores::next_timer(const Core& core, Cycle now) {
  Cycle next = kNever;
  const auto due = [&](Cycle cycle) {
    if (cycle > now) next = std::min(next, cycle);
  };
  if (core.stretch == kNever) due(core.slot_free[0]);
  due(core.slot_free[1]);
  if (core.stretch == kNever) due(core.next_finish);
  if (core.place.taken != kNoTask) due(core.place.ready);
  due(core.ramp.opens());
  due(RampRule::up(now));
  due(IssueRule::opens(now));
  return next;
}

bool TaskCores::send_output(Core& core, Cycle now) {
  if (core.unsent == 0) return false;
  const auto ramp_of = [&](std::size_t i) {
    const OutQueue& from = core.out_queues[i];
    if (from.ramp != kNoLink) return from.ramp;
    const Color color = links_.front(from.queue).color;
    return std::find_if(core.ports.out.begin(), core.ports.out.end(),
                        [&](const CorePort& out) { return out.color == color; })
        ->ramp;
  };
  const bool sent = send_up(
      links_, link_rule_, core.ramp, core.out_queues.size(), core.next_queue, now,
      [&](std::size_t i) { return core.out_queues[i].queue; }, ramp_of,
      [&](LinkId queue) {
        if (!log_.keeps(kWordUp)) return;
        const auto color = static_cast<std::uint64_t>(links_.front(queue).color);
        log_.record(now, core.ports.unit, kWordUp, (now - links_.front_sent(queue)) << 8U | color);
      });
  if (!sent) return false;
  ++core.counters.sent;
  --core.unsent;
  return true;
}

/// Instructions whose last beat is over leave their threads; tasks that wait for them hear of it.
bool TaskCores::retire(Core& core, Cycle now) {
  if (core.next_finish > now) return false;
  core.next_finish = kNever;
  for (std::uint32_t left = core.busy; left != 0; left &= left - 1) {
    Thread& thread = core.threads[first_of(left)];
    if (thread.finish > now) {
      core.next_finish = std::min(core.next_finish, thread.finish);
      continue;
    }
    const Instruction& done = *thread.instruction;
    if (done.activates != kNoTask) core.active[done.activates] = true;
    if (done.unblocks != kNoTask) core.blocked[done.unblocks] = false;
    log_.record(now, core.ports.unit, kVectorEnd, static_cast<std::uint64_t>(done.thread));
    thread.instruction = nullptr;
    thread.finish = kNever;
    core.busy = static_cast<std::uint16_t>(core.busy & ~(1U << first_of(left)));
  }
  return true;
}

bool TaskCores::load_microthreads(Core& core, Cycle now) {
  const std::uint32_t loads = core.queued & ~std::uint32_t{core.busy};
  for (std::uint32_t left = loads; left != 0; left &= left - 1) {
    Thread& thread = core.threads[first_of(left)];
    start(core, thread, *thread.next, thread.next_word, now);
    thread.next = nullptr;
  }
  core.queued = static_cast<std::uint16_t>(core.queued & ~loads);
  return loads != 0;
}

/// Whether an instruction takes words of this queue, now or next.
bool TaskCores::is_read(const Core& core, LinkId queue) {
  for (std::uint32_t left = core.busy | core.queued; left != 0; left &= left - 1) {
    const Thread& thread = core.threads[first_of(left)];
    if (thread.instruction != nullptr && (thread.a == queue || thread.b == queue)) return true;
    if (thread.next == nullptr) continue;
    for (const Operand* operand : {&thread.next->a, &thread.next->b}) {
      if (operand->is_fabric() && in_queue(core.ports, operand->color) == queue) return true;
    }
  }
  return false;
}

BeatCost TaskCores::cost_of(const Instruction& instruction, std::uint32_t word) const {
  const unsigned fabric_words = instruction.simd64 && params_.core.fabric_simd64
                                    ? 2
                                    : params_.core.fabric_words_per_issue.value();
  return {instruction, params_.simd, params_.mem, fabric_words, word};
}

void TaskCores::start(Core& core, Thread& thread, const Instruction& instruction,
                      std::uint32_t word, Cycle now) {
  thread.instruction = &instruction;
  core.busy = static_cast<std::uint16_t>(core.busy | 1U << (&thread - core.threads.data()));
  thread.done = 0;
  thread.word = word;
  thread.finish = kNever;
  thread.cost = cost_of(instruction, word);
  const bool wide = source_bytes(instruction.element) == 4;
  const auto source = [&](const Operand& operand, LinkId& link, float& scalar) {
    link = operand.is_fabric() ? in_queue(core.ports, operand.color) : kNoLink;
    scalar = operand.value;
    if (operand.kind == Kind::word) {
      scalar = unpack(word, 0, wide, is_integer(instruction.element));
    }
    if (operand.kind == Kind::cell && !core.memory.empty()) {
      scalar = load_element(core.memory, address_of(operand, wide ? 4 : 2, 0, word), wide,
                            is_integer(instruction.element));
    }
  };
  source(instruction.a, thread.a, thread.scalar_a);
  source(instruction.b, thread.b, thread.scalar_b);
  thread.to = instruction.to.is_fabric() ? out_queue(core.ports, instruction.to.color) : kNoLink;
  thread.fifos = instruction.a.is_fifo() || instruction.b.is_fifo() || instruction.to.is_fifo();
  look_ahead(thread);
  if (instruction.op == VectorOp::work) return;
  ++core.counters.instructions;
  log_.record(now, core.ports.unit, kVectorActive, static_cast<std::uint64_t>(instruction.thread));
}

/// No microthread has or gets an instruction while the main thread's one is under way.
bool TaskCores::alone(const Core& core) { return ((core.busy | core.queued) & ~1U) == 0; }

bool TaskCores::issue(Core& core, Cycle now) {
  const bool issued = issue(core, 0, now);
  return (issue_.two && issue(core, 1, now)) || issued;
}

bool TaskCores::issue(Core& core, unsigned slot, Cycle now) {
  if (core.slot_free[slot] > now || IssueRule::opens(now) != now) return false;
  const unsigned chosen =
      choose_context(issue_, core.busy & issue_.contexts_of(slot), core.next_thread[slot],
                     [&](unsigned thread) { return can_issue(core, core.threads[thread], now); });
  if (chosen == kNobody) return false;
  core.counters.begin = std::min(core.counters.begin, now);
  beats(core, core.threads[chosen], now, now);
  core.counters.end = std::max(core.counters.end, core.slot_free[slot]);
  return true;
}

/// How many elements are done without anybody coming between: those of a beat or, in Engine::event,
/// more of an instruction of the main thread on memory alone. Nothing comes before `until`.
std::uint32_t TaskCores::elements_until(const Core& core, const Thread& thread, Cycle now,
                                        Cycle until) const {
  const Instruction& what = *thread.instruction;
  const std::uint32_t left = what.length - thread.done;
  const std::uint32_t width = thread.beat.elements;
  if (left <= width || engine_ != Engine::event || !IssueRule::always_open()) return width;
  if (&thread != core.threads.data() || !is_local(what)) return width;
  if (alone(core)) return left;
  if (what.op == VectorOp::work && until > now) {
    return static_cast<std::uint32_t>(std::min<Cycle>(left, until - now));
  }
  return now + cycles_alone(what, thread.cost, thread.done) <= until ? left : width;
}

/// Issues a beat; several if nothing can come between them.
void TaskCores::beats(Core& core, Thread& thread, Cycle now, Cycle until) {
  const Instruction& what = *thread.instruction;
  const std::uint32_t elements = elements_until(core, thread, now, until);
  const std::uint32_t end = thread.done + elements;
  book(core, thread, thread.cost.beats(thread.done, end), thread.cost.stalls_from(thread.done, end),
       now);
  count_accesses(what, thread.cost, thread.done, end, core.counters);
  move_elements(core, thread, elements, now);
  thread.done += elements;
  look_ahead(thread);
  if (thread.done != what.length) return;
  thread.finish = core.slot_free[slot_of(core, thread)];
  core.next_finish = std::min(core.next_finish, thread.finish);
}

/// A beat of a microthread with a slot of its own is booked if the cycle is not the main thread's.
void TaskCores::book(Core& core, const Thread& thread, std::uint32_t beats,
                     const BeatStalls& stalls, Cycle now) {
  const Instruction& what = *thread.instruction;
  TaskCycle kind = takes_fabric(what) ? TaskCycle::fabric : TaskCycle::vector;
  if (what.op == VectorOp::work) kind = TaskCycle::scalar;
  const unsigned slot = slot_of(core, thread);
  core.slot_free[slot] = now + beats + stalls.all();
  core.stalls[slot] = stalls;
  auto& cycles = core.counters.cycles;
  if (slot != 0 && core.accounted > now) {
    ++core.counters.beside;
    return;
  }
  cycles[at(kind)] += beats;
  core.accounted = now + 1;
  if (slot != 0) {  // see book_kept()
    extend_run(core, kBusyRun, now, 1);
    return;
  }
  cycles[at(TaskCycle::conflict)] += stalls.bank;
  cycles[at(TaskCycle::residual)] += stalls.residual;
  cycles[at(TaskCycle::special)] += stalls.special;
  extend_run(core, kBusyRun, now, core.slot_free[0] - now);
  core.accounted = core.slot_free[0];
}

/// Why nothing issued in this cycle.
TaskCycle TaskCores::cause(const Core& core, Cycle now) const {
  const auto flag = [](bool whether) { return whether ? -1 : 0; };
  const TaskPlace& at = core.place;
  TaskWaits<int> why(-1, flag(at.task == kNoTask && at.taken != kNoTask && at.ready > now));
  for (std::uint32_t left = why.dispatch == 0 ? core.busy : 0; left != 0; left &= left - 1) {
    const Thread& thread = core.threads[first_of(left)];
    if (thread.finish != kNever) continue;
    why.ask(-1, flag(fed(core, thread, now)));
    break;
  }
  why.end(flag(at.taken != kNoTask));
  if (why.dispatch != 0) return TaskCycle::dispatch;
  if (why.in != 0) return TaskCycle::wait_in;
  return why.out != 0 ? TaskCycle::wait_out : TaskCycle::idle;
}

bool TaskCores::quiet(const Core& core) {
  const TaskPlace& place = core.place;
  if (place.task != kNoTask || place.taken != kNoTask) return false;
  if ((core.busy | core.queued) != 0) return false;
  for (std::size_t task = 0; task < core.active.size(); ++task) {
    if (core.active[task] && !core.blocked[task]) return false;
  }
  return true;
}

}  // namespace lacuna::wse
