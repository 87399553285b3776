// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/core_row.hpp"
#include "models/wse/engine/row_values.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/stream_control.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "models/wse/row_marks.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// kWidth neighbouring columns of a product.
template <class Number>
struct StreamBlock : CoreBlock<Number, StreamState<Number>> {
  using Vector = Lanes<Number>;

  Vector last_beats{};                 // of the row of weights that is being taken
  Vector scalar{};                     // cycles in conflict of beats of the main thread
  Vector fma{}, sums{};                // beats, if they are counted,
  Vector stream_words{}, sum_words{};  // and words
};

/// One row of a weight-streaming product, in the cycles of StreamingCores. `Number` holds every
/// count and every latency of the program.
template <class NumberOf, class Sums>
class StreamingRow : public CoreRow<StreamingRow<NumberOf, Sums>, StreamBlock<NumberOf>, Sums> {
 public:
  using Number = NumberOf;

  /// Row `row` of `program`. Both have to outlive it.
  StreamingRow(const HardwareParams& params, const Program& program, const SumStreams& shared,
               std::uint32_t row);

  /// From now on `values`, of the same row, is told what the cores do; it outlives this.
  void carry(RowValues& values) { values_ = &values; }

  /// From now on, from cycle 0, beats are counted as they are issued.
  void count_beats() { counts_beats_ = true; }

  /// Performs a cycle, of the words that are there.
  void step(Cycle now, const NextRows<Number>& next);

  bool finished() const { return finished_ == columns_ && quiet_; }
  /// The first cycle after the last word that no core took has left a bus.
  Cycle end() const { return end_; }
  /// What the cores have counted, if beats are counted.
  RowMark mark();

 private:
  using Block = StreamBlock<Number>;
  using Base = CoreRow<StreamingRow, Block, Sums>;
  friend Base;
  using Base::blocks_, Base::columns_, Base::counts_, Base::kernel_, Base::kWidth, Base::sums_;
  using Base::column, Base::lanes_of, Base::moved_, Base::words_;
  using Base::has_word, Base::may_begin;
  using Vector = Lanes<Number>;

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  void place_columns();
  Number rest(std::uint32_t count) const;
  void step_cores(std::size_t i, Cycle now);
  void end_cycle(Cycle now);
  void take_counts(std::size_t i);
  void take_soon(std::size_t i);

  // What StreamControl asks for; a place is a block.
  using Control = StreamControl<Number, StreamingRow, Sums::kExchanges>;
  friend Control;
  Vector take_word(std::size_t place, const Vector& lanes) {
    if (counts_beats_) blocks_[place].stream_words -= lanes;
    return words_.take(place, lanes);
  }
  void take_value(std::size_t place, const Vector& lanes) {
    if (counts_beats_) blocks_[place].stream_words -= lanes;
    words_.take_value(place, lanes);
  }
  Vector start(std::size_t place, const Vector& lanes);
  void look_up(StreamState<Number>& core, std::size_t place, const Vector& load,
               const Vector& close);
  Vector fed(std::size_t place, const Vector& need) const { return sums_.fed(place, need); }
  Vector room(std::size_t place, const Vector& need) const { return sums_.room(place, need); }
  Vector gathers(std::size_t place) const { return sums_.gathers(place); }
  void take_sums(std::size_t place, const Vector& words, const Vector& lanes);
  Vector finish(std::size_t place, const Vector& lanes) { return sums_.finish(place, lanes); }
  // Templates, so that there are none of sums without buses.
  template <class State>
  void begin_packets(State& state, std::size_t place, const Vector& send, const Vector& take) {
    sums_.buses().begin_packets(state, place, send, take);
  }
  template <class Need>
  Vector packet_room(std::size_t place, const Need& need) const {
    return sums_.buses().packet_room(place, need);
  }
  template <class Need>
  Vector packet_fed(std::size_t place, const Need& need) const {
    return sums_.buses().packet_fed(place, need);
  }
  template <class Words>
  void send_packet(std::size_t place, const Words& words, const Vector& /*lanes*/) {
    sums_.buses().send_packet(place, words);
  }
  template <class Words>
  void take_packet(std::size_t place, const Words& words, const Vector& /*lanes*/) {
    sums_.buses().take_packet(place, words);
  }
  template <class State>
  void kept(State& state, std::size_t place, const Vector& lanes) {
    for_each_lane<Number>(lanes, [&](unsigned i) {
      const std::size_t lane = place * kWidth + i;
      sums_.buses().kept(state, lane, sums_.keeps(lane));
    });
  }

  Vector start_held(std::size_t place, const Vector& lanes);
  void end_lanes(const Vector& ended, std::size_t first, Cycle now);

  const std::size_t row_;
  std::uint32_t vector_beats_;  // of an instruction
  const Control control_;
  bool counts_beats_ = false;
  std::size_t finished_ = 0;
  bool quiet_ = true;  // no word is left on a bus, once all have finished
  Cycle end_ = 0;
  std::vector<std::size_t> next_word_;      // by lane, of elements held one by one
  std::vector<std::uint32_t> main_step_;    // by lane
  std::vector<std::uint32_t> reduce_step_;  // by lane
  RowValues* values_ = nullptr;
};

}  // namespace lacuna::wse
