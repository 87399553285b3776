// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/engine/exchange_lanes.hpp"
#include "models/wse/engine/lane_streams.hpp"
#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/stream_turns.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"

namespace lacuna::wse {

/// What the cores of a row send each other, partial sums on their routes (ReducePlan) or dY around
/// a ring: the cores' queues for it and the routers' buffers, as lanes in the order of columns, for
/// each stream; of groups that exchange results the buses too.
template <class Number, bool kBuses>
class RoutedReduction {
 public:
  using Vector = Lanes<Number>;
  static constexpr bool kExchanges = kBuses;

  RoutedReduction(const HardwareParams& params, const SumStreams& shared);

  /// The words that arrive in this cycle, and who gets the port to the core: weights, where
  /// `weight_may` is set, or a partial sum. Returns the lanes whose weight gets it.
  Vector ramp(std::size_t i, const Vector& weight_may);

  /// A lane begins with the reduction of a row that `keeper`, a column, keeps: one instruction for
  /// each input.
  void load(std::size_t lane, std::uint32_t keeper);

  /// From now on lanes take all that comes to their core, and send where its words go.
  void take_all();

  /// Lanes that have their next `need` words, or need none, and that have room for them.
  Vector fed(std::size_t i, const Vector& need) const;
  Vector room(std::size_t i, const Vector& need) const;

  /// Lanes whose instruction writes sums back.
  Vector gathers(std::size_t i) const { return blocks_[i].more; }

  /// Lanes take in so many words, and send so many on.
  void take(std::size_t i, const Vector& in, const Vector& out);
  /// Lanes that have sent all that was put into their queue, with the word that goes in this cycle.
  Vector all_sent(std::size_t i) const;
  void end_cycle();
  void flush();
  /// Adds to the routers of a row, by column, what was counted of their buffers.
  void add_counts(const Program& program, RouterCounters* routers);

  /// Lanes have ended an instruction; returns those whose reduction has ended. The others go on.
  Vector finish(std::size_t i, const Vector& ended);

  /// The buses of an exchange.
  ExchangeLanes<Number>& buses() { return buses_; }
  const ExchangeLanes<Number>& buses() const { return buses_; }
  /// Whether the reduction of a lane that is under way, or was last, ends there.
  bool keeps(std::size_t lane) const { return turns_[lane].keeps; }

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    Vector need_in, need_out, more;  // of the instruction; more: others follow
    LanePort<Number> ramp;
    LaneArbiter<Number> queues;  // on the ramp up
  };
  /// One stream.
  struct Part : LaneStream<Number> {
    LaneQueue<Number> sums;  // the core's input queue
    LaneOutput<Number> queue;
    Vector pushed;          // into it in this cycle
    Vector source, target;  // whether the instruction takes and sends here
    Vector number;

    void place(std::size_t lane, const SumStreams::Lane& what) {
      LaneStream<Number>::place(lane, what);
      number[lane] = static_cast<Number>(what.queue);
    }
  };
  struct Counted {
    BufferCounts<std::uint64_t> in, up;
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  void begin_instruction(std::size_t lane);
  void send_output(std::size_t i);
  void arrive(std::size_t i);

  const SumStreams* shared_;
  std::size_t columns_;
  ArbiterRule rule_;
  LaneShapes<Number> shapes_;
  LaneStreams<Number, Part> streams_;
  std::vector<Block> blocks_;
  /// By block, the streams in which there is something; nothing can happen in the others. The
  /// first and the last are not there.
  std::vector<std::uint32_t> busy_;
  std::vector<SumTurns> turns_;   // by lane
  std::vector<Counted> counted_;  // by stream and lane
  ExchangeLanes<Number> buses_;
};

template <class Number, bool kBuses>
inline Lanes<Number> RoutedReduction<Number, kBuses>::ramp(std::size_t i,
                                                           const Vector& weight_may) {
  Block& b = blocks_[i];
  Part* const parts = streams_.of(i);
  const std::uint32_t busy = busy_[i + 1];
  const Vector weights = all(static_cast<std::uint64_t>(shared_->weights));
  const Vector weight_key = b.ramp.key(rule_, weight_may, weights);
  LaneContest<Number> port;
  port.ask(weight_key);
  for_each_bit(busy, [&](unsigned s) {
    Part& p = parts[s];
    begin_cycles(p.in, p.sums);
    const Vector may = p.in.has() & p.to_core & p.sums.room(shapes_.sums);
    p.key_in = b.ramp.key(rule_, may, p.in_color);
    port.ask(p.key_in);
  });
  if constexpr (kBuses) buses_.ask_ramp(i, b.ramp, port);
  const Vector weight = port.won(weight_key);
  b.ramp.sent(rule_, weight, weights);
  if constexpr (kBuses) buses_.take_ramp(i, b.ramp, port);
  for_each_bit(busy, [&](unsigned s) {
    Part& p = parts[s];
    p.taken = port.won(p.key_in);
    p.sums.push(p.taken, shapes_.sums);
    b.ramp.sent(rule_, p.taken, p.in_color);
  });
  return weight;
}

template <class Number, bool kBuses>
inline Lanes<Number> RoutedReduction<Number, kBuses>::fed(std::size_t i, const Vector& need) const {
  const Part* const parts = streams_.of(i);
  Vector fed = ~blocks_[i].need_in;
  for_each_bit(busy_[i + 1], [&](unsigned s) { fed |= parts[s].source & parts[s].sums.has(need); });
  return fed;
}

template <class Number, bool kBuses>
inline Lanes<Number> RoutedReduction<Number, kBuses>::room(std::size_t i,
                                                           const Vector& need) const {
  const Part* const parts = streams_.of(i);
  Vector room = ~blocks_[i].need_out;
  for (std::size_t s = 0; s < streams_.count(); ++s) {
    room |= parts[s].target & parts[s].queue.room(shapes_.out_depth, need);
  }
  return room;
}

template <class Number, bool kBuses>
inline void RoutedReduction<Number, kBuses>::take(std::size_t i, const Vector& in,
                                                  const Vector& out) {
  if (!any(in | out)) return;
  Part* const parts = streams_.of(i);
  for (std::size_t s = 0; s < streams_.count(); ++s) {
    Part& p = parts[s];
    p.sums.pop_words(in & p.source);
    p.pushed = out & p.target;
    if (any(p.pushed)) busy_[i + 1] |= 1U << s;
  }
}

/// Of lanes that send on one stream.
template <class Number, bool kBuses>
inline Lanes<Number> RoutedReduction<Number, kBuses>::all_sent(std::size_t i) const {
  const Part* const parts = streams_.of(i);
  Vector left{};
  for_each_bit(busy_[i + 1], [&](unsigned s) {
    const Part& p = parts[s];
    left |= (p.queue.words + (p.queue.has() & p.up.room(shapes_.up))) > 0;
  });
  return ~left;
}

template <class Number, bool kBuses>
inline Lanes<Number> RoutedReduction<Number, kBuses>::finish(std::size_t i, const Vector& ended) {
  const Vector goes_on = ended & blocks_[i].more;
  if (any(goes_on)) {
    for_each_lane<Number>(goes_on, [&](unsigned lane) { begin_instruction(i * kWidth + lane); });
  }
  return ended & ~goes_on;
}

/// All columns decide by what there was before the cycle; then the words arrive.
template <class Number, bool kBuses>
inline void RoutedReduction<Number, kBuses>::end_cycle() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t busy = busy_[i + 1];
    const auto open = streams_.open(i);
    if (busy == 0 && (!kBuses || buses_.idle(i))) continue;
    send_output(i);
    if constexpr (kBuses) {
      streams_.pass(i, busy, open, buses_);
      buses_.finish(i);
    } else {
      NothingBeside<Number> beside;
      streams_.pass(i, busy, open, beside);
    }
  }
  if constexpr (kBuses) buses_.spread();
  std::uint32_t west = 0;  // what the block there had before words arrived
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t mine = busy_[i + 1];
    const std::uint32_t eastern = streams_.eastern();
    const std::uint32_t may = mine | (west & eastern) | (busy_[i + 2] & ~eastern);
    west = mine;
    busy_[i + 1] = may;
    if (may != 0) arrive(i);
  }
}

/// A word of the output queues goes up the ramp; they take turns.
template <class Number, bool kBuses>
inline void RoutedReduction<Number, kBuses>::send_output(std::size_t i) {
  Block& b = blocks_[i];
  Part* const parts = streams_.of(i);
  const std::uint32_t busy = busy_[i + 1];
  LaneContest<Number> ramp;
  for_each_bit(busy, [&](unsigned s) {
    Part& p = parts[s];
    p.up.begin_cycle();
    p.key_out = b.queues.key(p.queue.has() & p.up.room(shapes_.up), p.number);
    ramp.ask(p.key_out);
  });
  if constexpr (kBuses) buses_.ask_up(i, b.queues, ramp);
  for_each_bit(busy, [&](unsigned s) {
    Part& p = parts[s];
    const Vector up = ramp.won(p.key_out);
    p.queue.pop(up);
    p.queue.push_words(p.pushed);
    p.pushed = Vector{};
    p.up.push(up, shapes_.up);
    b.queues.granted(up, p.number);
  });
  if constexpr (kBuses) buses_.take_up(i, b.queues, ramp);
}

/// A stream without words that sent none is not busy.
template <class Number, bool kBuses>
inline void RoutedReduction<Number, kBuses>::arrive(std::size_t i) {
  const Part* const parts = streams_.of(i);
  streams_.arrive(i, busy_[i + 1], [&](unsigned s, const Vector& sent) {
    const Part& p = parts[s];
    if (!any(p.in.count | p.sums.count | p.up.count | p.queue.words | sent))
      busy_[i + 1] &= ~(1U << s);
  });
}

}  // namespace lacuna::wse
