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

namespace lacuna::wse {

/// The partial sums of a StreamingRow on the ring: the cores' queues for them and the routers'
/// buffers, as lanes in the order of the ring. Lane i gets its words from lane i - 1.
template <class Number>
class RingSums {
 public:
  using Vector = Lanes<Number>;
  /// A reduction is one instruction.
  static constexpr bool kOneInstruction = true;

  /// What the rows of a program have in common.
  struct Shared {
    explicit Shared(const Program& program);

    std::vector<std::uint32_t> column_of;  // by lane
    std::vector<std::uint32_t> lane_of;    // by column
  };

  RingSums(const HardwareParams& params, const Shared& shared);

  void begin_cycle() { out_queue_[columns_] = out_queue_[0]; }

  /// The words that arrive in this cycle, and who gets the port to the core: weights, where
  /// `weight_may` is set, or a partial sum. Returns the lanes whose weight gets it.
  Vector ramp(std::size_t i, const Vector& weight_may);

  /// A lane begins with the reduction of a row that `keeper`, a column, keeps.
  void load(std::size_t lane, std::uint32_t keeper);

  /// Lanes that have their next `need` words, or need none, and that have room for them.
  Vector fed(std::size_t i, const Vector& need) const {
    return ~blocks_[i].need_in | (blocks_[i].r_seen >= need);
  }
  Vector room(std::size_t i, const Vector& need) const {
    const Vector queue = load_lanes(&out_queue_[i * kWidth + 1]);
    return ~blocks_[i].need_out | (queue + need <= limits_.out_depth);
  }

  /// Lanes whose instruction writes sums back.
  static Vector gathers(std::size_t /*i*/) { return Vector{}; }

  /// Lanes take in and send on so many words.
  void take(std::size_t i, const Vector& words) {
    Block& b = blocks_[i];
    b.r_seen -= words & b.need_in;
    b.r_count -= words & b.need_in;
    store(&pushed_[i * kWidth + 1], words & b.need_out);
  }

  void end_cycle() {
    pushed_[0] = pushed_[columns_];
    for (std::size_t i = 0; i < blocks_.size(); ++i) transit(blocks_[i], i * kWidth);
  }

  /// Moves the counts out of the lanes, at least every kMost cycles.
  void flush();
  /// Adds to the routers of a row, by column, how long words stood there.
  void add_stalls(const Program& program, RouterCounters* routers);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    Vector last_weight;
    Vector r_count, r_seen, r_flight;  // the core's queue
    Vector u_count, u_seen, u_flight;  // the router's buffers on the way here: from the core,
    Vector x_count, x_seen, x_flight;  // between,
    Vector y_count, y_seen, y_flight;  // and here
    Vector need_in, need_out, one_hop, granted;
    Vector stall_in, stall_pass, stall_out;
  };
  struct Stalls {
    std::uint64_t in = 0;
    std::uint64_t pass = 0;  // of the router in between on the way here
    std::uint64_t out = 0;   // of the router the words to this core come from
  };

  static Vector load_lanes(const Number* from) { return wse::load<Number>(from); }
  static Vector one() { return all_lanes<Number>(1); }
  void transit(Block& b, std::size_t first);

  const Shared* shared_;
  std::size_t columns_;
  bool fixed_;
  LaneLimits<Number> limits_;
  std::vector<Block> blocks_;
  std::vector<Number> out_queue_;  // by receiving lane, and one more that repeats the first
  std::vector<Number> pushed_;     // likewise
  std::vector<Stalls> stalls_;
};

template <class Number>
inline Lanes<Number> RingSums<Number>::ramp(std::size_t i, const Vector& weight_may) {
  Block& b = blocks_[i];
  b.r_seen += b.r_flight & one();
  b.r_flight >>= 1;
  b.y_seen += b.y_flight & one();
  b.y_flight >>= 1;
  const Vector sum_head = b.y_seen > 0;
  const Vector sum_may = sum_head & (b.r_count < limits_.r_capacity);
  // In turn: weights, unless the last grant was theirs and a partial sum wants to go.
  Vector weight = weight_may & ~sum_may;
  weight = fixed_ ? weight_may : weight | (weight_may & ~b.last_weight);
  const Vector sum = sum_may & ~weight;
  b.last_weight = weight | (b.last_weight & ~sum);
  b.stall_in -= sum_head & ~sum;
  b.r_flight |= sum & limits_.ramp_bit;
  b.r_count -= sum;
  b.y_seen += sum;
  b.granted = sum;
  return weight;
}

/// The way of partial sums to these lanes: output queue, ramp, one or two links.
template <class Number>
inline void RingSums<Number>::transit(Block& b, std::size_t first) {
  const Vector zero{};
  b.u_seen += b.u_flight & one();
  b.u_flight >>= 1;
  b.x_seen += b.x_flight & one();
  b.x_flight >>= 1;

  Vector queue = load_lanes(&out_queue_[first]);
  const Vector up = (queue > zero) & (b.u_count < limits_.u_capacity);
  const Vector y_open = b.y_count < limits_.hop_capacity;
  const Vector x_open = b.x_count < limits_.hop_capacity;
  const Vector u_head = b.u_seen > zero;
  const Vector x_head = b.x_seen > zero;
  const Vector out = u_head & select(b.one_hop, y_open, x_open);
  const Vector pass = x_head & y_open;
  b.stall_out -= u_head & ~out;
  b.stall_pass -= x_head & ~pass;

  queue += load_lanes(&pushed_[first]) + up;
  store(&out_queue_[first], queue);
  b.u_flight |= up & limits_.ramp_bit;
  b.u_count += out - up;
  b.u_seen += out;
  const Vector to_x = out & ~b.one_hop;
  const Vector to_y = (out & b.one_hop) | pass;
  b.x_flight |= to_x & limits_.hop_bit;
  b.x_count += pass - to_x;
  b.x_seen += pass;
  b.y_flight |= to_y & limits_.hop_bit;
  b.y_count += b.granted - to_y;
}

}  // namespace lacuna::wse
