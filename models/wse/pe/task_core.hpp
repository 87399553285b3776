// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/task_control.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/engine.hpp"

namespace lacuna::wse {

/// Cores that run tasks: a main thread and eight microthreads with one issue slot or two. In each
/// cycle a core, in this order: puts a word of an output queue on the ramp; retires instructions
/// that ended before, which may activate tasks; lets microthreads load their next instruction; lets
/// the task in the task register begin or the present one take its next step, and picks the next
/// task; issues one beat in each slot, the main thread's first.
class TaskCores final : public CoreArray {
 public:
  TaskCores(const TaskParams& params, const TaskProgram& program, Engine engine, LinkArray& links,
            EventLog& log);

  void add(const CorePorts& ports) override;
  Cycle step(std::size_t index, Cycle now) override;
  void account(std::size_t index, Cycle now) override;
  void settle(std::size_t index, Cycle end) override;
  std::size_t size() const override { return cores_.size(); }
  std::size_t finished() const override { return idle_; }
  std::string blocked(std::size_t index) const override;

  const CorePorts& ports(std::size_t core) const { return cores_[core].ports; }
  const TaskCounters& counters(std::size_t core) const { return cores_[core].counters; }

  /// What the core has counted when all cycles before `at` are over, between two cycles of a run
  /// that issues beat by beat.
  TaskCounters count(std::size_t index, Cycle at);
  const std::vector<std::uint8_t>& memory(std::size_t core) const { return cores_[core].memory; }

  /// The cycles of the core's stamps, in their order.
  const std::vector<Cycle>& stamps(std::size_t core) const { return cores_[core].stamps; }

  /// The link whose words or room the reader of `queue` waits for, besides that of `queue`;
  /// kNoLink if it waits for none.
  LinkId waits_for(std::size_t index, LinkId queue) const;

 private:
  static constexpr std::size_t kThreads = 1 + kMicrothreads;

  template <class Each>
  using Slots = std::array<Each, IssueRule::kSlots>;

  /// What the next beat of an instruction takes and makes.
  struct NextBeat {
    std::uint32_t elements = 0;
    std::uint32_t in = 0;   // words of each source
    std::uint32_t out = 0;  // words of the result
  };

  /// An instruction in a thread. What says whether its next beat can be issued is in one line of
  /// the host's cache.
  struct alignas(64) Thread {
    const Instruction* instruction = nullptr;  // null: idle
    Cycle finish = kNever;                     // when its last beat is over
    std::uint32_t done = 0;                    // elements
    LinkId a = kNoLink;
    LinkId b = kNoLink;
    LinkId to = kNoLink;
    NextBeat beat;
    bool fifos = false;                 // one of its operands is a FIFO
    const Instruction* next = nullptr;  // a microthread loads it when it is idle
    std::uint32_t next_word = 0;        // of the task that started it
    std::uint32_t word = 0;
    float scalar_a = 0;
    float scalar_b = 0;
    BeatCost cost;
  };

  /// Where a beat takes elements, and the word it is at.
  struct Source {
    const Operand* operand = nullptr;
    LinkId link = kNoLink;
    float scalar = 0;
    std::uint32_t word = 0;
  };

  struct OutQueue {
    LinkId queue = kNoLink;
    LinkId ramp = kNoLink;  // kNoLink: several colors use it
  };

  struct Fifo {
    std::vector<std::uint32_t> words;  // of the capacity
    std::uint32_t head = 0;
    std::uint32_t count = 0;
  };

  /// What every cycle looks at comes first, so that it shares lines of the host's cache.
  struct Core {
    Cycle stepped = 0;  // next cycle that may be performed
    Cycle accounted = 0;
    Slots<Cycle> slot_free{};
    Cycle next_finish = kNever;  // of the threads
    Cycle stretch = kNever;      // from when on the main thread has the slot; see goes_on()
    std::uint16_t busy = 0;      // a bit for each thread with an instruction,
    std::uint16_t queued = 0;    // and with one that comes next
    bool is_idle = false;
    TaskCycle waiting_for = TaskCycle::idle;
    TaskPlace place;
    std::size_t in_routine = 0;    // instructions of the called one that have begun; not the last
    std::uint32_t word = 0;        // of the wavelet that started the task,
    std::uint32_t taken_word = 0;  // and of that in the task register
    std::size_t next_queue = 0;    // to be served first on the ramp
    std::uint32_t unsent = 0;      // words in its output queues
    LinkMeter ramp;
    Slots<std::uint8_t> next_thread{};  // and by the issue slot
    const CoreProgram* program = nullptr;
    std::vector<OutQueue> out_queues;
    std::vector<bool> active;  // local tasks
    std::vector<bool> blocked;
    CorePorts ports;
    Slots<BeatStalls> stalls{};   // of the last beats
    EventKind run_of = kWordOut;  // of the log; this one: nothing
    Cycle run_begin = 0;
    Cycle run_length = 0;
    std::array<Thread, kThreads> threads;
    std::vector<Fifo> fifos;
    std::vector<std::uint8_t> memory;
    std::vector<Cycle> stamps;
    TaskCounters counters;
  };

  Cycle stretch_end(const Core& core) const;
  void catch_up(Core& core, Cycle now);
  BeatCost cost_of(const Instruction& instruction, std::uint32_t word) const;
  bool goes_on(const Core& core) const;
  bool send_output(Core& core, Cycle now);
  bool retire(Core& core, Cycle now);
  static std::size_t first_of(std::uint32_t threads) {
    return static_cast<std::size_t>(__builtin_ctz(threads));
  }
  bool load_microthreads(Core& core, Cycle now);
  class Main;  // a core as TaskControl sees it
  static bool is_read(const Core& core, LinkId queue);
  void start(Core& core, Thread& thread, const Instruction& instruction, std::uint32_t word,
             Cycle now);
  bool issue(Core& core, Cycle now);
  static void look_ahead(Thread& thread);
  bool fed(const Core& core, const Thread& thread, Cycle now) const;
  bool has_room(const Core& core, const Thread& thread, Cycle now) const;
  bool can_issue(const Core& core, const Thread& thread, Cycle now) const {
    return thread.instruction != nullptr && thread.finish == kNever && fed(core, thread, now) &&
           has_room(core, thread, now);
  }
  bool issue(Core& core, unsigned slot, Cycle now);
  static TaskCycle of_stall(const BeatStalls& stalls, Cycle cycle);
  static bool alone(const Core& core);
  void beats(Core& core, Thread& thread, Cycle now, Cycle until);
  std::uint32_t elements_until(const Core& core, const Thread& thread, Cycle now,
                               Cycle until) const;
  void book(Core& core, const Thread& thread, std::uint32_t beats, const BeatStalls& stalls,
            Cycle now);
  void book_kept(Core& core, Cycle until);
  unsigned slot_of(const Core& core, const Thread& thread) const {
    return issue_.slot_of(static_cast<unsigned>(&thread - core.threads.data()));
  }
  void extend_run(Core& core, EventKind what, Cycle at, Cycle length);
  static EventKind kind_of(TaskCycle why);
  Wavelet take(Core& core, LinkId queue, Cycle now);
  void move_elements(Core& core, const Thread& thread, std::uint32_t elements, Cycle now);
  void move_words(Core& core, const Thread& thread, std::uint32_t elements, Cycle now);
  void put_word(Core& core, const Thread& thread, std::uint32_t word, bool last, Cycle now);
  float take_element(Core& core, const Thread& thread, Source& from, std::uint32_t i, Cycle now);
  static float make_element(Core& core, const Thread& thread, std::uint32_t i, float a, float b);
  TaskCycle cause(const Core& core, Cycle now) const;
  static bool quiet(const Core& core);
  static Cycle next_timer(const Core& core, Cycle now);
  bool words_in(const Core& core, const Operand& operand, LinkId link, std::uint32_t words,
                Cycle now) const;
  std::uint32_t take_word(Core& core, const Operand& operand, LinkId link, Cycle now);

  const TaskParams params_;
  const LinkRule link_rule_;
  const TaskControl control_;
  const IssueRule issue_;
  const TaskProgram& program_;
  const Engine engine_;
  LinkArray& links_;
  EventLog& log_;
  std::vector<std::vector<Cycle>> begins_;  // by routine: when its instructions begin, undisturbed
  std::vector<Core> cores_;
  std::size_t idle_ = 0;
};

inline void TaskCores::look_ahead(Thread& thread) {
  const Instruction& what = *thread.instruction;
  const std::uint32_t elements = thread.cost.elements(thread.done, what.length);
  thread.beat = {elements, words_of(source_bytes(what.element), elements),
                 words_of(result_bytes(what.element), elements)};
}

inline bool TaskCores::words_in(const Core& core, const Operand& operand, LinkId link,
                                std::uint32_t words, Cycle now) const {
  if (link != kNoLink) return links_.has(link, now, words);
  return operand.kind != Operand::Kind::fifo || core.fifos[operand.fifo].count >= words;
}

/// Whether the words of the next beat have come.
inline bool TaskCores::fed(const Core& core, const Thread& thread, Cycle now) const {
  if (thread.a != kNoLink && !links_.has(thread.a, now, thread.beat.in)) return false;
  if (thread.b != kNoLink && !links_.has(thread.b, now, thread.beat.in)) return false;
  if (!thread.fifos) return true;
  const Instruction& what = *thread.instruction;
  return words_in(core, what.a, thread.a, thread.beat.in, now) &&
         words_in(core, what.b, thread.b, thread.beat.in, now);
}

/// And whether those that it makes have room.
inline bool TaskCores::has_room(const Core& core, const Thread& thread, Cycle now) const {
  if (thread.to != kNoLink) return links_.can_push(thread.to, now, thread.beat.out);
  if (!thread.fifos || thread.instruction->to.kind != Operand::Kind::fifo) return true;
  const Fifo& fifo = core.fifos[thread.instruction->to.fifo];
  return fifo.count + thread.beat.out <= fifo.words.size();
}

}  // namespace lacuna::wse
