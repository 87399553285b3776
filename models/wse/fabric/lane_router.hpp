// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/buffer_counts.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/program/sum_streams.hpp"

// The rules by which RouterArray moves words, for routers in lanes: who has an output port or a
// ramp, when a head leaves its buffer, what passes a link, what neighbours know of each other. What
// routers a program has, and which buffers and ports these have, is said where these are used.

namespace lacuna::wse {

/// The requests for one thing in a cycle. The least key wins; LaneArbiter or LanePort gives the
/// keys.
template <class Number>
class LaneContest {
 public:
  using Vector = Lanes<Number>;
  using Arbiters = LaneArbiter<Number>;

  void ask(const Vector& key) { best_ = Arbiters::least(best_, key); }
  /// Once all have asked: the lanes in which `key` has won.
  Vector won(const Vector& key) const { return (key == best_) & granted(); }
  Vector granted() const { return best_ < Arbiters::nobody(); }

 private:
  Vector best_ = Arbiters::nobody();
};

/// Adds the statistics of a lane to its sum.
template <class Number>
void add_lane(BufferCounts<std::uint64_t>& sum, const BufferCounts<Lanes<Number>>& counts,
              std::size_t lane) {
  for (int i = 0; i < kBufferCounts; ++i) {
    sum.statistic(i) += static_cast<std::uint64_t>(counts.statistic(i)[lane]);
  }
}
/// Clears the statistics of all lanes, once each has been added.
template <class Vector>
void forget(BufferCounts<Vector>& counts) {
  for (int i = 0; i < kBufferCounts; ++i) counts.statistic(i) = Vector{};
}

/// A buffer of a router: its words, and what is counted of them.
template <class Number>
struct LaneBuffer : LaneQueue<Number> {
  using Vector = Lanes<Number>;

  BufferCounts<Vector> counts;

  /// The cycle's heads: those of `leaves` go, the others stay.
  void let_go(const Vector& leaves) {
    counts.cycle(this->has(), leaves, [this] { return this->seen; });
    this->pop(leaves);
  }
};

/// A link out of routers: how fast words follow each other over it.
template <class Number>
class LaneLink {
 public:
  using Vector = Lanes<Number>;

  /// Of the lanes that want to send a word, those that do: the link is not shut, and there is room
  /// for it. To be called once in a cycle.
  Vector send(const LinkRule& rule, const Vector& wants, const Vector& room) {
    Vector go = wants & room;
    if (rule.on_links()) {
      go &= meter_.open();
      meter_.sent(rule, go);
    }
    return go;
  }

  // The same in two parts, between which it is found out who sends.
  Vector open(const LinkRule& rule) { return rule.on_links() ? meter_.open() : ~Vector{}; }
  void sent(const LinkRule& rule, const Vector& lanes) {
    if (rule.on_links()) meter_.sent(rule, lanes);
  }
  /// Lanes in which it is not shut in the next cycle to be performed.
  Vector open_next() const { return meter_.open_next(); }

 private:
  LaneMeter<Number> meter_;
};

/// What lanes tell neighbours at the end of a cycle: that they have sent a word, and that they have
/// room for one. Neighbours are `reach` lanes away at most.
template <class Number>
class LaneBorder {
 public:
  using Vector = Lanes<Number>;

  LaneBorder() = default;
  LaneBorder(std::size_t lanes, std::size_t reach)
      : reach_(reach), sent_(lanes + 2 * reach, 0), room_(sent_.size(), -1) {}

  void send(std::size_t first, const Vector& words) { store(&sent_[reach_ + first], words); }
  void show(std::size_t first, const Vector& room) { store(&room_[reach_ + first], room); }

  /// Whether the lanes that are so many before have sent a word, and those after have room.
  Vector sent_before(std::size_t first, std::size_t lanes) const {
    return load(&sent_[reach_ + first - lanes]);
  }
  Vector sent_after(std::size_t first, std::size_t lanes) const {
    return load(&sent_[reach_ + first + lanes]);
  }
  Vector room_before(std::size_t first, std::size_t lanes) const {
    return load(&room_[reach_ + first - lanes]);
  }
  Vector room_after(std::size_t first, std::size_t lanes) const {
    return load(&room_[reach_ + first + lanes]);
  }

 private:
  std::size_t reach_ = 0;
  std::vector<Number> sent_, room_;
};

/// One stream at the routers of a row: what comes from the neighbour, and goes to the core or on,
/// and what comes from the core. Both compete for the port to the next neighbour.
template <class Number>
struct LaneStream {
  using Vector = Lanes<Number>;

  LaneBuffer<Number> in;  // the router's buffer, of words from the neighbour,
  LaneBuffer<Number> up;  // and from the core
  Vector to_core, in_color, out_color;
  Vector key_in, key_out;  // of what asks for the port in this cycle, its turn
  Vector taken;            // by the core, in this cycle

  /// What a lane does.
  void place(std::size_t lane, const SumStreams::Lane& what) {
    to_core[lane] = static_cast<Number>(what.to_core ? -1 : 0);
    in_color[lane] = static_cast<Number>(what.in);
    out_color[lane] = static_cast<Number>(what.out);
  }

  /// Asks for `port`, to a neighbour that has `room`.
  void ask(const LanePort<Number>& port, const ArbiterRule& rule, const Vector& room,
           LaneContest<Number>& asks) {
    key_in = port.key(rule, in.has() & ~to_core & room, in_color);
    key_out = port.key(rule, up.has() & room, out_color);
    asks.ask(key_in);
    asks.ask(key_out);
  }
  /// Once all have asked: what has won leaves, and what the core has taken.
  void leave(const LaneContest<Number>& asks, const ArbiterRule& rule, std::size_t first,
             LanePort<Number>& port, LaneBorder<Number>& border) {
    const Vector on = asks.won(key_in);
    const Vector out = asks.won(key_out) & ~on;
    in.let_go(on | taken);
    up.let_go(out);
    border.send(first, on | out);
    port.sent(rule, on, in_color);
    port.sent(rule, out, out_color);
  }
};

}  // namespace lacuna::wse
