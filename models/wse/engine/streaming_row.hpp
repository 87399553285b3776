// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/engine/row_values.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/stream_control.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "models/wse/row_marks.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What a lane of a StreamingRow counted.
struct LaneCounts {
  std::uint64_t fma = 0;  // and sums: if beats are counted
  std::uint64_t sums = 0;
  std::uint64_t stream_words = 0;  // taken, and of reductions; likewise
  std::uint64_t sum_words = 0;
  std::uint64_t dispatch = 0;
  std::uint64_t weights = 0;  // cycles without a wavelet
  std::uint64_t ring_in = 0;
  std::uint64_t ring_out = 0;
  std::uint64_t buffer = 0;
  std::uint64_t in_use = 0;
  std::uint64_t conflict = 0;
  std::uint64_t scalar = 0;  // and elements, of those that are held one by one
  std::uint64_t elements = 0;
  std::uint64_t residual = 0;
  std::uint64_t beside = 0;
  std::uint64_t stall_weights = 0;  // of the router at the ramp, by the head of its buffer
  std::uint64_t closures = 0;       // of them, those that found the link to another row closed
  StreamCounts tallies{};
  Cycle end = 0;
};

/// The rows next to one, as it finds them in a cycle: the lanes (-1) in which each can take a copy.
template <class Number>
struct NextRows {
  const std::vector<Number>* onward = nullptr;  // away from where words enter
  const std::vector<Number>* back = nullptr;    // of the row where they enter: on its other side
  bool ends = false;                            // onward there is no row
};

/// One row of a weight-streaming product, all columns at once: the state of StreamingCores and
/// RouterArray as small integers in lanes. It does in one pass what those do unit by unit, in the
/// same cycles. `Number` holds every count and every latency of the program; `Sums`, a RoutedSums,
/// has the way of the partial sums.
template <class Number, class Sums>
class StreamingRow {
 public:
  /// `shared` has to outlive the row, which is `row` of the wafer if its cores hold elements one by
  /// one.
  StreamingRow(const HardwareParams& params, const SumStreams& shared, std::uint32_t tokens,
               std::uint32_t row = 0);

  /// From now on `values`, of the same row, is told what the cores do; it outlives this.
  void carry(RowValues& values) { values_ = &values; }

  /// From now on, from cycle 0, beats are counted as they are issued.
  void count_beats() { counts_beats_ = true; }

  /// Performs a cycle, of the words that arrive() put there before. The row is alone: next to it,
  /// if anything, are rows that take every copy at once.
  void step(Cycle now) { step(now, NextRows<Number>{}); }

  /// Performs a cycle of a row with neighbours.
  void step(Cycle now, const NextRows<Number>& next);

  /// True if a copy would meet a closed link in the cycle to be performed next.
  bool meets_closed(const std::vector<Number>& onward) const;

  /// True if a copy onward would meet a shut link in the cycle to be performed next.
  bool meets_shut() const;

  /// The last of the rows behind that have repeated this one so far, a hop later each.
  StreamingRow follower() const;

  /// The lanes that could take a word from the injector in the cycle just performed: -1 or 0.
  const std::vector<Number>& open() const { return open_; }
  /// The lanes from which a copy went onward in this cycle, and back.
  const std::vector<Number>& copied() const { return copied_; }
  const std::vector<Number>& copied_back() const { return copied_back_; }
  /// The lanes in which the row before can send a copy in its next cycle.
  const std::vector<Number>& takes() const { return takes_; }

  /// Adds a word to the buffers of the lanes that are -1 in `lanes`.
  void arrive(const std::vector<Number>& lanes);

  std::size_t lanes() const { return columns_; }

  /// True if a beat was issued in the cycle just performed.
  bool moved() const { return moved_; }

  bool finished() const { return finished_ == columns_ && quiet_; }
  /// The first cycle after the last word that no core took has left a bus.
  Cycle end() const { return end_; }
  const std::vector<LaneCounts>& counts();
  /// What the cores have counted, if beats are counted.
  RowMark mark();
  /// Adds to the routers of a row, by column, how long partial sums stood there.
  void add_stalls(const Program& program, RouterCounters* routers) {
    sums_.add_stalls(program, routers);
  }

  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr Number kMost = std::numeric_limits<Number>::max();

 private:
  using Vector = Lanes<Number>;

  /// What kWidth neighbouring columns have counted since it was taken from here.
  struct Counts {
    StreamWaits<Number> waited;  // cycles
    Vector scalar{};             // of those in conflict, of beats of the main thread
    Vector in_use{};
    Vector stall_weights{}, closures{};
    Vector fma{}, sums{};                // beats, if they are counted,
    Vector stream_words{}, sum_words{};  // and words
  };

  // The ways of copies of a head.
  static constexpr std::size_t kOnward = 0;
  static constexpr std::size_t kBack = 1;
  static constexpr std::size_t kToCore = 2;

  /// Their state. Flags are -1 or 0.
  struct Block {
    Vector edge{};
    LaneCopies<Number, 3> copies;
    Vector zeros{};    // the next word up the ramp is one, which the filter drops
    Vector leaving{};  // a bit for each of the last cycles: its word left; bit 0 is the oldest
    LaneQueue<Number> queue;  // of weights and commands
    LaneLink<Number> onward_link, back_link;
    StreamState<Number> core;
    Vector last_beats{}, pop_left{};  // of the row of weights that is being taken
    Counts counts;
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  static std::uint32_t column(std::size_t place, unsigned i) {
    return static_cast<std::uint32_t>(place * kWidth + i);
  }
  void place_columns();
  Number rest(std::uint32_t count) const;
  void step_block(std::size_t i, Cycle now, const NextRows<Number>& next);
  void ramp(std::size_t i, const NextRows<Number>& next);
  Vector leave(Block& b, std::size_t first, const Vector& weight, const NextRows<Number>& next);
  Vector filter(std::size_t i, const Vector& ramped);
  void look_up_zeros(std::size_t lane);
  void show_before(const Block& b, std::size_t first, const Vector& edge);

  // What StreamControl asks for; a place is a block.
  using Control = StreamControl<Number, StreamingRow, Sums::kExchanges>;
  friend Control;
  Vector has_word(std::size_t place) const { return blocks_[place].queue.has(); }
  static Vector may_begin(std::size_t /*place*/) { return ~Vector{}; }
  Vector take_word(std::size_t place, const Vector& lanes);
  void take_value(std::size_t place, const Vector& lanes);
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
  void add_counts(std::size_t i);
  void add_in_use(std::size_t i);
  void flush();
  void flush_in_use();

  const HardwareParams params_;
  const StreamingKernel& kernel_;
  std::size_t columns_;
  const std::size_t row_;
  Sums sums_;
  Number vector_beats_;  // of an instruction
  Number word_beats_;    // of the instructions that a word starts
  LaneShapes<Number> shapes_;
  const LinkRule link_rule_;
  const Control control_;
  unsigned hop_;  // cycles
  Vector left_bit_, entries_;
  bool packed_ = false;
  bool counts_beats_ = false;
  unsigned unflushed_ = 0;  // cycles since flush(), and since flush_in_use()
  unsigned unflushed_in_use_ = 0;
  unsigned in_use_cycles_ = 1;  // after so many cycles a lane's buffers in use could overflow
  bool moved_ = false;
  std::size_t finished_ = 0;
  bool quiet_ = true;  // no word is left on a bus, once all have finished
  Cycle end_ = 0;
  std::vector<Block> blocks_;
  std::vector<Number> open_, copied_, copied_back_, takes_;
  std::vector<std::size_t> next_word_;      // by lane, of elements held one by one
  std::vector<std::uint32_t> zeros_left_;   // by lane, before its next word that is none,
  std::vector<std::uint32_t> zeros_word_;   // whose number this is; empty without a filter
  std::vector<std::uint32_t> main_step_;    // by lane
  std::vector<std::uint32_t> reduce_step_;  // by lane
  std::vector<LaneCounts> counts_;
  std::vector<std::uint64_t> in_use_;  // by lane
  RowValues* values_ = nullptr;
};

}  // namespace lacuna::wse
