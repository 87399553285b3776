// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/lanes.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/parameter.hpp"

// Who is next where several want the same thing: heads of colors an output port, output queues the
// ramp. Candidates have numbers below kTurns; the least key wins. A new arbiter is a name, a choice
// and a rule in this file.

namespace lacuna::wse {

struct RouterParams;

enum class Arbiter { round_robin, fixed, oldest };

inline Choices<Arbiter> arbiter_choices() {
  return {{"round_robin", Arbiter::round_robin},
          {"fixed", Arbiter::fixed},
          {"oldest", Arbiter::oldest}};
}

inline constexpr unsigned kTurns = 32;
static_assert(kColors <= kTurns);

/// How many are asked before `number` if `next` is asked first.
constexpr unsigned turn_of(unsigned number, unsigned next) { return (number - next) % kTurns; }

/// What an output port goes by.
struct ArbiterRule {
  bool in_turn = false;  // after the color that won, the next one is asked first; else always 0
  bool by_age = false;   // the word that arrived first, of several the lowest color

  explicit constexpr ArbiterRule(Arbiter arbiter) {
    switch (arbiter) {
      case Arbiter::round_robin:
        in_turn = true;
        return;
      case Arbiter::fixed:
        return;
      case Arbiter::oldest:
        by_age = true;
        return;
    }
  }

  /// Of the routers with these parameters.
  explicit ArbiterRule(const RouterParams& params);

  /// Where a port has a color, or the colors of lanes, in its order; below kTurns.
  template <class Value>
  constexpr Value place(const Value& color) const {
    return color;
  }

  /// The key of a head of `color` that can be sent since `arrival`, at a port that asks `next`
  /// first. Of equal keys the lowest color wins, then the first port.
  constexpr Cycle key(Color color, unsigned next, Cycle arrival) const {
    return by_age ? arrival : turn_of(place(static_cast<unsigned>(color)), next);
  }

  /// The place that a port asks first after a head of `color` has won.
  constexpr std::uint8_t next(Color color, std::uint8_t before) const {
    return in_turn ? static_cast<std::uint8_t>(place(static_cast<unsigned>(color)) + 1U) : before;
  }

  /// Lanes count words and do not know when each came.
  constexpr bool fits_lanes() const { return !by_age; }
};

/// A round-robin arbiter in every lane: of an output port, the ramp or the issue slot of a core. It
/// is one of fixed priority if it is told of no grant.
template <class Number>
class LaneArbiter {
 public:
  using Vector = Lanes<Number>;

  /// The key of what does not ask: above all others.
  static Vector nobody() { return all_lanes<Number>(2 * kTurns); }

  /// The keys of the lanes that ask.
  Vector key(const Vector& asks, const Vector& number) const {
    return select(asks, (number - next_) & all_lanes<Number>(kTurns - 1), nobody());
  }
  static Vector least(const Vector& a, const Vector& b) { return select(a < b, a, b); }

  /// In the lanes of `won`, `number` was granted what it asked for.
  void granted(const Vector& won, const Vector& number) { next_ = select(won, number + 1, next_); }

 private:
  Vector next_{};
};

/// An output port in every lane.
template <class Number>
class LanePort {
 public:
  using Vector = Lanes<Number>;

  /// The keys of the lanes that ask for it with a word of `color`.
  Vector key(const ArbiterRule& rule, const Vector& asks, const Vector& color) const {
    return arbiter_.key(asks, rule.place(color));
  }

  /// The lanes of `won` have sent a word of `color`.
  void sent(const ArbiterRule& rule, const Vector& won, const Vector& color) {
    if (rule.in_turn) arbiter_.granted(won, rule.place(color));
  }

 private:
  LaneArbiter<Number> arbiter_;
};

}  // namespace lacuna::wse
