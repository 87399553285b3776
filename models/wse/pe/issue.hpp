// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/lanes.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/parameter.hpp"

// The issue slots of a core: one beat a cycle each. Contexts are numbered, 0 is the main thread;
// those of a slot are asked from one of them on, around. The main thread has the first slot, and
// microthreads the last: the same, unless there are two.

namespace lacuna::wse {

struct CoreParams;

enum class Sched { main_first, ut_first, round_robin };

inline Choices<Sched> sched_choices() {
  return {{"main_first", Sched::main_first},
          {"ut_first", Sched::ut_first},
          {"round_robin", Sched::round_robin}};
}

struct IssueRule {
  unsigned first = 0;    // context that is asked first
  bool in_turn = false;  // after a beat it is the one after that which issued
  bool two = false;      // slots

  explicit constexpr IssueRule(Sched sched, unsigned slots = 1) : two(slots == 2) {
    switch (sched) {
      case Sched::main_first:
        return;
      case Sched::ut_first:
        first = 1;
        return;
      case Sched::round_robin:
        in_turn = true;
        return;
    }
  }

  /// Of the cores with these parameters.
  explicit IssueRule(const CoreParams& params);

  /// The first cycle, from `now` on, in which beats can be issued.
  static constexpr Cycle opens(Cycle now) { return now; }
  /// Whether that is each cycle.
  static constexpr bool always_open() {
    for (Cycle now = 0; now < 1024; ++now) {
      if (opens(now) != now) return false;
    }
    return true;
  }

  static constexpr unsigned kSlots = 2;  // at most
  constexpr unsigned slot_of(unsigned context) const { return two && context != 0 ? 1 : 0; }
  /// The contexts of a slot, as bits.
  constexpr std::uint32_t contexts_of(unsigned slot) const {
    const std::uint32_t main = 1;
    return !two ? (slot == 0 ? ~std::uint32_t{0} : 0) : slot == 0 ? main : ~main;
  }
};

/// Who issues, of the contexts of a slot that are bits of `contexts` and for which `can(context)`
/// is true; kNobody if there is none. `turn`, of a slot of a core, begins at 0.
inline constexpr unsigned kNobody = 32;

template <class Can>
unsigned choose_context(const IssueRule& rule, std::uint32_t contexts, std::uint8_t& turn,
                        const Can& can) {
  const unsigned first = rule.in_turn ? turn : rule.first;
  const std::uint32_t before = contexts & ((std::uint32_t{1} << first) - 1);
  for (std::uint32_t left : {contexts & ~before, before}) {
    for (; left != 0; left &= left - 1) {
      const auto context = static_cast<unsigned>(__builtin_ctz(left));
      if (!can(context)) continue;
      turn = static_cast<std::uint8_t>(context + 1);
      return context;
    }
  }
  return kNobody;
}

/// The issue slots in every lane: who has them, and for how long. Of cores whose beats all take one
/// cycle, close() and keep() need not be called.
template <class Number>
class LaneIssue {
 public:
  using Vector = Lanes<Number>;

  /// Lanes in which a beat issued before keeps a slot.
  Vector kept(unsigned slot) const { return left_[slot] > Vector{}; }
  /// For so many cycles more.
  const Vector& left(unsigned slot) const { return left_[slot]; }
  /// It is a beat of the main thread.
  Vector kept_by_main() const { return main_ & kept(0); }

  /// Leaves of the lanes in which contexts may issue those whose slot is free.
  template <std::size_t kContexts>
  void close(const IssueRule& rule, std::array<Vector, kContexts>& may) const {
    for (unsigned i = 0; i < kContexts; ++i) may[i] &= ~kept(rule.slot_of(i));
  }

  /// At the end of a cycle in which the main thread and `others` issued beats of so many cycles.
  void keep(const IssueRule& rule, const Vector& main, const Vector& main_cycles,
            const Vector& others, const Vector& other_cycles) {
    const unsigned last = rule.slot_of(1);
    for (Vector& left : left_) left += left > Vector{};
    left_[0] = select(main, main_cycles - 1, left_[0]);
    left_[last] = select(others, other_cycles - 1, left_[last]);
    main_ = last == 0 ? (main_ & ~others) | main : main_ | main;
  }

  /// So many cycles go by in which nothing issues.
  void sleep(Number cycles) {
    for (Vector& left : left_) left[0] -= std::min(left[0], cycles);
  }

  /// Of the lanes in which each context may issue, those in which it does.
  template <std::size_t kContexts>
  std::array<Vector, kContexts> choose(const IssueRule& rule, std::array<Vector, kContexts> may) {
    const std::size_t shared = rule.two ? 1 : 0;  // the first context that others can keep waiting
    if (rule.in_turn) return choose_in_turn(may, shared);
    Vector taken{};
    for (std::size_t i = 0; i < kContexts; ++i) {
      const std::size_t context = (rule.first + i) % kContexts;
      if (context < shared) continue;
      may[context] &= ~taken;
      taken |= may[context];
    }
    return may;
  }

 private:
  using Arbiters = LaneArbiter<Number>;

  template <std::size_t kContexts>
  std::array<Vector, kContexts> choose_in_turn(std::array<Vector, kContexts> may,
                                               std::size_t shared) {
    std::array<Vector, kContexts> keys{};
    Vector best = Arbiters::nobody();
    for (std::size_t i = shared; i < kContexts; ++i) {
      keys[i] = arbiter_.key(may[i], all_lanes<Number>(i));
      best = Arbiters::least(best, keys[i]);
    }
    for (std::size_t i = shared; i < kContexts; ++i) {
      may[i] &= keys[i] == best;
      arbiter_.granted(may[i], all_lanes<Number>(i));
    }
    return may;
  }

  Arbiters arbiter_;
  std::array<Vector, IssueRule::kSlots> left_{};
  Vector main_{};  // the beat in the first slot is one of the main thread
};

}  // namespace lacuna::wse
