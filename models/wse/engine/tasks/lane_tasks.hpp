// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/lanes.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/task_control.hpp"

// Cores that run tasks, as lanes of small integers: where each is in its program, and what its
// threads have left. What they do next is said by TaskControl and TaskIssue.

namespace lacuna::wse {

/// The next thing that the main thread of a core in a lane does. Contexts of the issue slots are
/// the main thread, 0, and the microthreads that a program uses, in their order.
struct LaneOp {
  enum class Kind : std::uint8_t {
    start,  // a microthread that moves `count` words; waits until the microthread is idle
    wait,   // until the microthread is idle
    beats,  // `count` issue slots, each `extra` cycles longer than one
    take,   // `count` issue slots with a word each
    tell,   // tasks, see below
    end,    // once all microthreads are idle
  };
  Kind kind = Kind::end;
  std::uint8_t context = 0;
  std::uint8_t extra = 0;
  bool continues = false;  // what the op before began
  std::uint32_t count = 0;
  TaskIndex activates = kNoTask;  // when it is over
  TaskIndex unblocks = kNoTask;
  bool ends = false;  // the words of a start are the last of their stream
};

/// `kContexts`, the main thread among them, of as many cores as there are lanes.
template <std::size_t kContexts>
class LaneTasks {
 public:
  using Small = std::int8_t;
  using Vector = Lanes<Small>;
  using Issue = TaskIssue<Small, kContexts>;
  static constexpr std::uint32_t kWidth = LanesOf<Small>::kCount;
  /// Words and beats are counted down in pieces that a lane can hold.
  static constexpr std::uint32_t kMost = 100;

  /// The cores of one Lanes.
  struct Threads {
    std::array<Vector, kContexts> left{};  // words of microthreads, beats of the main thread,
    Vector takes{};                        // which take a word each,
    Vector extra{};                        // and cycles of each of them beyond the first
    LaneIssue<Small> slot;
    Vector ask{};    // the main thread goes on
    Vector begun{};  // something has been issued
  };

  struct Lane {
    TaskPlace place;
    std::array<std::uint32_t, kContexts> more{};  // words and beats beyond those in the lanes
    std::uint8_t waits_for = 0;                   // microthread
    Cycle begin = kNever;                         // of the first beat
  };

  /// What TaskControl asks of a lane, as far as programs do not differ.
  class Core {
   public:
    Core(LaneTasks& tasks, std::uint32_t lane)
        : lane_(lane),
          at_(lane % kWidth),
          tasks_(tasks),
          threads_(tasks.threads[lane / kWidth]),
          state_(tasks.lanes[lane]) {
      if (!in_beat()) ask(false);
    }

    TaskPlace& place() { return state_.place; }
    bool idle() const { return !in_beat() && threads_.left[0][at_] == 0; }
    /// Where that matters there are no lanes; see lanes_can.hpp.
    static unsigned full_outputs(Cycle /*now*/) { return 0; }

   protected:
    bool in_beat() const { return threads_.slot.left(0)[at_] != 0; }
    void ask(bool whether) { threads_.ask[at_] = whether ? Small{-1} : Small{0}; }
    bool is_busy(std::uint8_t context) {
      if (threads_.left.at(context)[at_] == 0) return false;
      state_.waits_for = context;
      return true;
    }

    /// A step that is not the program's own.
    StepTaken begin(const LaneOp& op) {
      const bool moves = op.kind == LaneOp::Kind::start || op.kind == LaneOp::Kind::wait;
      if (moves && is_busy(op.context)) return StepTaken::waits;
      ++state_.place.next_step;
      if (op.kind == LaneOp::Kind::wait) return StepTaken::at_once;
      if (moves) {
        tasks_.starts_.push_back({lane_, op.context, op.count});
        ask(true);
      } else {
        tasks_.load(lane_, op);
      }
      return StepTaken::time;
    }

    const std::uint32_t lane_;
    const std::uint32_t at_;  // of its Lanes
    LaneTasks& tasks_;
    Threads& threads_;
    Lane& state_;
  };

  explicit LaneTasks(std::size_t blocks) : threads(blocks), lanes(blocks * kWidth) {}

  /// A cycle's issue as the state says that it begins with.
  Issue begin_issue(std::size_t block) const {
    const Threads& t = threads[block];
    Issue issue;
    for (std::size_t i = 0; i < kContexts; ++i) issue.has[i] = t.left[i] > Vector{};
    issue.fed.fill(~Vector{});
    issue.room.fill(~Vector{});
    issue.main_cycles = t.extra + 1;
    return issue;
  }

  /// Beats have been issued; `over(lane, context)` hears of instructions that are over by that.
  /// `ops` are those of a lane's task.
  template <class Ops, class Over>
  void apply(std::size_t block, const Issue& issue, Cycle now, const Ops& ops, const Over& over) {
    Threads& t = threads[block];
    const auto first = static_cast<std::uint32_t>(block * kWidth);
    Vector any_issued{};
    constexpr std::uint8_t kAll = kContexts;
    for (std::uint8_t context = 0; context < kAll; ++context) {
      const Vector& issued = issue.issued[context];
      any_issued |= issued;
      t.left[context] += issued;
      const Vector ends = issued & (t.left[context] == Vector{});
      if (!any(ends)) continue;
      for_each_lane<Small>(ends, [&](unsigned lane) {
        if (is_over(first + lane, context, ops)) over(first + lane, context);
      });
    }
    const Vector fresh = any_issued & ~t.begun;
    if (!any(fresh)) return;
    t.begun |= fresh;
    for_each_lane<Small>(fresh, [&](unsigned lane) { lanes[first + lane].begin = now; });
  }

  bool starts() const { return !starts_.empty(); }

  /// Microthreads that were told to start in this cycle may issue in the next.
  void start_threads() {
    for (const Start& start : starts_) count_down(start.lane, start.context, start.words);
    starts_.clear();
  }

  std::vector<Threads> threads;
  std::vector<Lane> lanes;

 private:
  struct Start {
    std::uint32_t lane;
    std::uint8_t context;
    std::uint32_t words;
  };

  void count_down(std::uint32_t lane, std::uint8_t context, std::uint32_t words) {
    const std::uint32_t now = std::min(words, kMost);
    threads[lane / kWidth].left.at(context)[lane % kWidth] = static_cast<Small>(now);
    lanes[lane].more.at(context) = words - now;
  }

  /// The main thread has these beats next.
  void load(std::uint32_t lane, const LaneOp& op) {
    Threads& t = threads[lane / kWidth];
    t.takes[lane % kWidth] = op.kind == LaneOp::Kind::take ? Small{-1} : Small{0};
    t.extra[lane % kWidth] = static_cast<Small>(op.extra);
    count_down(lane, 0, op.count);
  }

  /// The last words or beats that the lane knows of have been issued; whether there are no others.
  template <class Ops>
  bool is_over(std::uint32_t lane, std::uint8_t context, const Ops& ops) {
    Lane& state = lanes[lane];
    if (const std::uint32_t more = state.more.at(context); more != 0) {
      count_down(lane, context, more);
      return false;
    }
    if (context == 0) {
      const std::vector<LaneOp>& all = ops(lane);
      std::size_t& next = state.place.next_step;
      if (next != all.size() && all[next].continues) {
        load(lane, all[next++]);
        return false;
      }
    }
    if (context == 0 || state.waits_for == context) {
      threads[lane / kWidth].ask[lane % kWidth] = -1;
      state.waits_for = 0;
    }
    return true;
  }

  std::vector<Start> starts_;
};

}  // namespace lacuna::wse
