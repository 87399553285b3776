// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The partial sums of a StreamingRow on the ring: the cores' queues for them and the routers'
/// buffers, as lanes in the order of the ring. Lane i gets its words from lane i - 1.
template <class Number>
class RingSums {
 public:
  using Vector = Lanes<Number>;
  /// A reduction is one instruction.
  static constexpr bool kOneInstruction = true;
  static constexpr bool kExchanges = false;
  /// Blocks meet their neighbours alone, so that one can rest while others do not.
  static constexpr bool kRests = true;

  /// What the rows of a program have in common.
  struct Shared {
    explicit Shared(const Program& program);

    std::vector<std::uint32_t> column_of;  // by lane
    std::vector<std::uint32_t> lane_of;    // by column
    std::vector<Color> color_of;           // of the sums that come to a lane
    Color weights{};
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
    return ~blocks_[i].need_in | blocks_[i].in.has(need);
  }
  Vector room(std::size_t i, const Vector& need) const {
    const LaneOutput<Number> queue{load_lanes(&out_queue_[i * kWidth + 1])};
    return ~blocks_[i].need_out | queue.room(shapes_.out_depth, need);
  }

  /// Lanes whose instruction writes sums back.
  static Vector gathers(std::size_t /*i*/) { return Vector{}; }

  static Vector finish(std::size_t /*i*/, const Vector& ended) { return ended; }

  /// Lanes take in and send on so many words.
  void take(std::size_t i, const Vector& words) {
    Block& b = blocks_[i];
    b.in.pop_words(words & b.need_in);
    store(&pushed_[i * kWidth + 1], words & b.need_out);
  }

  void end_cycle() {
    pushed_[0] = pushed_[columns_];
    for (std::size_t i = 0; i < blocks_.size(); ++i) transit(blocks_[i], i * kWidth);
  }

  /// Moves the counts of a block out of its lanes, `times` as many, at least every kMost cycles.
  void flush(std::size_t i, std::uint64_t times);
  static void flush() {}

  // Of blocks that step while others rest: end_cycle() one by one.
  struct Rest;
  Rest rest(std::size_t i) const;
  /// Whether a block is but for its counts as it was.
  bool rests(std::size_t i, const Rest& before) const;
  std::size_t next(std::size_t i) const { return i + 1 == blocks_.size() ? 0 : i + 1; }
  std::size_t previous(std::size_t i) const { return (i == 0 ? blocks_.size() : i) - 1; }
  /// Whether it has pushed words into what next(i) transmits.
  bool pushes_on(std::size_t i) const { return pushed_[std::min(columns_, (i + 1) * kWidth)] != 0; }
  void end_steps() { pushed_[0] = pushed_[columns_]; }
  /// True if previous(i) finds other room in the next cycle.
  bool end_cycle(std::size_t i) {
    const Number before = out_queue_[i * kWidth];
    transit(blocks_[i], i * kWidth);
    return out_queue_[i * kWidth] != before;
  }
  /// Adds to the routers of a row, by column, how long words stood there.
  void add_stalls(const Program& program, RouterCounters* routers);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    LanePort<Number> ramp;
    LaneQueue<Number> in;   // the core's queue
    LaneHops<Number> hops;  // of the words that come here
    Vector color;           // of them
    Vector taken;           // in this cycle
    Vector need_in, need_out;
  };
  struct Stalls {
    std::uint64_t in = 0;
    std::uint64_t pass = 0;  // of the router in between on the way here
    std::uint64_t out = 0;   // of the router the words to this core come from
  };

  static Vector load_lanes(const Number* from) { return wse::load<Number>(from); }
  void transit(Block& b, std::size_t first);

  const Shared* shared_;
  std::size_t columns_;
  ArbiterRule rule_;
  Vector weights_;  // their color
  LaneShapes<Number> shapes_;
  LinkRule link_rule_;
  std::vector<Block> blocks_;
  std::vector<Number> out_queue_;  // by receiving lane, and one more that repeats the first
  std::vector<Number> pushed_;     // likewise
  std::vector<Stalls> stalls_;
};

template <class Number>
struct RingSums<Number>::Rest {
  Block block;
  Vector out;
};

template <class Number>
inline Lanes<Number> RingSums<Number>::ramp(std::size_t i, const Vector& weight_may) {
  Block& b = blocks_[i];
  b.in.begin_cycle();
  b.hops.begin_cycle();
  const Vector sum_may = b.hops.here.has() & b.in.room(shapes_.sums);
  const LanePair<Number> won(b.ramp.key(rule_, weight_may, weights_),
                             b.ramp.key(rule_, sum_may, b.color));
  b.ramp.sent(rule_, won.first, weights_);
  b.ramp.sent(rule_, won.second, b.color);
  b.in.push(won.second, shapes_.sums);
  b.taken = won.second;
  return won.first;
}

/// The way of partial sums to these lanes: output queue, ramp, one or two links.
template <class Number>
inline void RingSums<Number>::transit(Block& b, std::size_t first) {
  LaneOutput<Number> queue{load_lanes(&out_queue_[first])};
  const Vector up = queue.has() & b.hops.up.room(shapes_.up);
  queue.pop(up);
  queue.push_words(load_lanes(&pushed_[first]));
  store(&out_queue_[first], queue.words);
  b.hops.move(link_rule_, shapes_.up, shapes_.link, up, b.taken);
}

}  // namespace lacuna::wse
