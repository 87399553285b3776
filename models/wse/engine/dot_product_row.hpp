// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/engine/routed_reduction.hpp"
#include "models/wse/engine/row_words.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/gradient_control.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// One row of a weight gradient, all columns at once, until its chain could begin: its stream, the
/// ring of dY and the dot products, in the cycles of GradientCores and RouterArray.
template <class NumberOf>
class DotProductRow {
 public:
  using Number = NumberOf;

  /// Row `row` of `program`. Both have to outlive it.
  DotProductRow(const HardwareParams& params, const Program& program, const SumStreams& shared,
                std::uint32_t row);

  /// Performs a cycle, of the words that are there.
  void step(Cycle now, const NextRows<Number>& next);

  RowWords<Number>& words() { return words_; }
  const RowWords<Number>& words() const { return words_; }

  /// The lanes whose chain could begin so far, in time.
  const std::vector<std::uint32_t>& ready() const { return ready_; }
  /// False if indices were on their way to the next row when the chain could begin.
  bool copied_in_time() const { return copied_in_time_; }

  /// True if a beat was issued in the cycle just performed.
  bool moved() const { return moved_; }
  /// The chain could begin in all lanes.
  bool finished() const { return ready_.size() == columns_; }
  const std::vector<LaneCounts>& counts();
  /// Adds to the routers of a row, by column, how long dY stood there.
  void add_stalls(const Program& program, RouterCounters* routers) {
    rings_.add_stalls(program, routers);
  }

  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

 private:
  using Vector = Lanes<Number>;

  struct Block {
    GradientState<Number> core;
    CoreWaits<Number> waited;  // cycles
    Vector in_use{};
  };
  void step_block(std::size_t i, Cycle now, const NextRows<Number>& next);
  void flush();

  // What GradientControl asks for; a place is a block.
  using Control = GradientControl<Number, DotProductRow>;
  friend Control;
  Vector has_word(std::size_t place) const { return words_.at_core(place); }
  static Vector may_begin(std::size_t /*place*/) { return ~Vector{}; }
  Vector take_word(std::size_t place, const Vector& lanes) { return words_.take(place, lanes); }
  static void start(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void advance(GradientState<Number>& core, std::size_t place, const Vector& take,
               const Vector& sent, const Vector& close);
  Vector has_ring(std::size_t place, const Vector& need) const { return rings_.fed(place, need); }
  Vector ring_room(std::size_t place, const Vector& need) const { return rings_.room(place, need); }
  static Vector has_chain(std::size_t /*place*/) { return Vector{}; }
  static Vector chain_room(std::size_t /*place*/) { return Vector{}; }
  Vector ring_left(std::size_t place) const { return rings_.all_sent(place); }
  void streamed(std::size_t place, const Vector& lanes);
  void move(std::size_t place, const Vector& /*take*/, const Vector& take_words,
            const Vector& /*send*/, const Vector& send_words, const Vector& /*chain*/) {
    rings_.take(place, take_words, send_words);
  }
  static void progress(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void ended(std::size_t place, const Vector& lanes);

  const StreamingKernel& kernel_;
  std::size_t columns_;
  RoutedReduction<Number, false> rings_;
  RowWords<Number> words_;
  const Control control_;
  Cycle now_ = 0;  // the cycle being performed
  unsigned unflushed_ = 0;
  unsigned flush_after_;  // cycles after which a count could overflow
  bool moved_ = false;
  bool copied_in_time_ = true;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> after_;  // by lane, the next on its ring
  std::vector<GradientTurns> turns_;
  std::vector<LaneCounts> counts_;
};

}  // namespace lacuna::wse
