// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/datapath.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/program.hpp"

// What a core that runs a StreamingKernel does in a cycle, for as many cores at once as a Lanes
// has: 16 or 8 in a StreamingRow, one in StreamingCores. Flags are -1 or 0.

namespace lacuna::wse {

template <class Number>
struct StreamState {
  using Vector = Lanes<Number>;

  LaneRegister<Number> task;
  LaneIssue<Number, 2> slot;  // of main thread and microthread
  Vector open{};              // rows of weights are still to come
  Vector holding{};           // the main thread has a buffer of sums,
  Vector fresh{};             // in which there is nothing yet
  Vector waits{};             // a handler waits for one
  Vector buffers{};           // that are free
  Vector releasing{};         // the microthread is done with one
  Vector vector{};            // beats left of the main thread
  Vector words{};             // left of the microthread's instruction
  Vector pending{};           // rows of sums that are closed and not reduced
  Vector hold{};              // cycles for which the beat keeps the slot,
  Vector main_holds{};        // it is one of the main thread,
  Vector extra{};             // and stalls among them
  Vector adds{};              // the instruction reads sums
  Vector beats_left{};        // of the instruction
  Vector element{};           // the next one of it, modulo 16
};

/// Why lanes issued nothing. A lane that is not in any of these has done all.
template <class Number>
struct StreamWaits {
  using Vector = Lanes<Number>;

  Vector dispatch{}, weights{}, ring_in{}, ring_out{}, buffer{}, conflict{}, residual{};
};

/// The control itself. `Cores` has what is around it: queues, sums on their way and what happens
/// to numbers. `place` says of which Lanes. It has
///   Vector has_word(place)          lanes with a word of the stream to take
///   Vector take_word(place, lanes)  they take it; returns those whose word is a command
///   void take_value(place, lanes)   they take the second word of a weight
///   Vector start(place, lanes)      a weight takes effect: the beats of its instructions
///   void look_up(state, place, load, close)  lanes begin a reduction; lanes close a row of sums
///   Vector fed(place, need), room(place, need), gathers(place)  of the reduction's instruction
///   void take_sums(place, words, lanes)   they take in and send on so many words
///   Vector finish(place, lanes)     the instruction is over: lanes whose reduction is
template <class Number, class Cores>
class StreamControl {
 public:
  using Vector = Lanes<Number>;
  using State = StreamState<Number>;
  using Waits = StreamWaits<Number>;

  StreamControl(const CoreParams& params, const StreamingKernel& kernel, std::uint32_t tokens)
      : kernel_(kernel),
        dispatch_(params),
        issue_(params),
        vector_beats_(all((tokens + kernel.simd - 1) / kernel.simd)),
        reduce_words_(all((tokens + kernel.ring_elements - 1) / kernel.ring_elements)),
        words_per_beat_(all(params.fabric_words_per_issue.value())),
        packed_(kernel.form == StreamForm::packed),
        wide_(kernel.form == StreamForm::wide),
        // some beats take several cycles
        slow_(!kernel.held.empty() ||
              std::max({kernel.first_cycles, kernel.beat_cycles, kernel.reduce_cycles,
                        kernel.gather_cycles, kernel.stalls + 1}) != 1) {}

  /// Of lanes that are open, at the begin.
  State begin(const Vector& open) const {
    State s;
    s.open = s.holding = s.fresh = open;
    s.buffers = all(kernel_.lookahead) + open;
    return s;
  }

  /// Buffers, reductions, handlers, wavelets, then one beat of main thread or microthread. What
  /// issued stands in `issued`, in the order of the contexts; the others waited for what is
  /// returned. `ended`: lanes whose reduction ended.
  Waits step(State& s, Cores& cores, std::size_t place, Cycle now, std::array<Vector, 2>& issued,
             Vector& ended) const {
    main_thread(s, cores, place, now);
    return issue(s, cores, place, issued, ended);
  }

  /// Lanes that have issued all their beats and reduced all rows.
  static Vector done(const State& s) { return ~s.open & (s.pending == Vector{}); }

  Vector buffers_in_use(const State& s) const { return all(kernel_.lookahead) - s.buffers; }

 private:
  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }

  /// Whether an instruction of the main thread has beats left or holds the slot.
  Vector active(const State& s) const {
    const Vector left = s.vector > 0;
    return slow_ ? left | (s.main_holds & (s.hold > 0)) : left;
  }

  void main_thread(State& s, Cores& cores, std::size_t place, Cycle now) const;
  void begin_instruction(State& s, Cores& cores, std::size_t place, const Vector& start) const;
  Waits issue(State& s, Cores& cores, std::size_t place, std::array<Vector, 2>& issued,
              Vector& ended) const;
  Vector hold_slot(State& s, const Vector& main, const Vector& reduce, const Vector& gathers) const;
  Waits causes(const State& s, Cores& cores, std::size_t place, const Vector& idle,
               const Vector& fed) const;

  const StreamingKernel& kernel_;
  const Dispatch dispatch_;
  const IssueRule issue_;
  const Vector vector_beats_;  // of an instruction
  const Vector reduce_words_;
  const Vector words_per_beat_;
  const bool packed_;
  const bool wide_;
  const bool slow_;
};

template <class Number, class Cores>
inline void StreamControl<Number, Cores>::main_thread(State& s, Cores& cores, std::size_t place,
                                                      Cycle now) const {
  const Vector zero{};
  s.buffers -= s.releasing;
  const Vector load = (s.words == zero) & (s.pending > zero);
  s.task.begin_cycle();
  const Vector due = s.task.due() & ~active(s);
  Vector effect = due & s.holding;
  if (wide_) effect &= s.task.command | cores.has_word(place);  // once the second word is there
  const Vector opening = s.open & ~s.holding;
  s.waits = due & ~s.holding;
  const Vector start = effect & ~s.task.command;
  const Vector close = effect & s.task.command;
  s.vector = select(start, cores.start(place, start), s.vector);
  begin_instruction(s, cores, place, start);
  s.task.release(effect);
  s.pending -= close;
  if (any(load | close)) {
    s.words = select(load, reduce_words_, s.words);
    cores.look_up(s, place, load, close);
  }
  const Vector next = close & s.open & (s.buffers > zero);
  s.holding = (s.holding & ~close) | next;
  s.buffers += next;
  s.fresh |= next;

  Vector take = ~s.task.full & cores.has_word(place);
  if (!dispatch_.overlaps()) take &= ~active(s);
  if (now < dispatch_.begin()) take = zero;
  s.task.take(dispatch_, take, cores.take_word(place, take));
  const Vector opened = opening & (s.buffers > zero);
  s.holding |= opened;
  s.fresh |= opened;
  s.buffers += opened;
}

/// What slow beats and weights of two words need to know of an instruction that starts.
template <class Number, class Cores>
inline void StreamControl<Number, Cores>::begin_instruction(State& s, Cores& cores,
                                                            std::size_t place,
                                                            const Vector& start) const {
  if (slow_) {
    // Elements that are held one by one are always added.
    const Vector overwrites = kernel_.held.empty() ? s.fresh : Vector{};
    s.adds = (s.adds & ~start) | (start & ~overwrites);
    s.fresh &= ~start;
    s.beats_left = select(start, packed_ ? vector_beats_ : s.vector, s.beats_left);
    s.element &= ~start;
  }
  if (wide_) cores.take_value(place, start);
}

template <class Number, class Cores>
inline StreamWaits<Number> StreamControl<Number, Cores>::issue(State& s, Cores& cores,
                                                               std::size_t place,
                                                               std::array<Vector, 2>& issued,
                                                               Vector& ended) const {
  const Vector zero{};
  const Vector need = select(s.words < words_per_beat_, s.words, words_per_beat_);
  const Vector fed = cores.fed(place, need);
  Vector reduce_may = (s.words > zero) & fed & cores.room(place, need);
  Vector main_may = s.vector > zero;
  if (slow_) {
    reduce_may &= s.hold == zero;
    main_may &= s.hold == zero;
  }
  issued = s.slot.choose(issue_, {main_may, reduce_may});
  const auto [main, reduce] = issued;
  const Waits waits = causes(s, cores, place, ~(main | reduce), fed);
  if (slow_) s.hold = hold_slot(s, main, reduce, cores.gathers(place));
  s.vector += main;
  const Vector taken = need & reduce;
  s.words -= taken;
  cores.take_sums(place, taken, reduce);
  ended = reduce & (s.words == zero);
  if constexpr (!Cores::kOneInstruction) {
    const Vector over = ended;
    ended = cores.finish(place, over);
    s.words |= over & ~ended & reduce_words_;
  }
  s.pending += ended;
  s.releasing = ended;
  return waits;
}

/// For how many cycles after this one the slot is taken, if `main` or `reduce` issue in it.
template <class Number, class Cores>
inline Lanes<Number> StreamControl<Number, Cores>::hold_slot(State& s, const Vector& main,
                                                             const Vector& reduce,
                                                             const Vector& gathers) const {
  const Vector zero{};
  const Vector adding = main & s.adds;
  const Vector rest_of_beat = all(kernel_.simd % 16);
  Vector extra = adding & all(std::uint64_t{kernel_.stalls} * (kernel_.simd / 16));
  for (std::uint32_t i = 1; i <= kernel_.stalls; ++i) {
    const Vector at = all(residual_place(i, kernel_.stalls));
    const Vector end = s.element + rest_of_beat;
    extra -= adding & (((s.element < at) & (at <= end)) | (at + 16 <= end));
  }
  if (kernel_.stalls != 0) {
    s.element = (s.element + (adding & rest_of_beat)) & all(15);
  }
  const Vector beat = select(s.adds, all(kernel_.beat_cycles), all(kernel_.first_cycles));
  const Vector sums = select(gathers, all(kernel_.gather_cycles), all(kernel_.reduce_cycles));
  const Vector cycles = select(main, beat + extra, sums);
  s.beats_left += main;
  const Vector over = main & (s.beats_left == zero);  // the next instruction of a packed word
  s.adds |= over;
  s.element &= ~over;
  s.beats_left |= over & vector_beats_;
  const Vector issued = main | reduce;
  s.main_holds = (s.main_holds & ~issued) | main;
  s.extra = select(issued, extra, s.extra);
  return select(issued, cycles - 1, s.hold + (s.hold > zero));
}

/// Why the lanes without a beat had none: what keeps the main thread, or if that has finished the
/// microthread.
template <class Number, class Cores>
inline StreamWaits<Number> StreamControl<Number, Cores>::causes(const State& s, Cores& cores,
                                                                std::size_t place,
                                                                const Vector& idle,
                                                                const Vector& fed) const {
  const Vector zero{};
  Waits why;
  Vector no_beat = idle;
  if (slow_) {
    const Vector taken = idle & (s.hold > zero);
    const Vector stays = taken & (s.open | (s.pending > zero));  // not all is done
    why.residual = stays & (s.hold <= s.extra);
    why.conflict = stays & ~why.residual;
    no_beat &= ~taken;
  }
  const Vector loading = (s.words == zero) & (s.pending > zero);
  const Vector rest = no_beat & ~s.task.full & ~s.open;
  const Vector reducing = rest & (s.words > zero);
  Vector full = no_beat & s.task.full & ~s.waits;
  why.weights = no_beat & ~s.task.full & s.open;
  if (wide_) {
    const Vector half = full & s.task.due() & ~s.task.command & ~cores.has_word(place);
    full &= ~half;
    why.weights |= half;
  }
  why.dispatch = full | (rest & loading);
  why.buffer = no_beat & s.task.full & s.waits;
  why.ring_in = reducing & ~fed;
  why.ring_out = reducing & fed;
  return why;
}

}  // namespace lacuna::wse
