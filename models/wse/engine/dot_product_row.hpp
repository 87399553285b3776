// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/core_row.hpp"
#include "models/wse/engine/routed_reduction.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/gradient_control.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// One row of a weight gradient until its chain could begin: its stream, the ring of dY and the dot
/// products, in the cycles of GradientCores and RouterArray.
template <class NumberOf>
class DotProductRow
    : public CoreRow<DotProductRow<NumberOf>, CoreBlock<NumberOf, GradientState<NumberOf>>,
                     RoutedReduction<NumberOf, false>> {
 public:
  using Number = NumberOf;

  /// Row `row` of `program`. Both have to outlive it.
  DotProductRow(const HardwareParams& params, const Program& program, const SumStreams& shared,
                std::uint32_t row);

  /// Performs a cycle, of the words that are there.
  void step(Cycle now, const NextRows<Number>& next);

  /// The lanes whose chain could begin so far, in time.
  const std::vector<std::uint32_t>& ready() const { return ready_; }
  /// False if indices were on their way to the next row when the chain could begin.
  bool copied_in_time() const { return copied_in_time_; }

  /// The chain could begin in all lanes.
  bool finished() const { return ready_.size() == columns_; }

 private:
  using Base = CoreRow<DotProductRow, CoreBlock<Number, GradientState<Number>>,
                       RoutedReduction<Number, false>>;
  friend Base;
  using Base::blocks_, Base::columns_, Base::counts_, Base::kernel_, Base::kWidth, Base::sums_;
  using Base::may_begin, Base::has_word, Base::moved_, Base::words_;
  using Vector = Lanes<Number>;

  void step_cores(std::size_t i, Cycle now);

  // What GradientControl asks for; a place is a block.
  using Control = GradientControl<Number, DotProductRow>;
  friend Control;
  Vector take_word(std::size_t place, const Vector& lanes) { return words_.take(place, lanes); }
  static void start(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void advance(GradientState<Number>& core, std::size_t place, const Vector& take,
               const Vector& sent, const Vector& close);
  Vector has_ring(std::size_t place, const Vector& need) const { return sums_.fed(place, need); }
  Vector ring_room(std::size_t place, const Vector& need) const { return sums_.room(place, need); }
  static Vector has_chain(std::size_t /*place*/) { return Vector{}; }
  static Vector chain_room(std::size_t /*place*/) { return Vector{}; }
  Vector ring_left(std::size_t place) const { return sums_.all_sent(place); }
  void streamed(std::size_t place, const Vector& lanes);
  void move(std::size_t place, const Vector& /*take*/, const Vector& take_words,
            const Vector& /*send*/, const Vector& send_words, const Vector& /*chain*/) {
    sums_.take(place, take_words, send_words);
  }
  static void progress(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void ended(std::size_t place, const Vector& lanes);

  const Control control_;
  Cycle now_ = 0;  // the cycle being performed
  bool copied_in_time_ = true;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> after_;  // by lane, the next on its ring
  std::vector<GradientTurns> turns_;
};

}  // namespace lacuna::wse
