// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/sum_streams.hpp"

namespace lacuna::wse {

/// Calls `visit` with the number of each bit that is set.
template <class Bits, class Visit>
void for_each_bit(Bits set, const Visit& visit) {
  for (; set != 0; set &= set - 1) visit(static_cast<unsigned>(__builtin_ctzll(set)));
}

/// Nothing else asks for the ports of the routers.
template <class Number>
struct NothingBeside {
  static void ask_port(std::size_t /*i*/, bool /*east*/, const LanePort<Number>& /*port*/,
                       const Lanes<Number>& /*open*/, LaneContest<Number>& /*asks*/) {}
  static void take_port(std::size_t /*i*/, bool /*east*/, LanePort<Number>& /*port*/,
                        const LaneContest<Number>& /*asks*/) {}
};

/// SumStreams at the routers of a row, as lanes in the order of columns: their words compete for
/// the ports to the neighbours, and come to these. A Part is a LaneStream and what the core has of
/// it. Sets of streams have a bit for each.
template <class Number, class Part>
class LaneStreams {
 public:
  using Vector = Lanes<Number>;

  LaneStreams(const RouterParams& router, const LaneShape<Number>& link, const SumStreams& shared,
              std::size_t columns)
      : rule_(router),
        link_rule_(router),
        link_(link),
        count_(shared.streams.size()),
        eastern_((std::uint32_t{1} << shared.eastern) - 1),
        blocks_(whole_blocks<Number>(columns) / kWidth, Block{}),
        parts_(blocks_.size() * count_, Part{}),
        borders_(count_, LaneBorder<Number>(blocks_.size() * kWidth, 1)) {
    for (std::size_t lane = 0; lane < columns; ++lane) {
      for (std::size_t s = 0; s < count_; ++s) {
        of(lane / kWidth)[s].place(lane % kWidth, shared.streams[s].lanes[lane]);
      }
    }
  }

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t count() const { return count_; }
  std::uint32_t eastern() const { return eastern_; }
  Part* of(std::size_t i) { return parts_.data() + i * count_; }
  const Part* of(std::size_t i) const { return parts_.data() + i * count_; }

  /// The links out of a block that are not shut. To be asked once in a cycle.
  struct Open {
    Vector east, west;
  };
  Open open(std::size_t i) {
    return {blocks_[i].east_link.open(link_rule_), blocks_[i].west_link.open(link_rule_)};
  }

  /// The ports to the neighbours, for which `streams` and what is `beside` compete. All of these
  /// have their words let go here.
  template <class Beside>
  void pass(std::size_t i, std::uint32_t streams, const Open& open, Beside& beside) {
    pass(i, streams & eastern_, true, open.east, beside);
    pass(i, streams & ~eastern_, false, open.west, beside);
  }

  /// Words come from the neighbours, a lane away, once all blocks have passed theirs. Calls `visit`
  /// with each of `streams` and the lanes that have sent a word of it.
  template <class Visit>
  void arrive(std::size_t i, std::uint32_t streams, const Visit& visit) {
    for_each_bit(streams, [&](unsigned s) {
      LaneBorder<Number>& border = borders_[s];
      LaneBuffer<Number>& in = of(i)[s].in;
      const std::size_t first = i * kWidth;
      const bool east = (eastern_ >> s & 1U) != 0;
      in.push(east ? border.sent_before(first, 1) : border.sent_after(first, 1), link_);
      border.show(first, in.room(link_));
      visit(s, border.sent_after(first, 0));
    });
  }

  /// Calls `visit` with each stream and block, and its buffers of words from the neighbour and from
  /// the core, the counts of which are forgotten then.
  template <class Visit>
  void take_counts(const Visit& visit) {
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      Part& part = parts_[at];
      visit(at % count_, at / count_, part.in, part.up);
      forget(part.in.counts);
      forget(part.up.counts);
    }
  }

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    LanePort<Number> east, west;
    LaneLink<Number> east_link, west_link;
  };

  template <class Beside>
  void pass(std::size_t i, std::uint32_t streams, bool east, const Vector& open, Beside& beside) {
    Part* const parts = of(i);
    Block& b = blocks_[i];
    LanePort<Number>& port = east ? b.east : b.west;
    const std::size_t first = i * kWidth;
    LaneContest<Number> asks;
    for_each_bit(streams, [&](unsigned s) {
      const Vector room =
          open & (east ? borders_[s].room_after(first, 1) : borders_[s].room_before(first, 1));
      parts[s].ask(port, rule_, room, asks);
    });
    beside.ask_port(i, east, port, open, asks);
    (east ? b.east_link : b.west_link).sent(link_rule_, asks.granted());
    for_each_bit(streams, [&](unsigned s) {
      parts[s].leave(asks, rule_, first, port, borders_[s]);
      parts[s].taken = Vector{};
    });
    beside.take_port(i, east, port, asks);
  }

  ArbiterRule rule_;
  LinkRule link_rule_;
  LaneShape<Number> link_;
  std::size_t count_;
  std::uint32_t eastern_;
  std::vector<Block> blocks_;
  std::vector<Part> parts_;                  // by block and stream
  std::vector<LaneBorder<Number>> borders_;  // by stream
};

}  // namespace lacuna::wse
