// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/gradient_row.hpp"
#include "models/wse/lane_limits.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// The chains of a weight gradient whose dot products are kept: all rows, once stream and ring are
/// done. Every row repeats the one above, latency() cycles later, for as long as the edge takes
/// what comes; so one row is simulated, as the last. Where a word would find a buffer full, the row
/// gets a state of its own, and the row above is the last of those that are alike.
template <class Number>
class GradientDrain {
 public:
  /// Whether words pass routers and queues without a stall unless something is full.
  static bool flows(const HardwareParams& params) {
    return params.router.entries >= 2 && params.queue.ring_in >= 2;
  }
  /// From a beat of the chain to that of the row below which takes its word.
  static Cycle latency(const HardwareParams& params) {
    return 1 + 2 * Cycle{params.router.ramp} + params.router.hop;
  }

  /// `words`: by lane, the dot products of a core.
  GradientDrain(const HardwareParams& params, const Program& program,
                std::vector<std::uint64_t> words);

  /// From cycle `at` on, the present one, a lane of the top row can issue.
  void begin(std::uint32_t lane, Cycle at);

  /// Performs a cycle of all rows.
  void step(Cycle now);

  /// Then lets words leave that are at the edge: one of each column that has one, from column
  /// (cycle mod columns) on, while `pay()` is true. Returns whether one left.
  template <class Pay>
  bool leave(Cycle now, const Pay& pay);

  /// Words that have not left.
  std::uint64_t inside() const { return inside_; }

  /// Adds what a row counted to what it had counted when its lanes could begin.
  void add_to(std::uint32_t row, std::vector<GradientLaneCounts>& counts);

  /// Rows that did things of their own.
  std::size_t apart() const { return apart_.size(); }

 private:
  using Vector = Lanes<Number>;
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr std::uint32_t kChunk = 100;  // words a lane counts down by itself

  /// kWidth lanes: the entry from the north, the core's queue, its output queue, the way out of it.
  struct Block {
    Vector e_count, e_seen, e_flight, e_freed;
    Vector c_count, c_seen, c_flight;
    Vector queue;
    Vector v_count, v_seen, v_flight;
    Vector left, issued;
    Vector ring_out, stall_north, stall_south;
    Vector held_out, held_north, held_south;  // what is counted in each cycle in which it rests
    std::uint8_t rested = 0;                  // cycles that are not counted yet
    bool rests = false;  // nothing moves until a word comes or there is room below
  };
  struct Counts {
    std::uint64_t ring_out = 0, stall_north = 0, stall_south = 0;
    Cycle end = 0;
  };
  struct Row {
    bool first = false;
    std::vector<Block> blocks;
    std::vector<std::uint64_t> rest;  // words after the chunk, by lane
    std::vector<Counts> counts;
    unsigned unflushed = 0;
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  static void arrivals(Vector& seen, Vector& flight) {
    seen += flight & all(1);
    flight >>= 1;
  }
  Row empty_row() const;
  void step(Row& row, std::vector<Block>* below, Cycle now);
  void step_block(Block& b, Block& below, bool first);
  bool goes_on_resting(Block& b, const Block& below) const;
  void wake(Block& b) const;
  void take_up(Row& row, std::size_t lane) const;
  void end_lanes(Row& row, std::size_t first, const Vector& ended, Cycle now);
  void activate(Cycle local);
  bool meets_closed(const std::vector<Block>& below) const;
  void split(Cycle now);
  void flush(Row& row) const;
  std::vector<Block>& below_alike() { return apart_.empty() ? edge_.blocks : apart_.back().blocks; }
  bool anything_leaves() const;

  std::size_t columns_;
  std::uint32_t rows_;
  Cycle latency_;
  unsigned ramp_, hop_;
  LaneLimits<Number> limits_;
  struct Start {
    std::uint32_t lane = 0;
    Cycle at = 0;
  };
  std::vector<std::uint64_t> words_;  // by lane
  std::vector<Start> starts_;         // in time
  std::size_t begun_ = 0;             // of them, in the rows that are alike
  Row alike_;                         // as its last row
  std::uint32_t last_alike_;
  std::vector<Row> apart_;  // from the south
  Row edge_;                // of which only the entry is used
  std::vector<Block> nowhere_;
  std::uint64_t inside_ = 0;  // words that have not left
};

template <class Number>
template <class Pay>
bool GradientDrain<Number>::leave(Cycle now, const Pay& pay) {
  if (!anything_leaves()) return false;
  const std::uint64_t before = inside_;
  std::size_t column = now % columns_;
  for (std::size_t i = 0; i < columns_; ++i) {
    const std::size_t lane = GradientLanes::lane_of(column, columns_);
    if (++column == columns_) column = 0;
    Block& entry = edge_.blocks[lane / kWidth];
    const std::size_t at = lane % kWidth;
    if (entry.e_seen[at] == 0) continue;
    if (!pay()) break;
    entry.e_seen[at] = static_cast<Number>(entry.e_seen[at] - 1);
    entry.e_count[at] = static_cast<Number>(entry.e_count[at] - 1);
    --inside_;
  }
  return inside_ != before;
}

}  // namespace lacuna::wse
