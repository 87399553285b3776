// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/wse/pe/task_core.hpp"

// What cores wait for: in cycles of stalls, in records, and in reports of runs in which nothing
// moves.

namespace lacuna::wse {
std::string TaskCores::blocked(std::size_t index) const {
  const Core& core = cores_[index];
  const Cycle now = kNever - 2;  // whatever was under way has arrived
  std::string text;
  for (std::size_t i = 0; i < kThreads; ++i) {
    const Thread& thread = core.threads[i];
    if (thread.instruction == nullptr) continue;
    const Instruction& what = *thread.instruction;
    text += fmt::format("{}core ({}, {}): {} at element {} of {} waits for",
                        text.empty() ? "" : "\n", core.ports.column, core.ports.row,
                        i == 0 ? std::string("the main thread") : fmt::format("microthread {}", i),
                        thread.done, what.length);
    const auto say = [&](const Operand& operand, const char* of) {
      if (operand.is_fabric()) {
        text += fmt::format(" {} color {}", of, static_cast<unsigned>(operand.color));
      }
      if (operand.is_fifo()) text += fmt::format(" {} FIFO {}", of, operand.fifo);
    };
    const NextBeat& beat = thread.beat;
    if (!words_in(core, what.a, thread.a, beat.in, now)) say(what.a, "words of");
    if (!words_in(core, what.b, thread.b, beat.in, now)) say(what.b, "words of");
    const bool room = thread.to != kNoLink && links_.can_push(thread.to, now, beat.out);
    if (!room) say(what.to, "room for");
  }
  for (const CorePort& in : core.ports.in) {
    if (!links_.can_pop(in.queue, now) || is_read(core, in.queue)) continue;
    text +=
        fmt::format("{}core ({}, {}): nothing takes words of color {}", text.empty() ? "" : "\n",
                    core.ports.column, core.ports.row, static_cast<unsigned>(in.color));
  }
  return text;
}

LinkId TaskCores::waits_for(std::size_t index, LinkId queue) const {
  const Core& core = cores_[index];
  // who takes its words; if nobody does yet, what keeps the main thread from coming to it
  const Thread* reader = core.threads.data();
  for (const Thread& thread : core.threads) {
    if (thread.instruction != nullptr && (thread.a == queue || thread.b == queue)) reader = &thread;
  }
  if (reader->instruction == nullptr) return kNoLink;
  for (const LinkId in : {reader->a, reader->b}) {
    if (in != kNoLink && in != queue && links_.stored(in) == 0) return in;
  }
  const bool full = reader->to != kNoLink && !links_.can_push(reader->to, kNever - 2);
  return full ? reader->to : kNoLink;
}

/// Which of the cycles that stalls take is the `cycle`-th, from 0 on.
TaskCycle TaskCores::of_stall(const BeatStalls& stalls, Cycle cycle) {
  if (cycle < stalls.bank) return TaskCycle::conflict;
  return cycle < stalls.bank + stalls.residual ? TaskCycle::residual : TaskCycle::special;
}

/// Books the cycles before `until` in which a beat kept the microthreads' slot, and which are not
/// the main thread's.
void TaskCores::book_kept(Core& core, Cycle until) {
  const BeatStalls& stalls = core.stalls[1];
  const Cycle begin = core.slot_free[1] - stalls.all();
  for (; core.accounted < std::min(until, core.slot_free[1]); ++core.accounted) {
    extend_run(core, kBusyRun, core.accounted, 1);
    ++core.counters.cycles[static_cast<std::size_t>(of_stall(stalls, core.accounted - begin))];
  }
}

EventKind TaskCores::kind_of(TaskCycle why) {
  if (why == TaskCycle::dispatch) return kDispatchRun;
  if (why == TaskCycle::wait_in) return kWaitWordsRun;
  return why == TaskCycle::wait_out ? kWaitRoomRun : kWordOut;
}

void TaskCores::extend_run(Core& core, EventKind what, Cycle at, Cycle length) {
  if (!log_.keeps(kBusyRun)) return;
  if (what == core.run_of && at == core.run_begin + core.run_length) {
    core.run_length += length;
    return;
  }
  if (core.run_of != kWordOut) {
    log_.record_run(core.run_begin, core.run_length, core.ports.unit, core.run_of,
                    core.run_length << 1U);
  }
  core.run_of = what;
  core.run_begin = at;
  core.run_length = length;
}

Wavelet TaskCores::take(Core& core, LinkId queue, Cycle now) {
  if (log_.keeps(kWordTaken)) {
    log_.record(now, core.ports.unit, kWordTaken,
                (now - links_.front_sent(queue)) << 8U |
                    static_cast<std::uint64_t>(links_.front(queue).color));
  }
  ++core.counters.received;
  return links_.pop(queue, now);
}

}  // namespace lacuna::wse
