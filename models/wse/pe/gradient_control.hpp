// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_waits.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/handler_control.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/program.hpp"

// What a core that runs a GradientKernel does in a cycle, for as many cores at once as a Lanes has:
// 16 or 8 in a DotProductRow, one in GradientCores. Flags are -1 or 0.

namespace lacuna::wse {

/// By column, the next one on its ring.
inline std::vector<std::uint32_t> next_on_rings(const StreamingKernel& kernel) {
  const std::vector<std::uint32_t>& ring = kernel.ring;
  const std::size_t around = ring.size() / kernel.groups.count;  // of a group
  std::vector<std::uint32_t> next(ring.size());
  for (std::size_t p = 0; p < ring.size(); ++p) {
    next[ring[p]] = ring[(p + 1) % around == 0 ? p + 1 - around : p + 1];
  }
  return next;
}

/// Rows of dY are counted from one that still needs its vector on: those taken, closed and sent.
template <class Number>
struct GradientState {
  using Vector = Lanes<Number>;

  LaneRegister<Number> task;
  LaneIssue<Number> slot;      // of the main thread, chain, take and send
  Vector open{};               // indices are still to come
  Vector started{};            // sends and takes dY
  Vector free{}, releasing{};  // vectors of dY, for rows of other columns
  Vector taking{};             // dY of a row is on its way into one
  Vector words_taken{}, words_sent{};
  Vector taken{}, closed{}, sent{};
  Vector own_take{}, take_more{};  // the row to be taken next is this column's; there is one
  Vector own_sent{}, sends{}, send_more{};  // likewise; it goes on from here
  Vector vector{};                          // beats left of the main thread
  Vector results{};                         // dot products that wait for the chain
  Vector streamed{};                        // stream and ring are done
  Vector done{};
};

/// The rows of dY that a lane takes, sends, closes and is done with next.
struct GradientTurns {
  std::uint32_t take = 0, sent = 0, close = 0, released = 0;

  /// What the rows ask of lane `i`, a column; `after` is the next column on its ring.
  template <class Number>
  void look_up(GradientState<Number>& s, std::size_t i, const StreamingKernel& kernel,
               std::uint32_t column, std::uint32_t after) const {
    const auto flag = [](bool set) { return static_cast<Number>(set ? -1 : 0); };
    const bool takes = take != kernel.steps;
    const bool sends = sent != kernel.steps;
    s.open[i] = flag(close != kernel.steps);
    s.take_more[i] = flag(takes);
    s.own_take[i] = flag(takes && kernel.keeper(take, column) == column);
    s.send_more[i] = flag(sends);
    s.own_sent[i] = flag(sends && kernel.keeper(sent, column) == column);
    // not from the last column on its way
    s.sends[i] = flag(sends && kernel.keeper(sent, column) != after);
  }

  /// The lane has taken a row, sent one, closed one. The vectors of those that are closed and sent
  /// on become free in the next cycle.
  template <class Number>
  void advance(GradientState<Number>& s, std::size_t i, bool took, bool sent_on, bool closed,
               const StreamingKernel& kernel, std::uint32_t column, std::uint32_t after) {
    take += took ? 1 : 0;
    sent += sent_on ? 1 : 0;
    close += closed ? 1 : 0;
    look_up(s, i, kernel, column, after);
    for (; s.closed[i] > 0 && s.sent[i] > 0; ++released) {
      if (kernel.keeper(released, column) != column) ++s.releasing[i];
      --s.closed[i];
      --s.sent[i];
      --s.taken[i];
    }
  }
};

/// The control itself: the main thread forms a dot product for each index that arrives; of the
/// microthreads one adds the dot products to the chain down the column, one takes dY from the ring
/// and one sends it on. If dot products are kept, the chain waits until the core is done with its
/// stream and its ring, and the ring's output queue is empty. `Cores` has what is around it;
/// `place` says of which Lanes. It has
///   Vector has_word(place)          lanes with a word of the stream to take
///   Vector take_word(place, lanes)  they take it; returns those whose word is a command
///   void start(place, lanes)        an index takes effect
///   void advance(state, place, take, sent, close)  lanes look up what comes next
///   Vector has_ring(place, need), ring_room(place, need)   words of dY, and room for them
///   Vector has_chain(place), chain_room(place)
///   Vector ring_left(place)         lanes whose words of dY have all left the output queue
///   void streamed(place, lanes)     from now on the chain may issue in them
///   void move(place, take, take_words, send, send_words, chain)   what the beats move
///   void progress(place, lanes)     something ended; void ended(place, lanes)   all did
template <class Number, class Cores>
class GradientControl : HandlerControl<Number, GradientState<Number>> {
  using Base = HandlerControl<Number, GradientState<Number>>;

 public:
  using Vector = Lanes<Number>;
  using State = GradientState<Number>;
  using Waits = CoreWaits<Number>;
  using Beats = std::array<Vector, 4>;

  static constexpr unsigned kMain = 0;
  static constexpr unsigned kChain = 1;
  static constexpr unsigned kTake = 2;
  static constexpr unsigned kSend = 3;

  /// If the chain is left out, dot products wait for ever, and count as one that is always there.
  GradientControl(const CoreParams& params, const StreamingKernel& stream,
                  const GradientKernel& kernel, std::uint32_t tokens, bool chains)
      : Base(params, kernel.dot_cycles != 1 || kernel.move_cycles != 1),
        vector_beats_(all(stream.beats(tokens))),
        words_(all(stream.packed_words(tokens))),
        results_most_(all(chains ? kernel.results : std::uint64_t{kMost})),
        lookahead_(all(stream.lookahead)),
        dot_(all(kernel.dot_cycles)),
        move_(all(kernel.move_cycles)),
        kept_(kernel.kept),
        chains_(chains) {}

  /// Of lanes that are open, at the begin, before advance() has looked up their first rows.
  State begin(const Vector& open, bool begins_with_stream) const {
    State s;
    s.open = open;
    s.started = begins_with_stream ? Vector{} : open;
    s.free = open & lookahead_;
    s.done = s.streamed = ~open;
    return s;
  }

  /// Vectors, rows of dY, handlers, indices, then one beat. What issued stands in `issued`, in the
  /// order of the contexts; the others waited for what is returned.
  Waits step(State& s, Cores& cores, std::size_t place, Cycle now, Beats& issued) const {
    s.free += s.releasing;
    s.releasing = Vector{};
    const Vector loaded = load(s, cores, place);
    finish(s, cores, place, loaded | main_thread(s, cores, place, now));
    if (kept_) note_streamed(s, cores, place);
    const Vector take_words = most(words_ - s.words_taken);
    const Vector send_words = most(words_ - s.words_sent);
    issued = choose_beats(s, cores, place, now, take_words, send_words);
    const Vector others = issued[kChain] | issued[kTake] | issued[kSend];
    const Vector kept = this->kept(s);
    Waits waits = causes(s, cores, place, ~issued[kMain] & ~(others & ~kept));
    if (issue_.two) waits.beside = others & (issued[kMain] | kept);
    finish(s, cores, place, issue(s, cores, place, issued, take_words, send_words));
    return waits;
  }

  Vector buffers_in_use(const State& s) const { return lookahead_ - s.free; }

 private:
  static constexpr Number kMost = std::numeric_limits<Number>::max();

  using Base::all, Base::most;
  using Base::issue_, Base::slow_;

  Vector load(State& s, Cores& cores, std::size_t place) const;
  Vector main_thread(State& s, Cores& cores, std::size_t place, Cycle now) const;
  void note_streamed(State& s, Cores& cores, std::size_t place) const;
  Beats choose_beats(State& s, Cores& cores, std::size_t place, Cycle now, const Vector& take_words,
                     const Vector& send_words) const;
  Vector issue(State& s, Cores& cores, std::size_t place, const Beats& beats,
               const Vector& take_words, const Vector& send_words) const;
  Waits causes(const State& s, Cores& cores, std::size_t place, const Vector& no_beat) const;
  void finish(State& s, Cores& cores, std::size_t place, const Vector& progress) const;

  const Vector vector_beats_;  // of an instruction
  const Vector words_;
  const Vector results_most_;
  const Vector lookahead_, dot_, move_;
  const bool kept_;
  const bool chains_;
};

/// Passes over rows that are not to be taken or sent here, or begins to take the next.
template <class Number, class Cores>
inline Lanes<Number> GradientControl<Number, Cores>::load(State& s, Cores& cores,
                                                          std::size_t place) const {
  const Vector idle = s.started & s.take_more & ~s.taking;
  const Vector pass = idle & s.own_take;
  const Vector begin = idle & ~s.own_take & (s.free > 0);
  s.free += begin;
  s.taking |= begin;
  s.taken -= pass;
  const Vector skip = s.started & s.send_more & ~s.sends & (s.taken > s.sent);
  s.sent -= skip;
  if (any(pass | skip)) cores.advance(s, place, pass, skip, Vector{});
  return pass | begin | skip;
}

template <class Number, class Cores>
inline Lanes<Number> GradientControl<Number, Cores>::main_thread(State& s, Cores& cores,
                                                                 std::size_t place,
                                                                 Cycle now) const {
  const Vector zero{};
  s.task.begin_cycle();
  const Vector may = (s.taken > s.closed) & (s.task.command | (s.results < results_most_));
  const Vector effect = this->due(s, [&] { return cores.may_begin(place); }) & may;
  const Vector close = effect & s.task.command;
  const Vector start = effect & ~close;
  s.vector = select(start, vector_beats_, s.vector);
  cores.start(place, start);
  s.task.release(effect);
  s.closed -= close;
  if (any(close)) cores.advance(s, place, zero, zero, close);
  s.started |= this->take_word(s, now, cores.has_word(place),
                               [&](const Vector& lanes) { return cores.take_word(place, lanes); });
  return close;
}

/// Lanes whose stream and ring are done, dY out of the output queue and its last beat included.
template <class Number, class Cores>
inline void GradientControl<Number, Cores>::note_streamed(State& s, Cores& cores,
                                                          std::size_t place) const {
  const Vector ready = ~s.streamed & ~s.open & ~s.take_more & ~s.send_more &
                       cores.ring_left(place) & ~s.slot.kept(issue_.slot_of(kChain));
  if (!any(ready)) return;
  s.streamed |= ready;
  cores.streamed(place, ready);
}

/// Which context issues: the main thread, then chain, take and send.
template <class Number, class Cores>
inline typename GradientControl<Number, Cores>::Beats GradientControl<Number, Cores>::choose_beats(
    State& s, Cores& cores, std::size_t place, Cycle now, const Vector& take_words,
    const Vector& send_words) const {
  const Vector here = select(s.own_sent | (s.taken > s.sent), words_, s.taking & s.words_taken);
  Beats may;
  may[kMain] = s.vector > 0;
  may[kChain] = (s.results > 0) & cores.chain_room(place) & cores.has_chain(place);
  if (kept_) may[kChain] &= s.streamed;
  if (!chains_) may[kChain] = Vector{};
  may[kTake] = s.taking & cores.has_ring(place, take_words);
  may[kSend] = s.started & s.send_more & s.sends & (s.words_sent + send_words <= here) &
               cores.ring_room(place, send_words);
  return Base::choose(s, now, may);
}

/// Performs the beats; returns where something ended.
template <class Number, class Cores>
inline Lanes<Number> GradientControl<Number, Cores>::issue(State& s, Cores& cores,
                                                           std::size_t place, const Beats& beats,
                                                           const Vector& take_words,
                                                           const Vector& send_words) const {
  const Vector zero{};
  const auto& [main, chain, take, send] = beats;
  cores.move(place, take, take & take_words, send, send & send_words, chain);
  s.vector += main;
  if (chains_) s.results -= main & (s.vector == zero);
  s.words_taken += take & take_words;
  const Vector took = take & (s.words_taken == words_);
  s.words_taken &= ~took;
  s.taking &= ~took;
  s.taken -= took;
  s.words_sent += send & send_words;
  const Vector sent = send & (s.words_sent == words_);
  s.words_sent &= ~sent;
  s.sent -= sent;
  s.results += chain;
  if (any(took | sent)) cores.advance(s, place, took, sent, zero);
  if (slow_) {
    s.slot.keep(issue_, main, dot_, take | send | chain, select(chain, all(1), move_));
  }
  return took | sent | chain;
}

/// Why the lanes without a beat had none.
template <class Number, class Cores>
inline CoreWaits<Number> GradientControl<Number, Cores>::causes(const State& s, Cores& cores,
                                                                std::size_t place,
                                                                const Vector& no_beat) const {
  const Vector zero{};
  Waits why;
  Vector idle = no_beat;
  if (slow_) {
    why.conflict = no_beat & (s.slot.kept(0) | s.slot.kept(1));
    idle &= ~why.conflict;
  }
  const Vector full = idle & s.task.full;
  const Vector early = s.task.left > zero;
  const Vector unfed = ~early & ~(s.taken > s.closed);
  const Vector may = s.task.command | (s.results < results_most_);
  const Vector due = full & ~early & ~unfed;
  why.dispatch = (full & early) | (due & may);
  why.buffer = due & ~may;
  why.weights = idle & ~s.task.full & s.open;
  Vector rest = idle & ~s.task.full & ~s.open & ~s.done;
  Vector holds = s.results > zero;
  if (kept_) holds &= s.streamed;
  if (!chains_) rest &= ~s.streamed;
  const Vector in = select(holds, cores.chain_room(place), s.take_more);
  why.ring_in = (full & unfed) | (rest & in);
  why.ring_out = rest & ~in;
  return why;
}

/// Lanes that did something may have done all.
template <class Number, class Cores>
inline void GradientControl<Number, Cores>::finish(State& s, Cores& cores, std::size_t place,
                                                   const Vector& progress) const {
  cores.progress(place, progress);
  const Vector done =
      progress & ~s.open & ~s.take_more & ~s.send_more & (s.results == Vector{}) & ~s.done;
  if (!any(done)) return;
  s.done |= done;
  cores.ended(place, done);
}

}  // namespace lacuna::wse
