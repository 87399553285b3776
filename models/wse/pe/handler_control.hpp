// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// What StreamControl and GradientControl have in common: the main thread handles the words of a
/// stream, one after the other, each with an instruction over the tokens of a core. A State has the
/// `task` register, the `slot`, and the beats left of the main thread, `vector`.
template <class Number, class State>
class HandlerControl {
 protected:
  using Vector = Lanes<Number>;

  /// `slow`: some beats take several cycles.
  HandlerControl(const CoreParams& params, bool slow)
      : dispatch_(params),
        issue_(params),
        words_per_beat_(all(params.fabric_words_per_issue.value())),
        slow_(slow) {}

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  /// Of so many words those of one beat.
  Vector most(const Vector& left) const {
    return LaneArbiter<Number>::least(left, words_per_beat_);
  }

  /// Whether an instruction of the main thread has beats left or holds the slot.
  Vector active(const State& s) const {
    const Vector left = s.vector > 0;
    return slow_ ? left | s.slot.kept_by_main() : left;
  }
  /// Lanes whose handler may take effect, if `may_begin()` says so.
  template <class MayBegin>
  Vector due(const State& s, const MayBegin& may_begin) const {
    Vector due = s.task.due() & ~active(s);
    if constexpr (Dispatch::heeds_output()) due &= may_begin();
    return due;
  }
  /// Of lanes that have a word of the stream, those that take it into the task register; `take` has
  /// them take it, and returns those whose word is a command.
  template <class Take>
  Vector take_word(State& s, Cycle now, const Vector& has, const Take& take) const {
    Vector lanes = ~s.task.full & has;
    if (!dispatch_.overlaps()) lanes &= ~active(s);
    if (now < dispatch_.begin()) lanes = Vector{};
    s.task.take(dispatch_, lanes, take(lanes));
    return lanes;
  }

  /// Of the contexts that `may` issue in `now` those that do.
  template <std::size_t kContexts>
  std::array<Vector, kContexts> choose(State& s, Cycle now,
                                       std::array<Vector, kContexts>& may) const {
    if (slow_) s.slot.close(issue_, may);
    if (IssueRule::opens(now) != now) may = {};
    return s.slot.choose(issue_, may);
  }
  Vector kept(const State& s) const { return slow_ ? s.slot.kept(0) : Vector{}; }

  const Dispatch dispatch_;
  const IssueRule issue_;
  const Vector words_per_beat_;
  const bool slow_;
};

}  // namespace lacuna::wse
