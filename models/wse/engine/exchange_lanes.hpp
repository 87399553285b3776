// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
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

/// The buses of an ExchangePlan in a row of cores, beside the RoutedReduction with which they share
/// ports, ramps and cores: routers' buffers, switches and filters, and the cores' queues, as lanes
/// in the order of columns. Switches and filters go by the packets that have passed.
template <class Number>
class ExchangeLanes {
 public:
  using Vector = Lanes<Number>;
  using Arbiters = LaneArbiter<Number>;

  ExchangeLanes(const HardwareParams& params, const SumStreams& shared);

  /// Of a row with so many tokens in a core; before any cycle.
  void begin(std::uint32_t tokens);
  void begin_lanes(StreamState<Number>& state, std::size_t i);

  /// True if no word is left.
  bool empty() const;
  /// True if nothing can happen in a block.
  bool idle(std::size_t i) const { return busy_[i + 1] == 0; }

  using Contest = LaneContest<Number>;
  // What asks for the ramp to the core; and what has won.
  void ask_ramp(std::size_t i, const LanePort<Number>& port, Contest& ramp);
  void take_ramp(std::size_t i, LanePort<Number>& port, const Contest& ramp);
  // The same of the ramp from the core,
  void ask_up(std::size_t i, const Arbiters& queues, Contest& ramp);
  void take_up(std::size_t i, Arbiters& queues, const Contest& ramp);
  // and of the port to a neighbour.
  void ask_port(std::size_t i, bool east, const LanePort<Number>& port, const Vector& open,
                Contest& asks);
  void take_port(std::size_t i, bool east, LanePort<Number>& port, const Contest& asks);

  /// Words that have made all their copies leave; switches move.
  void finish(std::size_t i);
  /// Once all blocks have finished: which of them words may come to, and that they come.
  void spread();
  void arrive(std::size_t i);

  // See StreamControl.
  Vector packet_room(std::size_t i, const Vector& need) const;
  Vector packet_fed(std::size_t i, const Vector& need) const;
  void begin_packets(StreamState<Number>& state, std::size_t i, const Vector& send,
                     const Vector& take);
  void send_packet(std::size_t i, const Vector& words);
  void take_packet(std::size_t i, const Vector& words);
  /// A lane has kept another row, or has reduced one that it does not keep.
  void kept(StreamState<Number>& state, std::size_t lane, bool keeps);

  void flush();
  void add_counts(RouterCounters* routers);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  /// A bus in a block.
  struct Line {
    LaneBuffer<Number> in;   // the router's buffer
    LaneQueue<Number> rows;  // the core's input queue
    Vector takes, every, passes, sends, switches;
    Vector turn, last;             // packets before its own, or that it takes; the last of a round
    Vector slot, left;             // packet of the round that passes next, and words of it
    LaneCopies<Number, 2> copies;  // of the head: onward, and to the core
    Vector source;                 // lanes that take from here
    Vector key, own_key, own_left, own_ended;
  };
  /// What goes up from cores to buses of one direction.
  struct Out {
    LaneOutput<Number> queue;
    LaneBuffer<Number> up;
    Vector pushed, number, target, key;
  };
  static constexpr std::size_t kOnward = 0;
  static constexpr std::size_t kToCore = 1;

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  Line* lines_of(std::size_t i) { return &lines_[i * plan_.buses.size()]; }
  const Line* lines_of(std::size_t i) const { return &lines_[i * plan_.buses.size()]; }
  Out& out(std::size_t i, bool east) { return outs_[2 * i + (east ? 0 : 1)]; }
  std::uint64_t ways(bool east) const { return east ? eastern_ : ~eastern_; }
  void set_flags(StreamState<Number>& state, std::size_t lane) const {
    packets_[lane].look_up(state, lane % kWidth, plan_, lane);
  }
  void advance(Line& line, const Vector& ended);

  const ExchangePlan& plan_;
  std::size_t columns_;
  ArbiterRule rule_;
  LaneShapes<Number> shapes_;
  Vector words_{};  // of a packet
  const StreamingKernel& kernel_;
  std::vector<Line> lines_;                  // by block and bus
  std::vector<Out> outs_;                    // by block and direction
  std::vector<LaneBorder<Number>> borders_;  // by bus
  std::vector<Vector> colors_;               // of buses
  std::vector<std::uint64_t> busy_;   // by block, from 1 on: buses in which there is something
  std::vector<std::uint64_t> sends_;  // by block: buses with a sender in it
  std::uint64_t eastern_ = 0;
  std::vector<PacketTurns> packets_;                  // by lane
  std::vector<BufferCounts<std::uint64_t>> passing_;  // by bus and lane
  std::vector<BufferCounts<std::uint64_t>> leaving_;  // by direction and lane: from the core
};

template <class Number>
inline void ExchangeLanes<Number>::ask_ramp(std::size_t i, const LanePort<Number>& port,
                                            Contest& ramp) {
  Line* const lines = lines_of(i);
  for_each_bit(busy_[i + 1], [&](unsigned b) {
    Line& line = lines[b];
    begin_cycles(line.in, line.rows);
    const Vector own_turn = line.switches & (line.slot == line.turn);
    const Vector wants = line.copies.wants(kToCore, line.in.has() & line.takes & ~own_turn);
    line.key = port.key(rule_, wants & line.rows.room(shapes_.sums), colors_[b]);
    ramp.ask(line.key);
  });
}

/// What the filter drops has had the ramp all the same.
template <class Number>
inline void ExchangeLanes<Number>::take_ramp(std::size_t i, LanePort<Number>& port,
                                             const Contest& ramp) {
  Line* const lines = lines_of(i);
  for_each_bit(busy_[i + 1], [&](unsigned b) {
    Line& line = lines[b];
    const Vector grant = ramp.won(line.key);
    line.copies.make(kToCore, grant);
    line.rows.push(grant & (line.every | (line.slot == line.turn)), shapes_.sums);
    port.sent(rule_, grant, colors_[b]);
  });
}

template <class Number>
inline void ExchangeLanes<Number>::ask_up(std::size_t i, const Arbiters& queues, Contest& ramp) {
  for (const bool east : {true, false}) {
    if ((busy_[i + 1] & sends_[i] & ways(east)) == 0) continue;
    Out& from = out(i, east);
    from.up.begin_cycle();
    from.key = queues.key(from.queue.has() & from.up.room(shapes_.up), from.number);
    ramp.ask(from.key);
  }
}

template <class Number>
inline void ExchangeLanes<Number>::take_up(std::size_t i, Arbiters& queues, const Contest& ramp) {
  for (const bool east : {true, false}) {
    if ((busy_[i + 1] & sends_[i] & ways(east)) == 0) continue;
    Out& from = out(i, east);
    const Vector up = ramp.won(from.key);
    from.queue.pop(up);
    from.queue.push_words(from.pushed);
    from.pushed = Vector{};
    from.up.push(up, shapes_.up);
    queues.granted(up, from.number);
  }
}

template <class Number>
inline void ExchangeLanes<Number>::ask_port(std::size_t i, bool east, const LanePort<Number>& port,
                                            const Vector& open, Contest& asks) {
  Line* const lines = lines_of(i);
  const std::size_t first = i * kWidth;
  Out& from = out(i, east);
  const Vector mine = from.up.has();
  for_each_bit(busy_[i + 1] & ways(east), [&](unsigned b) {
    Line& line = lines[b];
    const Vector room =
        open & (east ? borders_[b].room_after(first, 1) : borders_[b].room_before(first, 1));
    const Vector own_turn = line.slot == line.turn;
    const Vector through = line.in.has() & line.passes & ~(line.switches & own_turn);
    const Vector own = mine & line.sends & (~line.switches | own_turn);
    line.key = port.key(rule_, line.copies.wants(kOnward, through) & room, colors_[b]);
    line.own_key = port.key(rule_, own & room, colors_[b]);
    asks.ask(line.key);
    asks.ask(line.own_key);
  });
}

template <class Number>
inline void ExchangeLanes<Number>::take_port(std::size_t i, bool east, LanePort<Number>& port,
                                             const Contest& asks) {
  Line* const lines = lines_of(i);
  Out& from = out(i, east);
  Vector sent{};
  for_each_bit(busy_[i + 1] & ways(east), [&](unsigned b) {
    Line& line = lines[b];
    const Vector through = asks.won(line.key);
    const Vector own = asks.won(line.own_key);
    line.copies.make(kOnward, through);
    sent |= own;
    line.own_left += own;
    line.own_ended = own & (line.own_left == Vector{});
    borders_[b].send(i * kWidth, through | own);
    port.sent(rule_, through | own, colors_[b]);
  });
  from.up.let_go(sent);
}

template <class Number>
inline void ExchangeLanes<Number>::advance(Line& line, const Vector& ended) {
  line.slot = select(ended & (line.slot == line.last), Vector{}, line.slot - ended);
}

template <class Number>
inline void ExchangeLanes<Number>::finish(std::size_t i) {
  Line* const lines = lines_of(i);
  for_each_bit(busy_[i + 1], [&](unsigned b) {
    Line& line = lines[b];
    const Vector leaves = line.copies.leave(line.in.has(), {line.passes, line.takes});
    line.in.let_go(leaves);
    line.left += leaves;
    const Vector ended = leaves & (line.left == Vector{});
    const Vector over = ended | line.own_ended;
    if (!any(over)) return;
    line.left = select(ended, words_, line.left);
    line.own_left = select(line.own_ended, words_, line.own_left);
    advance(line, ended | (line.own_ended & line.switches));
    line.own_ended = Vector{};
  });
}

/// A bus without words that sent none is not busy.
template <class Number>
inline void ExchangeLanes<Number>::arrive(std::size_t i) {
  Line* const lines = lines_of(i);
  for_each_bit(busy_[i + 1], [&](unsigned b) {
    Line& line = lines[b];
    LaneBorder<Number>& border = borders_[b];
    const bool east = (eastern_ >> b & 1U) != 0;
    const std::size_t first = i * kWidth;
    line.in.push(east ? border.sent_before(first, 1) : border.sent_after(first, 1), shapes_.link);
    border.show(first, line.in.room(shapes_.link));
    const Out& from = out(i, east);
    const Vector waits = (from.up.count | from.queue.words) & line.sends;
    const Vector sent = border.sent_after(first, 0);
    if (!any(line.in.count | line.rows.count | sent | waits)) {
      busy_[i + 1] &= ~(std::uint64_t{1} << b);
    }
  });
}

template <class Number>
inline Lanes<Number> ExchangeLanes<Number>::packet_room(std::size_t i, const Vector& need) const {
  const Out& east = outs_[2 * i];
  const Out& west = outs_[2 * i + 1];
  return (east.target & east.queue.room(shapes_.out_depth, need)) |
         (west.target & west.queue.room(shapes_.out_depth, need));
}

template <class Number>
inline Lanes<Number> ExchangeLanes<Number>::packet_fed(std::size_t i, const Vector& need) const {
  const Line* const lines = lines_of(i);
  Vector fed{};
  for_each_bit(busy_[i + 1], [&](unsigned b) { fed |= lines[b].source & lines[b].rows.has(need); });
  return fed;
}

template <class Number>
inline void ExchangeLanes<Number>::send_packet(std::size_t i, const Vector& words) {
  for (const bool east : {true, false}) {
    Out& to = out(i, east);
    to.pushed = words & to.target;
    if (any(to.pushed)) busy_[i + 1] |= sends_[i] & ways(east);
  }
}

template <class Number>
inline void ExchangeLanes<Number>::take_packet(std::size_t i, const Vector& words) {
  Line* const lines = lines_of(i);
  for_each_bit(busy_[i + 1], [&](unsigned b) { lines[b].rows.pop_words(words & lines[b].source); });
}

}  // namespace lacuna::wse
