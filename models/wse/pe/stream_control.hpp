// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_waits.hpp"
#include "models/wse/pe/datapath.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/handler_control.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/stream_tallies.hpp"

// What a core that runs a StreamingKernel does in a cycle, for as many cores at once as a Lanes
// has: 16 or 8 in a StreamingRow, one in StreamingCores. Flags are -1 or 0.

namespace lacuna::wse {

template <class Number>
struct StreamState {
  using Vector = Lanes<Number>;

  LaneRegister<Number> task;
  LaneIssue<Number> slot;  // of main thread and microthreads
  Vector open{};           // rows of weights are still to come
  Vector holding{};        // the main thread has a buffer of sums,
  Vector fresh{};          // in which there is nothing yet
  Vector waits{};          // a handler waits for one
  Vector buffers{};        // that are free
  Vector releasing{};      // the microthread is done with one
  Vector vector{};         // beats left of the main thread
  Vector words{};          // left of the microthread's instruction
  Vector pending{};        // rows of sums that are closed and not reduced
  Vector summed{};         // a row was closed whose sums take no time (ReducePlan::idealised)
  Vector extra{};          // stalls among the cycles for which a beat keeps the slot
  Vector adds{};           // the instruction reads sums
  Vector beats_left{};     // of the instruction
  Vector beat{};           // which one is next, from 1 on; 1 again where their cycles repeat
  // The exchange among groups: words left of its instructions, and whether others are to follow.
  Vector sending{}, taking{};
  Vector unsent{}, untaken{};
  LaneTallies<Number> tallies{};  // since they were taken from here
};

/// Who may issue: the main thread, the reduction, and of an exchange what sends and what takes.
inline constexpr std::size_t kStreamContexts = 4;

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
/// and, if kExchanges, for groups of columns that exchange results
///   void begin_packets(state, place, send, take)  lanes begin to send a packet; to take one
///   Vector packet_room(place, need), packet_fed(place, need)
///   void send_packet(place, words, lanes), take_packet(place, words, lanes)  so many words
///   void kept(state, place, lanes)  a reduction is over: there may be a row to send
template <class Number, class Cores, bool kExchanges>
class StreamControl : HandlerControl<Number, StreamState<Number>> {
  using Base = HandlerControl<Number, StreamState<Number>>;

 public:
  using Vector = Lanes<Number>;
  using State = StreamState<Number>;
  using Waits = CoreWaits<Number>;
  using Issued = std::array<Vector, kExchanges ? kStreamContexts : 2>;

  StreamControl(const CoreParams& params, const StreamingKernel& kernel, std::uint32_t tokens)
      : Base(params, !kernel.held.empty() || kernel.stalls != 0 || kernel.most_cycles() != 1),
        kernel_(kernel),
        beats_(all(kernel.beats(tokens))),
        beat_cycles_(cycles_of_beats(tokens)),
        reduce_words_(all(kernel.sum_words(tokens))),
        wide_(kernel.form == StreamForm::wide),
        exchanges_(kernel.exchange.on()) {}

  /// Of lanes that are open, at the begin.
  State begin(const Vector& open) const {
    State s;
    s.open = s.holding = s.fresh = open;
    s.buffers = all(kernel_.lookahead) + open;
    return s;
  }

  /// Buffers, reductions, handlers, wavelets, then one beat of main thread or microthread. What
  /// issued stands in `issued`, in the order of the contexts; the others waited for what is
  /// returned. `ended`: lanes whose reduction, or whose instruction of an exchange, ended.
  Waits step(State& s, Cores& cores, std::size_t place, Cycle now, Issued& issued,
             Vector& ended) const {
    if constexpr (kExchanges) {
      const Vector send = s.unsent & (s.sending == Vector{});
      const Vector take = s.untaken & (s.taking == Vector{});
      if (any(send | take)) cores.begin_packets(s, place, send, take);
    }
    main_thread(s, cores, place, now);
    return issue(s, cores, place, now, issued, ended);
  }

  /// Lanes that have issued all their beats, reduced all rows and exchanged them.
  static Vector done(const State& s) {
    const Vector reduced = ~s.open & (s.pending == Vector{});
    if constexpr (!kExchanges) return reduced;
    return reduced & ~exchanging(s);
  }

  Vector buffers_in_use(const State& s) const { return all(kernel_.lookahead) - s.buffers; }

 private:
  using Base::all, Base::most, Base::active;
  using Base::issue_, Base::slow_;

  /// Cycles of a beat that overwrites, of one that adds, and the stalls of the latter.
  using BeatCycles = std::array<std::uint32_t, 3>;
  /// Of an instruction over so many tokens. The first entry is of its last beat, which may have
  /// fewer elements; the others are of its beats from the first on, until they repeat. Residual
  /// stalls count whole beats.
  std::vector<BeatCycles> cycles_of_beats(std::uint32_t tokens) const {
    const auto beat = [&](std::uint32_t i) {
      const std::uint32_t first = i * kernel_.simd;
      const std::uint32_t count = std::min(kernel_.simd, tokens - first);
      const std::uint32_t stalls = residual_stalls(first + kernel_.simd, kernel_.stalls) -
                                   residual_stalls(first, kernel_.stalls);
      const std::uint32_t adds = kernel_.beats_that_add.cycles(first, count) + stalls;
      return BeatCycles{kernel_.first_beats.cycles(first, count), adds, stalls};
    };
    if (tokens == 0) return {{}};
    const std::uint32_t others = kernel_.beats(tokens) - 1;
    std::vector<BeatCycles> beats = {beat(others)};
    const auto repeats = [&] {
      for (std::uint32_t i = 0; i < others; ++i) {
        if (beat(i) != beats[1 + i % (beats.size() - 1)]) return false;
      }
      return true;
    };
    while (beats.size() <= others && (beats.size() == 1 || !repeats())) {
      beats.push_back(beat(static_cast<std::uint32_t>(beats.size()) - 1));
    }
    return beats;
  }
  /// Lanes whose exchange is not over.
  static Vector exchanging(const State& s) {
    return s.unsent | s.untaken | (s.sending > Vector{}) | (s.taking > Vector{});
  }

  void main_thread(State& s, Cores& cores, std::size_t place, Cycle now) const;
  void begin_instruction(State& s, Cores& cores, std::size_t place, const Vector& start) const;
  Waits issue(State& s, Cores& cores, std::size_t place, Cycle now, Issued& issued,
              Vector& ended) const;
  Vector exchange(State& s, Cores& cores, std::size_t place, const Issued& issued) const;
  void keep_slots(State& s, const Issued& issued, const Vector& others,
                  const Vector& gathers) const;
  Waits causes(const State& s, Cores& cores, std::size_t place, const Vector& idle,
               const Vector& fed) const;

  const StreamingKernel& kernel_;
  const Vector beats_;  // of an instruction
  const std::vector<BeatCycles> beat_cycles_;
  const Vector reduce_words_;
  const bool wide_;
  const bool exchanges_;
};

template <class Number, class Cores, bool kExchanges>
inline void StreamControl<Number, Cores, kExchanges>::main_thread(State& s, Cores& cores,
                                                                  std::size_t place,
                                                                  Cycle now) const {
  const Vector zero{};
  s.buffers -= s.releasing;
  Vector load = (s.words == zero) & (s.pending > zero);
  s.task.begin_cycle();
  const Vector due = this->due(s, [&] { return cores.may_begin(place); });
  Vector effect = due & s.holding;
  if (wide_) effect &= s.task.command | cores.has_word(place);  // once the second word is there
  const Vector opening = s.open & ~s.holding;
  s.waits = due & ~s.holding;
  count<stream_tally("buffer_blocked")>(s, s.waits);
  const Vector start = effect & ~s.task.command;
  const Vector close = effect & s.task.command;
  s.vector = select(start, cores.start(place, start), s.vector);
  begin_instruction(s, cores, place, start);
  s.task.release(effect);
  s.pending -= close;
  if (kernel_.reduce.idealised) load = s.summed = close;
  if (any(load | close)) {
    s.words = select(load, reduce_words_, s.words);
    cores.look_up(s, place, load, close);
  }
  const Vector next = close & s.open & (s.buffers > zero);
  s.holding = (s.holding & ~close) | next;
  s.buffers += next;
  s.fresh |= next;

  this->take_word(s, now, cores.has_word(place),
                  [&](const Vector& lanes) { return cores.take_word(place, lanes); });
  const Vector opened = opening & (s.buffers > zero);
  s.holding |= opened;
  s.fresh |= opened;
  s.buffers += opened;
}

/// What slow beats and weights of two words need to know of an instruction that starts.
template <class Number, class Cores, bool kExchanges>
inline void StreamControl<Number, Cores, kExchanges>::begin_instruction(State& s, Cores& cores,
                                                                        std::size_t place,
                                                                        const Vector& start) const {
  if (slow_) {
    // Elements that are held one by one are always added.
    const Vector overwrites = kernel_.held.empty() ? s.fresh : Vector{};
    s.adds = (s.adds & ~start) | (start & ~overwrites);
    s.fresh &= ~start;
    s.beats_left = select(start, beats_, s.beats_left);
    s.beat = select(start, all(1), s.beat);
  }
  if (wide_) cores.take_value(place, start);
}

template <class Number, class Cores, bool kExchanges>
inline CoreWaits<Number> StreamControl<Number, Cores, kExchanges>::issue(State& s, Cores& cores,
                                                                         std::size_t place,
                                                                         Cycle now, Issued& issued,
                                                                         Vector& ended) const {
  const Vector zero{};
  const Vector need = most(s.words);
  const Vector fed = cores.fed(place, need);
  Issued may{s.vector > zero, (s.words > zero) & fed & cores.room(place, need)};
  if constexpr (kExchanges) {
    may[2] = s.sending > zero;
    may[3] = s.taking > zero;
    if (any(may[2])) may[2] &= cores.packet_room(place, most(s.sending));
    if (any(may[3])) may[3] &= cores.packet_fed(place, most(s.taking));
  }
  issued = this->choose(s, now, may);
  const Vector& main = issued[0];
  const Vector& reduce = issued[1];
  Vector others = reduce;
  if constexpr (kExchanges) others |= issued[2] | issued[3];
  const Vector kept = this->kept(s);
  Waits waits = causes(s, cores, place, ~main & ~(others & ~kept), fed);
  if (issue_.two) waits.beside = others & (main | kept);
  if (slow_) keep_slots(s, issued, others, cores.gathers(place));
  s.vector += main;
  const Vector taken = need & reduce;
  s.words -= taken;
  cores.take_sums(place, taken, reduce);
  ended = (reduce & (s.words == zero)) | s.summed;
  const Vector over = ended;
  ended = cores.finish(place, over);
  s.words |= over & ~ended & reduce_words_;
  s.pending += ended;
  s.releasing = ended;
  if constexpr (kExchanges) {
    if (exchanges_) {
      if (any(ended)) cores.kept(s, place, ended);
      ended |= exchange(s, cores, place, issued);
    }
  }
  return waits;
}

/// What the exchange issued; returns the lanes where an instruction of it is over.
template <class Number, class Cores, bool kExchanges>
inline Lanes<Number> StreamControl<Number, Cores, kExchanges>::exchange(
    State& s, Cores& cores, std::size_t place, const Issued& issued) const {
  const Vector zero{};
  Vector over{};
  if (any(issued[2])) {
    const Vector words = most(s.sending) & issued[2];
    s.sending -= words;
    cores.send_packet(place, words, issued[2]);
    over |= issued[2] & (s.sending == zero);
  }
  if (any(issued[3])) {
    const Vector words = most(s.taking) & issued[3];
    s.taking -= words;
    cores.take_packet(place, words, issued[3]);
    over |= issued[3] & (s.taking == zero);
  }
  return over;
}

/// For how many cycles after this one the slots are taken, by what issues in it.
template <class Number, class Cores, bool kExchanges>
inline void StreamControl<Number, Cores, kExchanges>::keep_slots(State& s, const Issued& issued,
                                                                 const Vector& others,
                                                                 const Vector& gathers) const {
  const Vector& main = issued[0];
  const Vector is_last = main & (s.beats_left == all(1));
  std::array<Vector, 3> beat{};
  for (std::size_t kind = 0; kind < beat.size(); ++kind) {
    beat[kind] = all(beat_cycles_[0][kind]);
    for (std::size_t i = 1; i < beat_cycles_.size(); ++i) {
      beat[kind] = select(~is_last & (s.beat == all(i)), all(beat_cycles_[i][kind]), beat[kind]);
    }
  }
  const Vector beats = select(s.adds, beat[1], beat[0]);
  const Vector stalls = main & s.adds & beat[2];
  s.adds |= is_last;  // the next instruction of a packed word
  s.beats_left = select(is_last, beats_, s.beats_left + main);
  s.beat -= main;
  const Vector again = is_last | (s.beat == all(beat_cycles_.size()));
  s.beat = select(again, all(1), s.beat);
  Vector cycles = select(gathers, all(kernel_.gather_cycles), all(kernel_.reduce_cycles));
  if constexpr (kExchanges) {
    cycles = select(issued[2], all(kernel_.exchange.send_cycles), cycles);
    cycles = select(issued[3], all(kernel_.exchange.take_cycles), cycles);
  }
  s.extra = select(issue_.two ? main : main | others, stalls, s.extra);
  s.slot.keep(issue_, main, beats, others, cycles);
}

/// Why the lanes without a beat had none: what keeps the main thread, or if that has finished the
/// microthread.
template <class Number, class Cores, bool kExchanges>
inline CoreWaits<Number> StreamControl<Number, Cores, kExchanges>::causes(
    const State& s, Cores& cores, std::size_t place, const Vector& idle, const Vector& fed) const {
  const Vector zero{};
  Waits why;
  Vector no_beat = idle;
  if (slow_) {
    const Vector first = idle & s.slot.kept(0);
    const Vector taken = first | (idle & s.slot.kept(1));
    const Vector stays = taken & ~done(s);
    why.residual = stays & first & (s.slot.left(0) <= s.extra);
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
  if constexpr (kExchanges) {
    const Vector last = rest & ~loading & ~reducing;  // the exchange alone is left
    const Vector takes = s.untaken | (s.taking > zero);
    why.ring_in |= last & takes;
    why.ring_out |= last & ~takes & exchanging(s);
  }
  return why;
}

}  // namespace lacuna::wse
