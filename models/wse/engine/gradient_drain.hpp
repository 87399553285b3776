// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/tokens.hpp"
#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// A closed form for each word instead of cycles: the chains of a weight gradient whose dot
/// products are kept, all rows, once stream and ring are done. Of each word it is known when it
/// passes each place of its column: when it is there, the word before has passed, a shut link is
/// open again and there is room behind the place, whichever is last. So only what leaves is
/// simulated. Latencies and capacities are those of QueueShapes. It applies to kept dot products of
/// cores that begin with their stream, if no row's core is still at work and no link shut when the
/// chain reaches it. fold_gradient() refuses all else, before it begins or, of cores at work, once
/// it is seen.
class GradientDrain {
 public:
  /// `words`: by lane, the dot products of a core. The program has to outlive it.
  GradientDrain(const HardwareParams& params, const Program& program,
                const std::vector<std::uint64_t>& words);

  /// From cycle `at` on a lane of the top row can issue.
  void begin(std::uint32_t lane, Cycle at);

  /// Lets words leave that are at the edge in cycle `now`: one of each column that has one, from
  /// column (cycle mod columns) on, while `pay()` is true. Returns whether one left.
  template <class Pay>
  bool leave(Cycle now, const Pay& pay);

  /// From a beat of the chain to that of the row below which takes its word.
  Cycle latency() const {
    return 1 + shapes_.ramp_up().latency + shapes_.link().latency + shapes_.ramp_down(1).latency;
  }
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
  /// A place of a column, of whose words the last are known, as many as there is room for behind
  /// it: where among a column's times stand, from the first row on, that of a word, and, before it
  /// is known, that of the word whose room it takes; and that of the word before it.
  struct Slot {
    std::size_t at = 0, before = 0;
  };
  struct Place {
    std::size_t first = 0, words = 0, rows = 0;

    Slot slot(std::uint64_t word) const {
      return {(first + word % words) * rows, (first + (word + words - 1) % words) * rows};
    }
  };
  /// How long words stood at the port to the south, before a beat, and at the ramp down.
  struct Waited {
    Cycle south = 0, beat = 0, north = 0;
  };

  void let_go(std::size_t lane, Cycle now);
  Cycle arrival(std::size_t lane, std::uint64_t word);
  Cycle pause(const Column& column, bool last, std::uint64_t word) const;

  const Program& program_;
  const LinkRule link_rule_;
  const QueueShapes shapes_;
  std::size_t slots_ = 0;
  Place north_, beat_, south_;
  std::vector<Column> columns_;  // by lane
  std::vector<Cycle> times_;     // by lane, slot and row; 0 of words that there are not
  std::vector<Waited> waited_;   // by lane and row
  std::uint64_t inside_ = 0;
};

template <class Pay>
bool GradientDrain::leave(Cycle now, const Pay& pay) {
  const std::uint64_t before = inside_;
  ask_in_turn(now, columns_.size(), [&](std::size_t column) {
    if (columns_[column].next > now) return true;
    const bool pays = pay();
    if (pays) let_go(column, now);
    return pays;
  });
  return inside_ != before;
}

}  // namespace lacuna::wse
