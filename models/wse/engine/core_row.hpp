// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/engine/row_words.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_waits.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// kWidth neighbouring cores of a row, and what they have counted since it was taken from here.
template <class NumberOf, class State>
struct CoreBlock {
  using Number = NumberOf;

  State core;
  CoreWaits<Number> waited;  // cycles
  Lanes<Number> in_use{};    // vectors times cycles
};

/// A row of cores that take a stream, all columns at once: the state of cores and RouterArray as
/// small integers in lanes. It does in one pass what those do unit by unit, in the same cycles. A
/// Block is a CoreBlock and what else a Row has of it; `Sums`, a RoutedReduction, has the way of
/// the words that cores send. The Row derives from this and has step_cores(i, now), a cycle of a
/// block's cores, step(), which is perform(), and if need be
///   end_cycle(now)    once all words have moved
///   take_counts(i)    what else a block has counted is added to counts_ and forgotten,
///   take_soon(i)      and what of it is soon too much for a lane
template <class Row, class Block, class Sums>
class CoreRow {
 public:
  using Number = typename Block::Number;
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr Number kMost = std::numeric_limits<Number>::max();

  RowWords<Number>& words() { return words_; }
  const RowWords<Number>& words() const { return words_; }
  /// True if a beat was issued in the cycle just performed.
  bool moved() const { return moved_; }

  const std::vector<LaneCounts>& counts() {
    flush();
    flush_in_use();
    for (std::size_t lane = 0; lane < columns_; ++lane) counts_[lane].in_use = in_use_[lane];
    return counts_;
  }
  /// Adds to the routers of a row, by column, what was counted of their buffers.
  void add_counts(const Program& program, RouterCounters* routers) {
    sums_.add_counts(program, routers);
  }

 protected:
  using Vector = Lanes<Number>;

  CoreRow(const HardwareParams& params, const Program& program, const SumStreams& shared)
      : kernel_(program.kernel),
        columns_(program.columns),
        sums_(params, shared),
        words_(params, kernel_),
        in_use_cycles_(
            static_cast<unsigned>(kMost) /
            std::max<unsigned>({2U, kernel_.lookahead, params.core.fabric_words_per_issue})),
        blocks_(whole_blocks<Number>(columns_) / kWidth, Block{}),
        counts_(columns_),
        in_use_(blocks_.size() * kWidth, 0) {}

  /// A cycle. A Row calls it where its own step_cores() can be seen.
  void perform(Cycle now, const NextRows<Number>& next) {
    moved_ = false;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      words_.step(i, sums_, next);
      row().step_cores(i, now);
    }
    sums_.end_cycle();
    row().end_cycle(now);
    if (++unflushed_ == static_cast<unsigned>(kMost)) flush();
    if (++unflushed_in_use_ == in_use_cycles_) flush_in_use();
  }

  static std::uint32_t column(std::size_t place, unsigned i) {
    return static_cast<std::uint32_t>(place * kWidth + i);
  }
  std::size_t lanes_of(std::size_t i) const {
    return std::min<std::size_t>(kWidth, columns_ - i * kWidth);
  }

  // Of what the control of a core asks for; a place is a block.
  Vector has_word(std::size_t place) const { return words_.at_core(place); }
  static Vector may_begin(std::size_t /*place*/) { return ~Vector{}; }

  void end_cycle(Cycle /*now*/) {}
  void take_counts(std::size_t /*i*/) {}
  void take_soon(std::size_t /*i*/) {}

  const StreamingKernel& kernel_;
  std::size_t columns_;
  Sums sums_;
  RowWords<Number> words_;
  bool moved_ = false;
  unsigned unflushed_ = 0;  // cycles since flush(), and since flush_in_use()
  unsigned unflushed_in_use_ = 0;
  unsigned in_use_cycles_;  // after so many cycles a lane's vectors in use could overflow
  std::vector<Block> blocks_;
  std::vector<LaneCounts> counts_;     // by lane
  std::vector<std::uint64_t> in_use_;  // by lane

 private:
  Row& row() { return static_cast<Row&>(*this); }

  /// Before the lanes could overflow.
  void flush() {
    unflushed_ = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& b = blocks_[i];
      for (std::size_t lane = 0; lane < lanes_of(i); ++lane) {
        counts_[i * kWidth + lane].add(b.waited, lane);
      }
      b.waited = CoreWaits<Number>{};
      row().take_counts(i);
    }
    words_.flush(counts_);
    sums_.flush();
  }
  void flush_in_use() {
    unflushed_in_use_ = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& b = blocks_[i];
      for (unsigned lane = 0; lane < kWidth; ++lane) {
        in_use_[i * kWidth + lane] += static_cast<std::uint64_t>(b.in_use[lane]);
      }
      b.in_use = Vector{};
      row().take_soon(i);
    }
  }
};

}  // namespace lacuna::wse
