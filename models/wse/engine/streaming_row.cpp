// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_row.hpp"

#include <algorithm>
#include <memory>

#include "models/wse/engine/routed_reduction.hpp"

namespace lacuna::wse {

template <class Number, class Sums>
StreamingRow<Number, Sums>::StreamingRow(const HardwareParams& params, const Program& program,
                                         const SumStreams& shared, std::uint32_t row)
    : Base(params, program, shared),
      row_(row),
      vector_beats_(kernel_.beats(kernel_.tokens[row])),
      control_(params.core, kernel_, kernel_.tokens[row]),
      next_word_(kernel_.held.empty() ? 0 : columns_, 0),
      main_step_(columns_, 0),
      reduce_step_(columns_, 0) {
  if constexpr (Sums::kExchanges) sums_.buses().begin(kernel_.tokens[row]);
  place_columns();
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::place_columns() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].core = control_.begin(lanes_below<Number>(columns_, i * kWidth));
    if constexpr (Sums::kExchanges) sums_.buses().begin_lanes(blocks_[i].core, i);
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    blocks_[lane / kWidth].last_beats[lane % kWidth] = rest(kernel_.count(0, lane));
  }
}

/// The beats of the last word of a row of `count` weights, if it is not full; else 0.
template <class Number, class Sums>
Number StreamingRow<Number, Sums>::rest(std::uint32_t count) const {
  return static_cast<Number>(count % kernel_.weights_per_word() * vector_beats_);
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::end_cycle(Cycle now) {
  if constexpr (Sums::kExchanges) {
    if (finished_ != columns_) return;
    quiet_ = sums_.buses().empty();
    if (!quiet_) end_ = now + 2;
  }
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::step_cores(std::size_t i, Cycle now) {
  Block& b = blocks_[i];
  const Vector main_kept = b.core.slot.kept_by_main();
  typename Control::Issued issued{};
  Vector ended{};
  const CoreWaits<Number> waits = control_.step(b.core, *this, i, now, issued, ended);
  Vector beats = issued[0] | issued[1];
  if constexpr (Sums::kExchanges) beats |= issued[2] | issued[3];
  moved_ = moved_ || any(beats);
  if (counts_beats_) {
    b.fma -= issued[0];
    b.sums -= beats & ~issued[0] & ~waits.beside;
  }
  b.waited.count(waits);
  b.scalar -= waits.conflict & main_kept;
  b.in_use += control_.buffers_in_use(b.core);
  const Vector all_done = ended & Control::done(b.core);
  if (any(all_done)) end_lanes(all_done, i * kWidth, now);
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::step(Cycle now, const NextRows<Number>& next) {
  this->perform(now, next);
}

/// Once all words of a row have been taken, the one that takes effect is its last, which may hold
/// fewer values.
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::start(std::size_t place, const Vector& lanes) {
  if (!kernel_.held.empty()) return start_held(place, lanes);
  const Block& b = blocks_[place];
  if (values_ != nullptr) {
    for_each_lane<Number>(lanes, [&](unsigned i) { values_->start(column(place, i)); });
  }
  const Vector beats = all(vector_beats_ * kernel_.weights_per_word());
  if (kernel_.weights_per_word() == 1) return beats;
  return select(lanes & (b.last_beats > Vector{}) & words_.all_taken(place), b.last_beats, beats);
}

/// Of elements that are held one by one: as many beats as the core has of the word's feature.
template <class Number, class Sums>
Lanes<Number> StreamingRow<Number, Sums>::start_held(std::size_t place, const Vector& lanes) {
  Vector beats{};
  for_each_lane<Number>(lanes, [&](unsigned i) {
    const std::size_t lane = place * kWidth + i;
    const std::uint32_t word = kernel_.payloads[lane][next_word_[lane]];
    next_word_[lane] += kernel_.words_per_weight();
    const std::uint32_t feature = kernel_.form == StreamForm::wide ? word : word >> 16U;
    const std::uint32_t elements = kernel_.held[row_ * columns_ + lane][feature];
    beats[i] = static_cast<Number>(elements);
    counts_[lane].elements += elements;
  });
  return beats;
}

/// The next reduction a lane loads, the next row of weights it counts down.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::look_up(StreamState<Number>& core, std::size_t place,
                                         const Vector& load, const Vector& close) {
  Block& b = blocks_[place];
  for_each_lane<Number>(load | close, [&](unsigned i) {
    const std::uint32_t lane = column(place, i);
    if (load[i] != 0) {
      sums_.load(lane, kernel_.keeper(reduce_step_[lane]++, lane));
      if (values_ != nullptr) values_->load(lane);
    }
    if (close[i] == 0) return;
    if (values_ != nullptr) values_->close(lane);
    if (++main_step_[lane] == kernel_.steps) {
      core.open[i] = 0;
    } else {
      const std::uint32_t count = kernel_.count(main_step_[lane], lane);
      words_.begin_row(lane, kernel_.words_of(count));
      b.last_beats[i] = rest(count);
    }
  });
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::take_sums(std::size_t place, const Vector& words,
                                                  const Vector& lanes) {
  sums_.take(place, words, words);
  if (counts_beats_) blocks_[place].sum_words += words & lanes;
  if (values_ == nullptr) return;
  for_each_lane<Number>(lanes, [&](unsigned i) {
    values_->reduce(column(place, i), static_cast<std::uint32_t>(words[i]));
  });
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::end_lanes(const Vector& ended, std::size_t first, Cycle now) {
  for (unsigned i = 0; i < kWidth; ++i) {
    if (ended[i] == 0) continue;
    counts_[first + i].end = now + 1;
    ++finished_;
  }
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::take_counts(std::size_t i) {
  Block& b = blocks_[i];
  for (std::size_t lane = 0; lane < lanes_of(i); ++lane) {
    LaneCounts& sum = counts_[i * kWidth + lane];
    const auto add = [lane](std::uint64_t& to, const Vector& counted) {
      to += static_cast<std::uint64_t>(counted[lane]);
    };
    for (std::size_t t = 0; t < b.core.tallies.size(); ++t) add(sum.tallies[t], b.core.tallies[t]);
    add(sum.cycles[kScalar], b.scalar);
    add(sum.cycles[kFma], b.fma);
    add(sum.cycles[kReduce], b.sums);
  }
  b.core.tallies = {};
  b.scalar = b.fma = b.sums = Vector{};
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::take_soon(std::size_t i) {
  if (!counts_beats_) return;
  Block& b = blocks_[i];
  for (std::size_t lane = 0; lane < lanes_of(i); ++lane) {
    LaneCounts& sum = counts_[i * kWidth + lane];
    sum.stream_words += static_cast<std::uint64_t>(b.stream_words[lane]);
    sum.sum_words += static_cast<std::uint64_t>(b.sum_words[lane]);
  }
  b.stream_words = b.sum_words = Vector{};
}

template <class Number, class Sums>
RowMark StreamingRow<Number, Sums>::mark() {
  auto marks = std::make_shared<std::vector<CoreMark>>(columns_);
  const std::vector<LaneCounts>& counts = this->counts();
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const LaneCounts& counted = counts[lane];
    CoreMark& mark = (*marks)[lane];
    std::copy(counted.cycles.begin(), counted.cycles.end(), mark.begin());
    mark[kScalar] = 0;  // they are in conflict
    mark[kRowsDone] = main_step_[lane];
    mark[kBuffersInUse] = counted.in_use;
    mark[kStreamWords] = counted.stream_words;
    mark[kSumWords] = counted.sum_words;
  }
  return marks;
}

template class StreamingRow<std::int8_t, RoutedReduction<std::int8_t, false>>;
template class StreamingRow<std::int16_t, RoutedReduction<std::int16_t, false>>;
template class StreamingRow<std::int8_t, RoutedReduction<std::int8_t, true>>;
template class StreamingRow<std::int16_t, RoutedReduction<std::int16_t, true>>;

}  // namespace lacuna::wse
