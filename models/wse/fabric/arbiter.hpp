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

/// How late it is the turn of `number` if `next` is asked first.
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

/// Something that is had in turn, in every lane: an output port, or the ramp of a core.
template <class Number>
class LaneTurn {
 public:
  using Vector = Lanes<Number>;

  /// Of what does not ask: more than any turn.
  static Vector nobody() { return all_lanes<Number>(2 * kTurns); }

  /// The keys of the lanes that ask.
  Vector key(const Vector& asks, const Vector& number) const {
    return select(asks, (number - next_) & all_lanes<Number>(kTurns - 1), nobody());
  }
  static Vector least(const Vector& a, const Vector& b) { return select(a < b, a, b); }

  /// The lanes of `won` have had it, as `number`.
  void had(const Vector& won, const Vector& number) { next_ = select(won, number + 1, next_); }

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
    return turn_.key(asks, rule.place(color));
  }

  /// The lanes of `won` have sent a word of `color`.
  void sent(const ArbiterRule& rule, const Vector& won, const Vector& color) {
    if (rule.in_turn) turn_.had(won, rule.place(color));
  }

 private:
  LaneTurn<Number> turn_;
};

}  // namespace lacuna::wse
