// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// A closed form: the chains of a weight gradient whose dot products are kept, all rows, once
/// stream and ring are done. A word is at any place of its column in the cycle in which it would be
/// there if nothing were full, or so long after an earlier word left the wafer as the room takes to
/// come up from there, whichever is later; so only what leaves is simulated.
/// doc/model/wafer_gradient.md has the proof. Latencies and capacities are those of QueueShapes. It
/// applies where each place of a column passes a word in every cycle: to kept dot products of cores
/// that begin with their stream, with links that are alike and never shut and two entries in every
/// queue (flows()), if no row's core is still at work when the chain reaches it. fold_gradient()
/// refuses all else, before it begins or, of the last, once it is seen.
class GradientDrain {
 public:
  /// Whether words pass routers and queues without a stall unless something is full.
  static bool flows(const HardwareParams& params) {
    return QueueShapes(params.router).flows() && params.queue.sums_in() >= 2 &&
           params.queue.sums_out() >= 2;
  }
  /// From a beat of the chain to that of the row below which takes its word.
  static Cycle latency(const HardwareParams& params) {
    const QueueShapes shapes(params.router);
    return 1 + shapes.ramp_up().latency + shapes.link().latency + shapes.ramp_down(1).latency;
  }

  /// `words`: by lane, the dot products of a core. The program has to outlive it.
  GradientDrain(const HardwareParams& params, const Program& program,
                const std::vector<std::uint64_t>& words);

  /// From cycle `at` on a lane of the top row can issue.
  void begin(std::uint32_t lane, Cycle at);

  /// Lets words leave that are at the edge in cycle `now`: one of each column that has one, from
  /// column (cycle mod columns) on, while `pay()` is true. Returns whether one left.
  template <class Pay>
  bool leave(Cycle now, const Pay& pay);

  /// Words that have not left.
  std::uint64_t inside() const { return inside_; }

  /// Adds what a row counted to what it had counted when its lanes could begin.
  void add_to(std::uint32_t row, std::vector<LaneCounts>& counts) const;
  /// Adds how long words of the chain stood in its routers.
  void add_stalls(std::uint32_t row, RouterCounters* routers) const;

 private:
  struct Column {
    std::uint64_t words = 0;
    Cycle begin = 0;
    Cycle next = kNever;      // when the next word is at the edge
    std::vector<Cycle> left;  // when each word left
  };
  /// A place in a column through which one word passes in a cycle: so many places before the edge,
  /// behind so many words that there is room for, and so long after the top row's first beat.
  struct Place {
    std::uint64_t before = 0;
    std::uint64_t behind = 0;
    Cycle flow = 0;
  };

  void let_go(Column& column, Cycle now);
  Cycle arrival(const Column& column, std::uint64_t word) const;
  static Cycle delay(const Column& column, const Place& place);

  /// The port to the south, the beat that takes a word, and the router that has it before.
  struct Places {
    Place south, beat, north;
  };
  Places places_of(std::uint32_t row) const;

  const Program& program_;
  Cycle ramp_, ramp_down_, hop_, latency_;
  std::uint64_t link_, up_, queue_, down_;  // words there is room for: a link, a ramp up, ...
  std::vector<Column> columns_;             // by lane
  std::uint64_t inside_ = 0;
};

template <class Pay>
bool GradientDrain::leave(Cycle now, const Pay& pay) {
  const std::uint64_t before = inside_;
  std::size_t column = now % columns_.size();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& mine = columns_[column];
    if (++column == columns_.size()) column = 0;
    if (mine.next > now) continue;
    if (!pay()) break;
    let_go(mine, now);
  }
  return inside_ != before;
}

}  // namespace lacuna::wse
