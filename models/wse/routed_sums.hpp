// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/lane_limits.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program.hpp"
#include "models/wse/sum_streams.hpp"

namespace lacuna::wse {

/// The partial sums of a StreamingRow on routes of their own (ReducePlan): the cores' queues for
/// them and the routers' buffers, as lanes in the order of columns, for each stream.
template <class Number>
class RoutedSums {
 public:
  using Vector = Lanes<Number>;
  /// A reduction may take several instructions, one for each input.
  static constexpr bool kOneInstruction = false;

  using Shared = SumStreams;

  RoutedSums(const HardwareParams& params, const Shared& shared);

  void begin_cycle() {}

  // See RingSums.
  Vector ramp(std::size_t i, const Vector& weight_may);
  void load(std::size_t lane, std::uint32_t keeper);
  Vector fed(std::size_t i, const Vector& need) const;
  Vector room(std::size_t i, const Vector& need) const;
  Vector gathers(std::size_t i) const { return blocks_[i].more; }
  void take(std::size_t i, const Vector& words);
  void end_cycle();
  void flush();
  void add_stalls(const Program& program, RouterCounters* routers);

  /// Lanes have ended an instruction; returns those whose reduction has ended. The others go on.
  Vector finish(std::size_t i, const Vector& ended);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    Vector need_in, need_out, more;  // of the instruction; more: others follow
    // The color after the one that was granted last, by port, and the output queue that is next.
    Vector next_ramp, next_east, next_west, next_queue;
  };
  /// One stream.
  struct Part {
    Vector in_count, in_seen, in_flight;  // the router's buffer, of words from the neighbour,
    Vector u_count, u_seen, u_flight;     // and from the core
    Vector r_count, r_seen, r_flight;     // the core's input queue
    Vector queue, pushed;                 // its output queue
    Vector source, target;                // whether the instruction takes and sends here
    Vector to_core, in_color, out_color, number;
    Vector key_in, key_out;  // of what asks for a port in this cycle, its turn
    Vector stall_in, stall_out;
  };
  struct Stalls {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
  };
  /// Which words a neighbour sends, and whether there is room for more: by lane from 1 on.
  struct Border {
    std::vector<Number> sent, room;
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  static Vector least(const Vector& a, const Vector& b) { return select(a < b, a, b); }
  static void arrivals(Vector& seen, Vector& flight) {
    seen += flight & all(1);
    flight >>= 1;
  }
  /// When it is the turn of `color` if that of `next` is first; kNobody where nothing asks.
  static Vector turn(const Vector& asks, const Vector& color, const Vector& next) {
    return select(asks, (color - next) & all(31), all(kNobody));
  }
  static constexpr std::uint64_t kNobody = 64;

  /// Calls `visit` with the number of each stream in `set`, a bit each.
  template <class Visit>
  static void for_each(std::uint32_t set, const Visit& visit) {
    for (; set != 0; set &= set - 1) visit(static_cast<unsigned>(__builtin_ctz(set)));
  }
  Part* parts_of(std::size_t i) { return &parts_[i * shared_->streams.size()]; }
  const Part* parts_of(std::size_t i) const { return &parts_[i * shared_->streams.size()]; }
  void begin_instruction(std::size_t lane);
  void send_output(std::size_t i);
  void pass(std::size_t i, std::uint32_t streams, std::size_t to, Vector& next);
  void arrive(std::size_t i);

  const Shared* shared_;
  std::size_t columns_;
  bool fixed_;
  LaneLimits<Number> limits_;
  std::vector<Block> blocks_;
  std::vector<Part> parts_;  // by block and stream
  /// By block, the streams in which there is something; nothing can happen in the others. The
  /// first and the last are not there.
  std::vector<std::uint32_t> busy_;
  std::uint32_t eastern_;  // of the streams
  std::vector<Border> borders_;
  std::vector<std::uint32_t> next_input_;  // by lane
  std::vector<std::uint8_t> inputs_left_;
  std::vector<std::uint8_t> keeps_;
  std::vector<Color> out_;
  std::vector<Stalls> stalls_;  // by stream and lane
};

template <class Number>
inline Lanes<Number> RoutedSums<Number>::ramp(std::size_t i, const Vector& weight_may) {
  Block& b = blocks_[i];
  Part* const parts = parts_of(i);
  const std::uint32_t busy = busy_[i + 1];
  const Vector weights = all(static_cast<std::uint64_t>(shared_->weights));
  const Vector weight_key = turn(weight_may, weights, b.next_ramp);
  Vector best = weight_key;
  for_each(busy, [&](unsigned s) {
    Part& p = parts[s];
    arrivals(p.in_seen, p.in_flight);
    arrivals(p.r_seen, p.r_flight);
    const Vector head = (p.in_seen > 0) & p.to_core;
    p.stall_in -= head;
    p.key_in = turn(head & (p.r_count < limits_.r_capacity), p.in_color, b.next_ramp);
    best = least(best, p.key_in);
  });
  const Vector granted = best < all(kNobody);
  const Vector weight = granted & (weight_key == best);
  Vector next = select(weight, weights + 1, b.next_ramp);
  for_each(busy, [&](unsigned s) {
    Part& p = parts[s];
    const Vector grant = granted & (p.key_in == best);
    p.stall_in += grant;
    p.in_seen += grant;
    p.in_count += grant;
    p.r_count -= grant;
    p.r_flight |= grant & limits_.ramp_bit;
    next = select(grant, p.in_color + 1, next);
  });
  if (!fixed_) b.next_ramp = next;
  return weight;
}

template <class Number>
inline Lanes<Number> RoutedSums<Number>::fed(std::size_t i, const Vector& need) const {
  const Part* const parts = parts_of(i);
  Vector fed = ~blocks_[i].need_in;
  for_each(busy_[i + 1], [&](unsigned s) { fed |= parts[s].source & (parts[s].r_seen >= need); });
  return fed;
}

template <class Number>
inline Lanes<Number> RoutedSums<Number>::room(std::size_t i, const Vector& need) const {
  const Part* const parts = parts_of(i);
  Vector room = ~blocks_[i].need_out;
  for (std::size_t s = 0; s < shared_->streams.size(); ++s) {
    room |= parts[s].target & (parts[s].queue + need <= limits_.out_depth);
  }
  return room;
}

template <class Number>
inline void RoutedSums<Number>::take(std::size_t i, const Vector& words) {
  if (!any(words)) return;
  Part* const parts = parts_of(i);
  for (std::size_t s = 0; s < shared_->streams.size(); ++s) {
    Part& p = parts[s];
    p.r_seen -= words & p.source;
    p.r_count -= words & p.source;
    p.pushed = words & p.target;
    if (any(p.pushed)) busy_[i + 1] |= 1U << s;
  }
}

template <class Number>
inline Lanes<Number> RoutedSums<Number>::finish(std::size_t i, const Vector& ended) {
  const Vector goes_on = ended & blocks_[i].more;
  if (any(goes_on)) {
    for_each_lane<Number>(goes_on, [&](unsigned lane) { begin_instruction(i * kWidth + lane); });
  }
  return ended & ~goes_on;
}

/// All columns decide by what there was before the cycle; then the words arrive.
template <class Number>
inline void RoutedSums<Number>::end_cycle() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t busy = busy_[i + 1];
    if (busy == 0) continue;
    send_output(i);
    pass(i, busy & eastern_, 2, blocks_[i].next_east);
    pass(i, busy & ~eastern_, 0, blocks_[i].next_west);
  }
  std::uint32_t west = 0;  // what the block there had before words arrived
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t mine = busy_[i + 1];
    const std::uint32_t may = mine | (west & eastern_) | (busy_[i + 2] & ~eastern_);
    west = mine;
    busy_[i + 1] = may;
    if (may != 0) arrive(i);
  }
}

/// A word of the output queues goes up the ramp; they take turns.
template <class Number>
inline void RoutedSums<Number>::send_output(std::size_t i) {
  Block& b = blocks_[i];
  Part* const parts = parts_of(i);
  const std::uint32_t busy = busy_[i + 1];
  Vector best = all(kNobody);
  for_each(busy, [&](unsigned s) {
    Part& p = parts[s];
    arrivals(p.u_seen, p.u_flight);
    p.key_out = turn((p.queue > 0) & (p.u_count < limits_.u_capacity), p.number, b.next_queue);
    best = least(best, p.key_out);
  });
  const Vector granted = best < all(kNobody);
  Vector next = b.next_queue;
  for_each(busy, [&](unsigned s) {
    Part& p = parts[s];
    const Vector up = granted & (p.key_out == best);
    p.queue += p.pushed + up;
    p.pushed = Vector{};
    p.u_count -= up;
    p.u_flight |= up & limits_.ramp_bit;
    next = select(up, p.number + 1, next);
  });
  b.next_queue = next;
}

/// The port to a neighbour, `to` places on, for which `streams` compete.
template <class Number>
inline void RoutedSums<Number>::pass(std::size_t i, std::uint32_t streams, std::size_t to,
                                     Vector& next) {
  Part* const parts = parts_of(i);
  Vector best = all(kNobody);
  for_each(streams, [&](unsigned s) {
    Part& p = parts[s];
    const Vector room = wse::load<Number>(&borders_[s].room[i * kWidth + to]);
    const Vector through = (p.in_seen > 0) & ~p.to_core;
    const Vector mine = p.u_seen > 0;
    p.stall_in -= through;
    p.stall_out -= mine;
    p.key_in = turn(through & room, p.in_color, next);
    p.key_out = turn(mine & room, p.out_color, next);
    best = least(best, least(p.key_in, p.key_out));
  });
  const Vector granted = best < all(kNobody);
  Vector after = next;
  for_each(streams, [&](unsigned s) {
    Part& p = parts[s];
    const Vector in = granted & (p.key_in == best);
    const Vector out = granted & (p.key_out == best) & ~in;
    p.stall_in += in;
    p.in_seen += in;
    p.in_count += in;
    p.stall_out += out;
    p.u_seen += out;
    p.u_count += out;
    store(&borders_[s].sent[i * kWidth + 1], in | out);
    after = select(in, p.in_color + 1, select(out, p.out_color + 1, after));
  });
  if (!fixed_) next = after;
}

/// Words from the neighbours, a lane away. A stream without words that sent none is not busy.
template <class Number>
inline void RoutedSums<Number>::arrive(std::size_t i) {
  Part* const parts = parts_of(i);
  for_each(busy_[i + 1], [&](unsigned s) {
    Part& p = parts[s];
    Border& border = borders_[s];
    const std::size_t from = (eastern_ >> s & 1U) != 0 ? 0 : 2;
    const Vector arrived = wse::load<Number>(&border.sent[i * kWidth + from]);
    p.in_flight |= arrived & limits_.hop_bit;
    p.in_count -= arrived;
    store(&border.room[i * kWidth + 1], p.in_count < limits_.hop_capacity);
    const Vector sent = wse::load<Number>(&border.sent[i * kWidth + 1]);
    if (!any(p.in_count | p.r_count | p.u_count | p.queue | sent)) busy_[i + 1] &= ~(1U << s);
  });
}

}  // namespace lacuna::wse
