// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/task_core.hpp"

#include <algorithm>

#include "models/wse/program/event_kinds.hpp"
#include "tests/support/wse/oracle/datapath.hpp"

namespace lacuna::wse::oracle {
namespace {

using Kind = Operand::Kind;

bool is_stream(const Operand& operand) {
  return operand.kind == Kind::fabric || operand.kind == Kind::fifo;
}

}  // namespace

TaskCore::TaskCore(const TaskParams& params, const TaskProgram& program, std::size_t place)
    : params_(params),
      program_(program),
      code_(program.cores[program.core_of[place]]),
      unit_(static_cast<std::uint32_t>(2 * place + 1)),
      fifos_(code_.fifos.size()) {
  if (!program.memory.empty()) memory = program.memory[place];
  for (const Task& task : code_.tasks) {
    active_.push_back(task.active);
    blocked_.push_back(task.blocked);
  }
  for (std::size_t i = 0; i < code_.tasks.size() && task_ == kNoTask; ++i) {
    if (!active_[i] || blocked_[i]) continue;
    active_[i] = false;
    task_ = static_cast<TaskIndex>(i);
  }
}

/// The order of a cycle.
void TaskCore::cycle(Cycle now, std::vector<Event>& log) {
  send_word(now);
  retire(now, log);
  load_microthreads(now, log);
  run_main_thread(now, log);
  const std::optional<TaskCycle> first = use_slot(slots_[0], now);
  if (params_.core.slots == 1U) {
    kinds.push_back(first ? *first : why_nothing(now));
    return;
  }
  // The cycle is the main thread's if its slot is used.
  const bool issues = slots_[1].free <= now;
  const std::optional<TaskCycle> second = use_slot(slots_[1], now);
  if (first && second && issues) ++counters.beside;
  kinds.push_back(first ? *first : second ? *second : why_nothing(now));
}

/// What a slot is used for in this cycle: a further one of the last beat, or another beat.
std::optional<TaskCycle> TaskCore::use_slot(Slot& slot, Cycle now) {
  if (now < slot.free) {
    const TaskCycle kind = slot.further.back();
    slot.further.pop_back();
    return kind;
  }
  const std::optional<std::size_t> chosen = choose(slot, now);
  if (!chosen) return std::nullopt;
  return issue(*chosen, slot, now);
}

bool TaskCore::is_quiet() const {
  if (task_ != kNoTask || taken_.task != kNoTask) return false;
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (threads_[i].what != nullptr || given_[i].what != nullptr) return false;
  }
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (active_[i] && !blocked_[i]) return false;
  }
  return true;
}

/// One word that was in an output queue before this cycle goes up the ramp.
void TaskCore::send_word(Cycle now) {
  if (!on_ramp_.is_open(now)) return;
  for (std::size_t i = 0; i < served.size(); ++i) {
    const std::size_t chosen = (next_queue_ + i) % served.size();
    Queue& queue = *served[chosen];
    if (!queue.has_words(now)) continue;
    Queue& up = *ramp.at(queue.head().color);
    if (!up.has_room()) continue;
    up.put(now, queue.take());
    if (limits_ramps(params_.router)) on_ramp_.pass(params_.router, now);
    ++counters.sent;
    next_queue_ = chosen + 1;
    return;
  }
}

/// Instructions whose last beat is over leave their threads.
void TaskCore::retire(Cycle now, std::vector<Event>& log) {
  for (Thread& thread : threads_) {
    if (thread.what == nullptr || !thread.ends || *thread.ends > now) continue;
    const Instruction& what = *thread.what;
    if (what.activates != kNoTask) active_[what.activates] = true;
    if (what.unblocks != kNoTask) blocked_[what.unblocks] = false;
    log.push_back({now, unit_, kVectorEnd, what.thread});
    thread = {};
  }
}

void TaskCore::load_microthreads(Cycle now, std::vector<Event>& log) {
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (given_[i].what == nullptr || threads_[i].what != nullptr) continue;
    start(i, *given_[i].what, given_[i].word, now, log);
    given_[i] = {};
  }
}

/// All steps of the task have been taken, and none is being waited for.
bool TaskCore::is_over() const {
  return task_ != kNoTask && step_ == code_.tasks[task_].steps.size() &&
         threads_[kMainThread].what == nullptr;
}

void TaskCore::run_main_thread(Cycle now, std::vector<Event>& log) {
  if (is_over()) task_ = kNoTask;
  if (task_ == kNoTask && taken_.task != kNoTask && taken_.ready <= now) {
    task_ = taken_.task;
    word_ = taken_.word;
    step_ = 0;
    taken_ = {};
    ++counters.tasks;
    counters.end = std::max(counters.end, now + 1);
    log.push_back({now, unit_, kTask, task_});
  }
  take_steps(now, log);
  if (is_over()) task_ = kNoTask;
  pick_task(now, log);
}

/// The steps of the task, up to one that takes time or has to wait.
void TaskCore::take_steps(Cycle now, std::vector<Event>& log) {
  if (task_ == kNoTask) return;
  const std::vector<Step>& steps = code_.tasks[task_].steps;
  while (step_ != steps.size() && threads_[kMainThread].what == nullptr) {
    if (!take_step(steps[step_], now, log)) return;
  }
}

/// Returns whether the next step may follow in the same cycle.
bool TaskCore::take_step(const Step& step, Cycle now, std::vector<Event>& log) {
  switch (step.kind) {
    case Step::Kind::activate:
      active_[step.task] = true;
      break;
    case Step::Kind::block:
      blocked_[step.task] = true;
      break;
    case Step::Kind::unblock:
      blocked_[step.task] = false;
      break;
    case Step::Kind::stamp:  // stamps are compared between the engines
      break;
    case Step::Kind::call: {
      const Routine& routine = program_.routines[step.routine];
      start(kMainThread, routine[in_routine_], word_, now, log);
      if (++in_routine_ == routine.size()) {
        in_routine_ = 0;
        ++step_;
      }
      return false;
    }
    case Step::Kind::vector: {
      const Instruction& what = step.vector;
      const bool free =
          threads_[what.thread].what == nullptr && given_[what.thread].what == nullptr;
      if (!free) return false;
      ++step_;
      if (what.length == 0) return true;
      if (what.thread == kMainThread) {
        start(kMainThread, what, word_, now, log);
      } else {
        given_[what.thread] = {&what, word_};
      }
      return false;
    }
  }
  ++step_;
  return true;
}

/// Cycles from taking a task to its first step.
Cycle TaskCore::begin_after(Task::Kind kind) const {
  if (kind == Task::Kind::control) return params_.core.cmd_cycles;
  const bool completes = kind == Task::Kind::local && params_.task.completion != 0;
  return completes ? params_.task.completion : params_.core.dispatch;
}

/// Takes a task that is ready into the task register, the tasks in turn.
void TaskCore::pick_task(Cycle now, std::vector<Event>& log) {
  if (taken_.task != kNoTask) return;
  if (task_ != kNoTask) {
    const bool all_steps_taken = step_ == code_.tasks[task_].steps.size();
    if (!params_.core.dispatch_overlap || !all_steps_taken) return;
  }
  const std::size_t count = code_.tasks.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t chosen = (next_task_ + i) % count;
    const Task& task = code_.tasks[chosen];
    if (blocked_[chosen]) continue;
    Queue* const queue = trigger(task, now);
    if (task.kind == Task::Kind::local ? !active_[chosen] : queue == nullptr) continue;
    active_[chosen] = false;
    next_task_ = chosen + 1;
    taken_.task = static_cast<TaskIndex>(chosen);
    if (queue != nullptr) {
      taken_.word = queue->take().payload;
      ++counters.received;
      log.push_back({now, unit_, kQueuePop, taken_.word});
    }
    taken_.ready = now + begin_after(task.kind);
    counters.end = std::max(counters.end, now + 1);
    return;
  }
}

/// The queue whose head triggers a task; null if none does. The queues are looked at by color.
Queue* TaskCore::trigger(const Task& task, Cycle now) const {
  for (const auto& [color, queue] : in) {
    if (!queue->has_words(now) || is_read(color)) continue;
    const Wavelet& head = queue->head();
    switch (task.kind) {
      case Task::Kind::local:
        break;
      case Task::Kind::data:
        if (color == task.color && !head.control) return queue;
        break;
      case Task::Kind::control:
        if (head.control && head.payload >> 16U == task.id) return queue;
        break;
    }
  }
  return nullptr;
}

/// An instruction in a thread, or given to one, takes the words of this color.
bool TaskCore::is_read(Color color) const {
  const auto reads = [&](const Instruction* what) {
    if (what == nullptr) return false;
    return (what->a.kind == Kind::fabric && what->a.color == color) ||
           (what->b.kind == Kind::fabric && what->b.color == color);
  };
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (reads(threads_[i].what) || reads(given_[i].what)) return true;
  }
  return false;
}

void TaskCore::start(std::size_t thread, const Instruction& what, std::uint32_t word, Cycle now,
                     std::vector<Event>& log) {
  threads_[thread] = {&what, word, 0, {}, scalar(what.a, what, word), scalar(what.b, what, word)};
  if (what.op == VectorOp::work) return;
  ++counters.instructions;
  log.push_back({now, unit_, kVectorActive, what.thread});
}

/// The operand of every element, if it is the same for all.
float TaskCore::scalar(const Operand& operand, const Instruction& what, std::uint32_t word) const {
  const bool half = is_half(what.element);
  const bool integer = is_integer_type(what.element);
  if (operand.kind == Kind::word) return from_bits(word, 0, half, integer);
  if (operand.kind != Kind::cell || memory.empty()) return operand.value;
  return from_bits(load(address(operand, half, 0, word), half), 0, half, integer);
}

/// Who issues a beat in this cycle. Of two slots one is the main thread's.
std::optional<std::size_t> TaskCore::choose(Slot& slot, Cycle now) {
  std::vector<std::size_t> order;
  switch (params_.core.sched.value()) {
    case Sched::main_first:
      for (std::size_t i = 0; i < kThreads; ++i) order.push_back(i);
      break;
    case Sched::ut_first:
      for (std::size_t i = 1; i <= kThreads; ++i) order.push_back(i % kThreads);
      break;
    case Sched::round_robin:
      for (std::size_t i = 0; i < kThreads; ++i) order.push_back((slot.next + i) % kThreads);
      break;
  }
  for (const std::size_t thread : order) {
    const bool main = thread == kMainThread;
    if (params_.core.slots == 2U && main != (&slot == slots_.data())) continue;
    if (!can_issue(threads_[thread], now)) continue;
    slot.next = thread + 1;  // moves with every issue
    return thread;
  }
  return std::nullopt;
}

unsigned TaskCore::fabric_words(const Instruction& what) const {
  const bool pairs = what.simd64 && params_.core.fabric_simd64;
  return pairs ? 2U : params_.core.fabric_words_per_issue.value();
}

std::uint32_t TaskCore::next_elements(const Thread& thread) const {
  return beat_elements(*thread.what, params_, fabric_words(*thread.what), thread.done);
}

/// All words of the next beat are there.
bool TaskCore::has_input(const Operand& operand, const Thread& thread, Cycle now) const {
  const std::uint32_t words = words_for(is_half(thread.what->element), next_elements(thread));
  if (operand.kind == Kind::fabric) return in.at(operand.color)->has_words(now, words);
  return operand.kind != Kind::fifo || fifos_[operand.fifo].size() >= words;
}

bool TaskCore::can_issue(const Thread& thread, Cycle now) const {
  if (thread.what == nullptr || thread.ends) return false;
  const Instruction& what = *thread.what;
  if (!has_input(what.a, thread, now) || !has_input(what.b, thread, now)) return false;
  const std::uint32_t words = words_for(is_half_result(what.element), next_elements(thread));
  if (what.to.kind == Kind::fabric) return out.at(what.to.color)->has_room(words);
  if (what.to.kind != Kind::fifo) return true;
  return fifos_[what.to.fifo].size() + words <= code_.fifos[what.to.fifo].capacity;
}

/// A beat: a cycle of the slot, and further ones for conflicts, stalls and special functions.
TaskCycle TaskCore::issue(std::size_t chosen, Slot& slot, Cycle now) {
  Thread& thread = threads_[chosen];
  const Instruction& what = *thread.what;
  const std::uint32_t count = next_elements(thread);
  const Extra extra = extra_cycles(what, params_, thread.word, thread.done, count,
                                   beat_width(what, params_, fabric_words(what)));
  const auto fabric = [](const Operand& operand) { return operand.kind == Kind::fabric; };
  TaskCycle kind = TaskCycle::vector;
  if (fabric(what.to) || fabric(what.a) || fabric(what.b)) kind = TaskCycle::fabric;
  if (what.op == VectorOp::work) kind = TaskCycle::scalar;
  std::vector<TaskCycle>& further = slot.further;
  further.insert(further.end(), extra.special, TaskCycle::special);
  further.insert(further.end(), extra.residual, TaskCycle::residual);
  further.insert(further.end(), extra.conflict, TaskCycle::conflict);
  slot.free = now + 1 + further.size();
  counters.begin = std::min(counters.begin, now);
  counters.end = std::max(counters.end, slot.free);
  count_beat(what, count, counters);
  do_elements(thread, count, now);
  if (thread.done == what.length) thread.ends = slot.free;
  return kind;
}

std::uint32_t TaskCore::take_word(const Operand& operand) {
  if (operand.kind == Kind::fabric) {
    ++counters.received;
    return in.at(operand.color)->take().payload;
  }
  std::vector<std::uint32_t>& fifo = fifos_[operand.fifo];
  const std::uint32_t word = fifo.front();
  fifo.erase(fifo.begin());
  return word;
}

void TaskCore::put_word(const Thread& thread, std::uint32_t word, bool last, Cycle now) {
  const Instruction& what = *thread.what;
  if (what.to.kind == Kind::fifo) {
    fifos_[what.to.fifo].push_back(word);
    return;
  }
  const SwitchCommands switches = last ? what.switches : SwitchCommands{0};
  out.at(what.to.color)->put(now, {word, what.to.color, what.control, switches});
}

/// Element `i` of a beat; `word` is the last one taken.
float TaskCore::element(const Operand& operand, float scalar, const Thread& thread, std::uint32_t i,
                        std::uint32_t& word) {
  const bool half = is_half(thread.what->element);
  const bool integer = is_integer_type(thread.what->element);
  if (is_stream(operand)) {
    const std::uint32_t place = half ? i % 2 : 0;
    if (place == 0) word = take_word(operand);
    return from_bits(word, place, half, integer);
  }
  if (operand.kind != Kind::memory || memory.empty()) return scalar;
  const std::uint32_t at = address(operand, half, thread.done + i, thread.word);
  return from_bits(load(at, half), 0, half, integer);
}

/// Element by element; results that leave fill words from the lower half on.
void TaskCore::do_elements(Thread& thread, std::uint32_t count, Cycle now) {
  const Instruction& what = *thread.what;
  const bool half = is_half_result(what.element);
  const bool integer = is_integer_type(what.element);
  const bool values = !memory.empty() || integer;  // others are not computed without a memory
  std::uint32_t word_a = 0;
  std::uint32_t word_b = 0;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < count && what.op != VectorOp::work; ++i) {
    const float a = element(what.a, thread.a, thread, i, word_a);
    const float b = element(what.b, thread.b, thread, i, word_b);
    std::uint32_t bits = 0;
    if (what.to.kind == Kind::memory && !memory.empty()) {
      const std::uint32_t at = address(what.to, half, thread.done + i, thread.word);
      const float old = from_bits(load(at, half), 0, half, integer);
      store(at, half, to_bits(result_of(what, old, a, b), half, integer));
    } else if (values) {
      bits = to_bits(result_of(what, 0, a, b), half, integer);
    }
    if (!is_stream(what.to)) continue;
    const bool upper = half && i % 2 == 1;
    word |= upper ? bits << 16U : bits;
    if (half && !upper && i + 1 != count) continue;
    put_word(thread, word, thread.done + i + 1 == what.length, now);
    word = 0;
  }
  thread.done += count;
}

std::uint32_t TaskCore::load(std::uint32_t at, bool half) const {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < (half ? 2U : 4U); ++i) {
    bits |= std::uint32_t{memory.at(at + i)} << (8 * i);
  }
  return bits;
}

void TaskCore::store(std::uint32_t at, bool half, std::uint32_t bits) {
  for (std::uint32_t i = 0; i < (half ? 2U : 4U); ++i) {
    memory.at(at + i) = static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

/// Why nothing issued in this cycle.
TaskCycle TaskCore::why_nothing(Cycle now) const {
  const bool taken = taken_.task != kNoTask;
  if (task_ == kNoTask && taken && taken_.ready > now) return TaskCycle::dispatch;
  for (const Thread& thread : threads_) {
    if (thread.what == nullptr || thread.ends) continue;
    const bool fed =
        has_input(thread.what->a, thread, now) && has_input(thread.what->b, thread, now);
    return fed ? TaskCycle::wait_out : TaskCycle::wait_in;
  }
  return taken ? TaskCycle::dispatch : TaskCycle::idle;
}

}  // namespace lacuna::wse::oracle
