// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"
#include "sim/base/event_log.hpp"
#include "tests/support/wse/oracle/queue.hpp"
#include "tests/support/wse/oracle/traffic.hpp"

namespace lacuna::wse::oracle {

/// A core that runs tasks (doc/model/wafer_tasks.md).
class TaskCore {
 public:
  TaskCore(const TaskParams& params, const TaskProgram& program, std::size_t place);

  std::map<Color, Queue*> in;        // by color
  std::map<Color, Queue*> out;       // by color; colors may share one
  std::map<Color, Queue*> ramp;      // by color: from an output queue to the router
  std::vector<Queue*> served;        // output queues in the order in which the ramp serves them
  TaskCounters counters;             // but for cycles, see kinds
  std::vector<TaskCycle> kinds;      // what each cycle was for
  std::vector<std::uint8_t> memory;  // empty: no values

  void cycle(Cycle now, std::vector<Event>& log);

  /// Nothing to do unless a word comes.
  bool is_quiet() const;

 private:
  static constexpr std::size_t kThreads = 1 + kMicrothreads;

  struct Thread {
    const Instruction* what = nullptr;  // null: idle
    std::uint32_t word = 0;             // of the task that started it
    std::uint32_t done = 0;             // elements
    std::optional<Cycle> ends;          // its last beat is over then
    float a = 0;                        // operands that stay the same
    float b = 0;
  };
  struct Given {
    const Instruction* what = nullptr;
    std::uint32_t word = 0;
  };
  struct Register {
    TaskIndex task = kNoTask;
    std::uint32_t word = 0;
    Cycle ready = 0;
  };

  /// A beat issues in a slot, and keeps it to its end.
  struct Slot {
    std::size_t next = 0;  // thread that is asked first
    Cycle free = 0;
    std::vector<TaskCycle> further;  // cycles of the beat that is under way, the last one first
  };

  void send_word(Cycle now);
  void retire(Cycle now, std::vector<Event>& log);
  void load_microthreads(Cycle now, std::vector<Event>& log);
  void run_main_thread(Cycle now, std::vector<Event>& log);
  void take_steps(Cycle now, std::vector<Event>& log);
  bool take_step(const Step& step, Cycle now, std::vector<Event>& log);
  Cycle begin_after(Task::Kind kind) const;
  void pick_task(Cycle now, std::vector<Event>& log);
  Queue* trigger(const Task& task, Cycle now) const;
  bool is_read(Color color) const;
  bool is_over() const;
  void start(std::size_t thread, const Instruction& what, std::uint32_t word, Cycle now,
             std::vector<Event>& log);
  float scalar(const Operand& operand, const Instruction& what, std::uint32_t word) const;

  std::optional<TaskCycle> use_slot(Slot& slot, Cycle now);
  std::optional<std::size_t> choose(Slot& slot, Cycle now);
  unsigned fabric_words(const Instruction& what) const;
  std::uint32_t next_elements(const Thread& thread) const;
  bool has_input(const Operand& operand, const Thread& thread, Cycle now) const;
  bool can_issue(const Thread& thread, Cycle now) const;
  TaskCycle issue(std::size_t chosen, Slot& slot, Cycle now);
  void do_elements(Thread& thread, std::uint32_t count, Cycle now);
  std::uint32_t take_word(const Operand& operand);
  void put_word(const Thread& thread, std::uint32_t word, bool last, Cycle now);
  float element(const Operand& operand, float scalar, const Thread& thread, std::uint32_t i,
                std::uint32_t& word);
  std::uint32_t load(std::uint32_t at, bool half) const;
  void store(std::uint32_t at, bool half, std::uint32_t bits);
  TaskCycle why_nothing(Cycle now) const;

  const TaskParams& params_;
  const TaskProgram& program_;
  const CoreProgram& code_;
  const std::uint32_t unit_;

  std::vector<bool> active_;
  std::vector<bool> blocked_;
  std::vector<std::vector<std::uint32_t>> fifos_;
  std::array<Thread, kThreads> threads_;
  std::array<Given, kThreads> given_;  // to a microthread, to begin with the next cycle
  TaskIndex task_ = kNoTask;
  std::uint32_t word_ = 0;
  std::size_t step_ = 0;
  std::size_t in_routine_ = 0;
  Register taken_;
  std::size_t next_task_ = 0;  // looked at first,
  Traffic on_ramp_;
  std::size_t next_queue_ = 0;  // served first
  std::array<Slot, 2> slots_;   // the second of microthreads, if there are two
};

}  // namespace lacuna::wse::oracle
