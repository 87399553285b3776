// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/task_program.hpp"
#include "sim/base/cycle.hpp"

// What a core that runs tasks does next: its main thread from task to task and step to step, who
// issues, and what a core without a beat waits for. TaskCores asks for a core by itself, programs
// in lanes (lanes/) for those in which something changes.

namespace lacuna::wse {

/// Where a core is in its tasks.
struct TaskPlace {
  TaskIndex task = kNoTask;             // that runs,
  std::size_t next_step = 0;            // and the step of it that has not begun
  TaskIndex taken = kNoTask;            // in the task register,
  Cycle ready = 0;                      // and when that can begin
  std::size_t next_task = 0;            // to be looked at first
  unsigned color = Dispatch::kNoColor;  // of the word that was taken last for a task
};

/// What has started a task.
struct TaskTrigger {
  Task::Kind kind = Task::Kind::local;
  unsigned color = Dispatch::kNoColor;  // of its word
};

/// What came of the next step of a task.
enum class StepTaken : std::uint8_t {
  waits,    // it could not begin
  at_once,  // it takes no time: the one after it may begin, too
  time,     // nothing follows in this cycle
};

/// The main thread. `Core` has
///   TaskPlace& place()
///   bool idle()                      the main thread has no instruction
///   bool all_begun()                 nor has the running task steps that have not begun
///   StepTaken take_step(now)         the next one; moves place().next_step, unless it waits
///   void begun(now)                  the task that was in the register runs
///   std::size_t tasks()              that something may trigger
///   bool triggered(task, now)        and has, and the task is not blocked
///   TaskTrigger take(task, now)      what triggered it is used up
///   unsigned full_outputs(now)       output queues that are full
class TaskControl {
 public:
  explicit TaskControl(const TaskParams& params)
      : dispatch_(params.core), completion_(params.task.completion) {}

  /// What it does in a cycle before anything is issued. Returns whether it did.
  template <class Core>
  bool main_thread(Core& core, Cycle now) const {
    TaskPlace& at = core.place();
    bool acted = leave(core);
    if (at.task == kNoTask && at.taken != kNoTask && at.ready <= now && may_begin(core, now)) {
      at.task = at.taken;
      at.taken = kNoTask;
      at.next_step = 0;
      core.begun(now);
      acted = true;
    }
    acted = take_steps(core, now) || acted;
    leave(core);  // nothing of it is left to wait for
    return pick(core, now) || acted;
  }

  /// The steps of the task, up to the first that takes time.
  template <class Core>
  bool take_steps(Core& core, Cycle now) const {
    if (core.place().task == kNoTask) return false;
    bool acted = false;
    while (!core.all_begun() && core.idle()) {
      const StepTaken taken = core.take_step(now);
      if (taken == StepTaken::waits) break;
      acted = true;
      if (taken == StepTaken::time) break;
    }
    return acted;
  }

  /// Whether it would take a task into the register.
  template <class Core>
  bool picks(Core& core) const {
    const TaskPlace& at = core.place();
    if (at.taken != kNoTask) return false;
    return at.task == kNoTask || (dispatch_.overlaps() && core.all_begun());
  }

 private:
  /// A task whose last instruction is over, is over itself.
  template <class Core>
  static bool leave(Core& core) {
    TaskPlace& at = core.place();
    if (at.task == kNoTask || !core.idle() || !core.all_begun()) return false;
    at.task = kNoTask;
    return true;
  }

  template <class Core>
  static bool may_begin(const Core& core, Cycle now) {
    if constexpr (!Dispatch::heeds_output()) return true;
    return Dispatch::may_begin(core.full_outputs(now));
  }

  /// Takes the next task, in turn, into the task register.
  template <class Core>
  bool pick(Core& core, Cycle now) const {
    if (!picks(core)) return false;
    TaskPlace& at = core.place();
    const std::size_t count = core.tasks();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t task = (at.next_task + i) % count;
      if (!core.triggered(task, now)) continue;
      at.taken = static_cast<TaskIndex>(task);
      at.next_task = task + 1;
      at.ready = now + delay(core.take(task, now), at);
      return true;
    }
    return false;
  }

  /// From taking a task to its first step.
  Cycle delay(const TaskTrigger& by, TaskPlace& at) const {
    if (by.kind != Task::Kind::local) {
      const unsigned before = std::exchange(at.color, by.color);
      return dispatch_.delay(by.kind == Task::Kind::control) + Dispatch::change(by.color, before);
    }
    return completion_ != 0 ? completion_ : dispatch_.delay(false);
  }

  Dispatch dispatch_;
  Cycle completion_;
};

/// Why cores issue nothing: a flag is -1 or 0, or a Lanes of such.
template <class Flags>
class TaskWaits {
 public:
  TaskWaits() = default;
  /// Of `idle` ones; those that are `starting` run no task, and that in the register is not due.
  TaskWaits(const Flags& idle, const Flags& starting)
      : dispatch(idle & starting), left_(idle & ~starting) {}

  /// Threads in their order: the first that has an instruction tells. Lacks it words, or room?
  void ask(const Flags& has, const Flags& fed) {
    in |= left_ & has & ~fed;
    out |= left_ & has & fed;
    left_ &= ~has;
  }
  /// No thread has one: there may be a task in the register.
  void end(const Flags& taken) { dispatch |= left_ & taken; }

  Flags dispatch{};
  Flags in{};
  Flags out{};

 private:
  Flags left_{};
};

}  // namespace lacuna::wse
