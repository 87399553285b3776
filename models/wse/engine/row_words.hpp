// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The rows next to one, as it finds them in a cycle: the lanes (-1) in which each can take a copy.
template <class Number>
struct NextRows {
  const std::vector<Number>* onward = nullptr;  // away from where words enter
  const std::vector<Number>* back = nullptr;    // of the row where they enter: on its other side
  bool ends = false;                            // onward there is no row
};

/// The words of the streams in a row of routers, all columns at once, as lanes in their order: in
/// the routers' buffers, on their way to the next rows and up the ramps, and in the cores' queues.
/// Rows keep a time of their own, which begins with the first word that can come to them.
template <class Number>
class RowWords {
 public:
  using Vector = Lanes<Number>;

  RowWords(const HardwareParams& params, const StreamingKernel& kernel);

  /// A cycle of a block: words that arrive(), the ramp ports of its routers, which the words of
  /// `sums` share, and copies to the next rows. If there are none, these take all at once.
  template <class Sums>
  void step(std::size_t i, Sums& sums, const NextRows<Number>& next);

  /// True if a copy would meet a closed link in the cycle to be performed next.
  bool meets_closed(const std::vector<Number>& onward) const;
  /// True if a copy onward would meet a shut link in it.
  bool meets_shut() const;
  /// From now on these are those of the last of the rows behind, which have repeated this one so
  /// far.
  void follow();

  /// The lanes that could take a word from the injector in the cycle just performed: -1 or 0.
  const std::vector<Number>& open() const { return open_; }
  /// The lanes from which a copy went onward in this cycle, and back.
  const std::vector<Number>& copied() const { return copied_; }
  const std::vector<Number>& copied_back() const { return copied_back_; }
  /// The lanes in which the row before can send a copy in its next cycle.
  const std::vector<Number>& takes() const { return takes_; }
  /// Adds a word to the buffers of the lanes that are -1 in `lanes`.
  void arrive(const std::vector<Number>& lanes);

  /// Lanes whose router has a word, and whose core has one to take.
  Vector at_router(std::size_t i) const { return blocks_[i].edge > 0; }
  Vector at_core(std::size_t i) const { return blocks_[i].queue.has(); }
  /// Cores take a word; returns the lanes in which it is the command behind a row of weights.
  Vector take(std::size_t i, const Vector& lanes);
  /// They take one that is no command.
  void take_value(std::size_t i, const Vector& lanes);
  /// Lanes that have taken all words of a row but the command.
  Vector all_taken(std::size_t i) const { return blocks_[i].left == Vector{}; }
  /// The row that is taken next has so many words in a lane.
  void begin_row(std::size_t lane, std::uint32_t words) {
    blocks_[lane / kWidth].left[lane % kWidth] = static_cast<Number>(words);
  }

  /// Moves what was counted to `counts`, by lane, before lanes could overflow.
  void flush(std::vector<LaneCounts>& counts);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  // The ways of copies of a head.
  static constexpr std::size_t kOnward = 0;
  static constexpr std::size_t kBack = 1;
  static constexpr std::size_t kToCore = 2;

  /// Flags are -1 or 0.
  struct Block {
    Vector edge{};  // words of the routers' buffers
    LaneCopies<Number, 3> copies;
    Vector zeros{};    // the next word up the ramp is one, which the filter drops
    Vector leaving{};  // a bit for each of the last cycles: its word left; bit 0 is the oldest
    LaneQueue<Number> queue;
    LaneLink<Number> onward_link, back_link;
    Vector left{};  // words of the row that is being taken
    BufferCounts<Vector> counts;
    Vector closures{};
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  Vector leave(Block& b, std::size_t first, const Vector& to_core, const NextRows<Number>& next);
  Vector filter(std::size_t i, const Vector& ramped);
  void look_up_zeros(std::size_t lane);
  void show_before(const Block& b, std::size_t first, const Vector& edge);

  const StreamingKernel& kernel_;
  const LaneShapes<Number> shapes_;
  const LinkRule link_rule_;
  const unsigned hop_;  // cycles
  const Vector left_bit_, entries_;
  std::vector<Block> blocks_;
  std::vector<Number> open_, copied_, copied_back_, takes_;
  std::vector<std::uint32_t> zeros_left_;  // by lane, before its next word that is none,
  std::vector<std::uint32_t> zeros_word_;  // whose number this is; empty without a filter
};

template <class Number>
template <class Sums>
inline void RowWords<Number>::step(std::size_t i, Sums& sums, const NextRows<Number>& next) {
  Block& b = blocks_[i];
  const std::size_t first = i * kWidth;
  b.queue.begin_cycle();
  const Vector head = b.edge > 0;
  const Vector to_core =
      sums.ramp(i, b.copies.wants(kToCore, head) & b.queue.room(shapes_.weights));
  store(&open_[first], b.edge < entries_);
  const Vector left = next.onward == nullptr ? to_core : leave(b, first, to_core, next);
  b.counts.cycle(head, left, [&] { return b.edge; });
  b.edge += left;
  b.queue.push(filter(i, to_core), shapes_.weights);
}

template <class Number>
inline Lanes<Number> RowWords<Number>::take(std::size_t i, const Vector& lanes) {
  Block& b = blocks_[i];
  const Vector command = lanes & (b.left == Vector{});
  b.left += lanes & ~command;
  b.queue.pop(lanes);
  return command;
}

template <class Number>
inline void RowWords<Number>::take_value(std::size_t i, const Vector& lanes) {
  blocks_[i].queue.pop(lanes);
  blocks_[i].left += lanes;
}

/// The copies that go to the rows next to this one; returns the lanes whose word leaves its
/// buffer, because it has gone there and up the ramp (`to_core` now does).
template <class Number>
inline Lanes<Number> RowWords<Number>::leave(Block& b, std::size_t first, const Vector& to_core,
                                             const NextRows<Number>& next) {
  const Vector head = b.edge > 0;
  const Vector wants = b.copies.wants(kOnward, head);
  const Vector room = load(&(*next.onward)[first]);
  // where the row is the last, no link is there that could be shut
  const Vector onward = next.ends ? wants & room : b.onward_link.send(link_rule_, wants, room);
  Vector closed = found_closed(~Vector{}, wants, onward);
  store(&copied_[first], onward);
  b.copies.make(kOnward, onward);
  b.copies.make(kToCore, to_core);
  if (next.back != nullptr) {
    const Vector wants_back = b.copies.wants(kBack, head);
    const Vector back = b.back_link.send(link_rule_, wants_back, load(&(*next.back)[first]));
    closed |= found_closed(~Vector{}, wants_back, back);
    store(&copied_back_[first], back);
    b.copies.make(kBack, back);
  }
  const Vector both = next.back == nullptr ? Vector{} : ~Vector{};
  const Vector left = b.copies.leave(head, {~Vector{}, both, ~Vector{}});
  b.closures -= closed;
  b.leaving = (b.leaving >> 1) | (left & left_bit_);
  show_before(b, first, b.edge + left);
  return left;
}

/// What the row before sees: a slot is free again a link's latency and a cycle after its word left.
template <class Number>
inline void RowWords<Number>::show_before(const Block& b, std::size_t first, const Vector& edge) {
  Vector held = edge;
  Vector leaving = b.leaving;
  for (unsigned hop = 0; hop < hop_; ++hop) held += (leaving >>= 1) & all(1);
  store(&takes_[first], held < shapes_.link.capacity);
}

/// Of the words that have had the ramp those that the filter passes on.
template <class Number>
inline Lanes<Number> RowWords<Number>::filter(std::size_t i, const Vector& ramped) {
  if (zeros_left_.empty()) return ramped;
  const Vector passed = ramped & ~blocks_[i].zeros;
  for_each_lane<Number>(ramped, [&](unsigned at) {
    const std::size_t lane = i * kWidth + at;
    if (zeros_left_[lane] == 0) {
      ++zeros_word_[lane];
      look_up_zeros(lane);
    } else if (--zeros_left_[lane] == 0) {
      blocks_[i].zeros[at] = 0;
    }
  });
  return passed;
}

}  // namespace lacuna::wse
