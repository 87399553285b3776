// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

// The queues between the cores of a wafer. All keep one contract: a word pushed in cycle t can be
// popped in t + latency; a slot freed in t can be filled in t + 1; words under way take a slot. So
// a link of latency L into a buffer of B entries has a capacity of B + L - 1, which lets a word
// pass in every cycle from B = 2 on. LinkArray holds queues one by one, with their words;
// LaneQueue counts the words of many at once.

namespace lacuna::wse {

/// From a pop to the first cycle in which its slot can be filled.
inline constexpr Cycle kSlotFree = 1;

struct QueueShape {
  unsigned capacity = 1;  // words, those under way included
  Cycle latency = 1;      // from a push to the first cycle of its pop
  bool varies = false;    // words may take longer than that
};

/// The shapes of all queues: the only place where buffers and latencies of routers meet depths.
class QueueShapes {
 public:
  explicit QueueShapes(const RouterParams& router)
      : entries_(router.entries),
        hop_(router.hop),
        up_(router.ramp),
        down_(router.ramp + router.ramp_in),
        turn_(router.turn) {}

  /// From a router through a port into the buffer of a color at its neighbour.
  QueueShape link(unsigned /*port*/, Color /*color*/) const { return into(entries_, hop_); }
  /// The same, if words come to it around a corner: it holds those that are under way longer too.
  QueueShape link_behind_turn(unsigned port, Color color) const {
    QueueShape shape = link(port, color);
    shape.capacity += static_cast<unsigned>(turn_);
    shape.varies = turn_ != 0;
    return shape;
  }
  /// From any router to any neighbour, for those who ask links_alike() before.
  QueueShape link() const { return link(kSouth, Color{}); }
  bool links_alike() const {
    bool alike = true;
    each_link([&, any = link()](const QueueShape& other) {
      alike = alike && other.capacity == any.capacity && other.latency == any.latency;
    });
    return alike;
  }
  /// Words that come into a router along a column and leave along a row turn, or the other way.
  static constexpr bool turns(unsigned from, unsigned to) {
    return from != kRamp && to != kRamp && from % 2 != to % 2;
  }
  /// So much longer a word takes.
  Cycle turn(unsigned from, unsigned to) const { return turns(from, to) ? turn_ : 0; }
  bool has_turns() const { return turn_ != 0; }
  /// From an injector into the buffer of the router below it.
  QueueShape inlet() const { return into(entries_, 1); }
  /// From the output queues of a core into the buffer of its router,
  QueueShape ramp_up() const { return into(entries_, up_); }
  /// and from a router into an input queue of its core.
  QueueShape ramp_down(unsigned depth) const { return into(depth, down_); }
  /// An output queue of a core.
  static QueueShape output(unsigned depth) { return into(depth, 1); }

  /// The most words that a buffer of a router holds.
  unsigned entries() const { return entries_; }
  /// True if a word can follow another through every router without a pause.
  bool flows() const { return entries_ >= 2; }
  /// The longest latency of a queue here.
  Cycle longest() const {
    Cycle most = std::max(ramp_up().latency, ramp_down(1).latency);
    each_link([&](const QueueShape& other) { most = std::max(most, other.latency); });
    return most;
  }

 private:
  static QueueShape into(unsigned entries, Cycle latency) {
    return {entries + static_cast<unsigned>(latency) - 1, latency};
  }
  template <class Visit>
  void each_link(const Visit& visit) const {
    for (unsigned port = 0; port < kRamp; ++port) {
      for (unsigned color = 0; color < kColors; ++color) {
        visit(link(port, static_cast<Color>(color)));
      }
    }
  }

  unsigned entries_;
  Cycle hop_;
  Cycle up_;
  Cycle down_;
  Cycle turn_;
};

/// A shape as lanes need it.
template <class Number>
struct LaneShape {
  explicit LaneShape(const QueueShape& shape)
      : capacity(all_lanes<Number>(shape.capacity)),
        set_out(all_lanes<Number>(std::uint64_t{1} << (shape.latency - 1))) {}

  Lanes<Number> capacity;
  Lanes<Number> set_out;  // the bit of a word that sets out
};

/// A queue in every lane: how many words it has, and how many of them can be popped. Of the words
/// under way a bit for each cycle to come is known, so latency is at most one less than the bits of
/// a Number.
template <class Number>
struct LaneQueue {
  using Vector = Lanes<Number>;

  Vector count{};   // words, those under way included
  Vector seen{};    // that can be popped
  Vector flight{};  // bit i: a word that can be popped from the (i + 1)-th cycle to come on

  /// To be called once in a cycle, before anything is popped in it.
  void begin_cycle() {
    seen += flight & all_lanes<Number>(1);
    flight >>= 1;
  }

  /// Lanes with a word, or with `need` words.
  Vector has() const { return seen > 0; }
  Vector has(const Vector& need) const { return seen >= need; }
  /// Lanes with room for a word, of slots that were free before the cycle or have been freed since.
  Vector room(const LaneShape<Number>& shape) const { return count < shape.capacity; }

  void push(const Vector& lanes, const LaneShape<Number>& shape) {
    flight |= lanes & shape.set_out;
    count -= lanes;
  }
  void pop(const Vector& lanes) {
    seen += lanes;
    count += lanes;
  }
  /// A number of words of each lane.
  void pop_words(const Vector& words) {
    seen -= words;
    count -= words;
  }
};

template <class... Queues>
inline void begin_cycles(Queues&... queues) {
  (queues.begin_cycle(), ...);
}

/// An output queue in every lane. What is popped in a cycle is popped before anything is pushed.
template <class Number>
struct LaneOutput {
  using Vector = Lanes<Number>;

  Vector words{};

  Vector has() const { return words > 0; }
  Vector room(const Vector& depth, const Vector& need) const { return words + need <= depth; }
  void push_words(const Vector& pushed) { words += pushed; }
  void pop(const Vector& lanes) { words += lanes; }
};

/// The queues of a core that streams, and those around it, in every lane.
template <class Number>
struct LaneShapes {
  LaneShapes(const RouterParams& router, const QueueParams& queue)
      : LaneShapes(QueueShapes(router), queue) {}

  LaneShape<Number> weights, sums;  // into the core
  LaneShape<Number> up, link;       // into its router, and into the next
  Lanes<Number> out_depth;          // words of an output queue

 private:
  LaneShapes(const QueueShapes& shapes, const QueueParams& queue)
      : weights(shapes.ramp_down(queue.stream())),
        sums(shapes.ramp_down(queue.sums_in())),
        up(shapes.ramp_up()),
        link(shapes.link()),
        out_depth(all_lanes<Number>(QueueShapes::output(queue.sums_out()).capacity)) {}
};

}  // namespace lacuna::wse
