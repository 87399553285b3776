// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/lanes.hpp"
#include "sim/base/parameter.hpp"

// The issue slot of a core: one beat a cycle, of the main thread or of a microthread. Contexts are
// numbered, 0 is the main thread; they are asked from one of them on, around.

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

  explicit constexpr IssueRule(Sched sched) {
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

  /// True if microthreads are asked in their order, and the main thread last.
  constexpr bool microthreads_first() const { return first == 1 && !in_turn; }
};

/// Who issues, of the contexts that are bits of `contexts` and for which `can(context)` is true;
/// kNobody if there is none. `turn`, of a core, begins at 0.
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

/// The same in every lane.
template <class Number>
class LaneIssue {
 public:
  using Vector = Lanes<Number>;

  /// Of the lanes in which each context may issue, those in which it does.
  template <std::size_t kContexts>
  std::array<Vector, kContexts> choose(const IssueRule& rule, std::array<Vector, kContexts> may) {
    if (rule.in_turn) return choose_in_turn(may);
    Vector taken{};
    for (std::size_t i = 0; i < kContexts; ++i) {
      Vector& mine = may[(rule.first + i) % kContexts];
      mine &= ~taken;
      taken |= mine;
    }
    return may;
  }

 private:
  using Turn = LaneTurn<Number>;

  template <std::size_t kContexts>
  std::array<Vector, kContexts> choose_in_turn(std::array<Vector, kContexts> may) {
    std::array<Vector, kContexts> keys{};
    Vector best = Turn::nobody();
    for (std::size_t i = 0; i < kContexts; ++i) {
      keys[i] = turn_.key(may[i], all_lanes<Number>(i));
      best = Turn::least(best, keys[i]);
    }
    for (std::size_t i = 0; i < kContexts; ++i) {
      may[i] &= keys[i] == best;
      turn_.had(may[i], all_lanes<Number>(i));
    }
    return may;
  }

  Turn turn_;
};

}  // namespace lacuna::wse
