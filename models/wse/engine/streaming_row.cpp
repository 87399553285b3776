// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_row.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "models/wse/engine/routed_sums.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

template <class Number, class Sums>
StreamingRow<Number, Sums>::StreamingRow(const HardwareParams& params, const SumStreams& shared,
                                         std::uint32_t tokens, std::uint32_t row)
    : params_(params),
      kernel_(shared.kernel),
      columns_(kernel_.columns()),
      row_(row),
      sums_(params, shared),
      vector_beats_(static_cast<Number>(ceil_div(tokens, kernel_.simd))),
      word_beats_(static_cast<Number>(static_cast<std::uint32_t>(vector_beats_) *
                                      kernel_.weights_per_word())),
      shapes_(params.router, params.queue),
      link_rule_(params.router),
      control_(params.core, kernel_, tokens),
      hop_(static_cast<unsigned>(QueueShapes(params.router).link().latency)),
      left_bit_(all(std::uint64_t{1} << hop_)),
      entries_(all(QueueShapes(params.router).entries())),
      packed_(kernel_.form == StreamForm::packed),
      in_use_cycles_(
          static_cast<unsigned>(kMost) /
          std::max<unsigned>({2U, kernel_.lookahead, params.core.fabric_words_per_issue})),
      blocks_((columns_ + kWidth - 1) / kWidth),
      open_(blocks_.size() * kWidth, 0),
      copied_(open_.size(), 0),
      copied_back_(open_.size(), 0),
      takes_(open_.size(), -1),
      next_word_(kernel_.held.empty() ? 0 : columns_, 0),
      zeros_left_(kernel_.zeros.empty() ? 0 : columns_, 0),
      zeros_word_(zeros_left_.size(), 0),
      main_step_(columns_, 0),
      reduce_step_(columns_, 0),
      counts_(columns_),
      in_use_(open_.size(), 0) {
  if constexpr (Sums::kExchanges) sums_.buses().begin(tokens);
  place_columns();
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::place_columns() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Vector open{};
    for (std::size_t lane = i * kWidth; lane < std::min(columns_, (i + 1) * kWidth); ++lane) {
      open[lane % kWidth] = -1;
    }
    blocks_[i] = Block{};
    blocks_[i].core = control_.begin(open);
    if constexpr (Sums::kExchanges) sums_.buses().begin_lanes(blocks_[i].core, i);
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    Block& block = blocks_[lane / kWidth];
    const std::size_t i = lane % kWidth;
    block.pop_left[i] = static_cast<Number>(kernel_.words(0, lane));
    block.last_beats[i] = rest(kernel_.count(0, lane));
    if (!zeros_left_.empty()) look_up_zeros(lane);
  }
}

/// The beats of the last word of a row of `count` weights, if it is not full; else 0.
template <class Number, class Sums>
Number StreamingRow<Number, Sums>::rest(std::uint32_t count) const {
  if (!packed_) return 0;
  const std::uint32_t values = count % kernel_.weights_per_word();
  return static_cast<Number>(values * static_cast<std::uint32_t>(vector_beats_));
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::step(Cycle now, const NextRows<Number>& next) {
  moved_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) step_block(i, now, next);
  sums_.end_cycle();
  if constexpr (Sums::kExchanges) {
    if (finished_ == columns_) {
      quiet_ = sums_.buses().empty();
      if (!quiet_) end_ = now + 2;
    }
  }
  if (++unflushed_ == static_cast<unsigned>(kMost)) flush();
  if (++unflushed_in_use_ == in_use_cycles_) flush_in_use();
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::step_block(std::size_t i, Cycle now,
                                                   const NextRows<Number>& next) {
  ramp(i, next);
  Block& b = blocks_[i];
  const Vector main_kept = b.core.slot.kept_by_main();
  typename Control::Issued issued{};
  Vector ended{};
  const StreamWaits<Number> waits = control_.step(b.core, *this, i, now, issued, ended);
  Vector beats = issued[0] | issued[1];
  if constexpr (Sums::kExchanges) beats |= issued[2] | issued[3];
  moved_ = moved_ || any(beats);
  Counts& counts = b.counts;
  if (counts_beats_) {
    counts.fma -= issued[0];
    counts.sums -= beats & ~issued[0] & ~waits.beside;
  }
  counts.waited.dispatch -= waits.dispatch;
  counts.waited.weights -= waits.weights;
  counts.waited.ring_in -= waits.ring_in;
  counts.waited.ring_out -= waits.ring_out;
  counts.waited.buffer -= waits.buffer;
  counts.waited.conflict -= waits.conflict;
  counts.scalar -= waits.conflict & main_kept;
  counts.waited.residual -= waits.residual;
  counts.waited.beside -= waits.beside;
  counts.in_use += control_.buffers_in_use(b.core);
  const Vector all_done = ended & Control::done(b.core);
  if (any(all_done)) end_lanes(all_done, i * kWidth, now);
}

/// Words that arrive, and the ramp port of the router, which weights and partial sums share.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::ramp(std::size_t i, const NextRows<Number>& next) {
  Block& b = blocks_[i];
  const std::size_t first = i * kWidth;
  b.queue.begin_cycle();
  const Vector head = b.edge > 0;
  const Vector weight =
      sums_.ramp(i, b.copies.wants(kToCore, head) & b.queue.room(shapes_.weights));
  store(&open_[first], b.edge < entries_);
  const Vector left = next.onward == nullptr ? weight : leave(b, first, weight, next);
  b.counts.stall_weights -= head & ~left;
  b.edge += left;
  b.queue.push(filter(i, weight), shapes_.weights);
}

/// Of the words that have had the ramp those that the filter passes on.
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::filter(std::size_t i, const Vector& ramped) {
  if (zeros_left_.empty()) return ramped;
  const Vector passed = ramped & ~blocks_[i].zeros;
  for_each_lane<Number>(ramped, [&](unsigned at) {
    const std::size_t lane = i * kWidth + at;
    if (zeros_left_[lane] == 0) {
      ++zeros_word_[lane];
      look_up_zeros(lane);
    } else if (--zeros_left_[lane] == 0) {
      blocks_[i].zeros[at] = 0;
    }
  });
  return passed;
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::look_up_zeros(std::size_t lane) {
  zeros_left_[lane] = kernel_.zeros_before(lane, zeros_word_[lane]);
  blocks_[lane / kWidth].zeros[lane % kWidth] =
      static_cast<Number>(zeros_left_[lane] == 0 ? 0 : -1);
}

/// The copies that go to the rows next to this one; returns the lanes whose word leaves its
/// buffer, because it has gone there and up the ramp (`weight` now does).
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::leave(Block& b, std::size_t first,
                                                       const Vector& weight,
                                                       const NextRows<Number>& next) {
  const Vector head = b.edge > 0;
  const Vector wants = b.copies.wants(kOnward, head);
  const Vector room = load(&(*next.onward)[first]);
  // where the row is the last, no link is there that could be shut
  const Vector onward = next.ends ? wants & room : b.onward_link.send(link_rule_, wants, room);
  Vector closed = found_closed(~Vector{}, wants, onward);
  store(&copied_[first], onward);
  b.copies.make(kOnward, onward);
  b.copies.make(kToCore, weight);
  if (next.back != nullptr) {
    const Vector wants_back = b.copies.wants(kBack, head);
    const Vector back = b.back_link.send(link_rule_, wants_back, load(&(*next.back)[first]));
    closed |= found_closed(~Vector{}, wants_back, back);
    store(&copied_back_[first], back);
    b.copies.make(kBack, back);
  }
  const Vector both = next.back == nullptr ? Vector{} : ~Vector{};
  const Vector left = b.copies.leave(head, {~Vector{}, both, ~Vector{}});
  b.counts.closures -= closed;
  b.leaving = (b.leaving >> 1) | (left & left_bit_);
  show_before(b, first, b.edge + left);
  return left;
}

/// What the row before sees: a slot is free again a link's latency and a cycle after its word left.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::show_before(const Block& b, std::size_t first,
                                                    const Vector& edge) {
  Vector held = edge;
  Vector leaving = b.leaving;
  for (unsigned hop = 0; hop < hop_; ++hop) held += (leaving >>= 1) & all(1);
  store(&takes_[first], held < shapes_.link.capacity);
}

template <class Number, class Sums>
bool StreamingRow<Number, Sums>::meets_closed(const std::vector<Number>& onward) const {
  Vector closed{};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& b = blocks_[i];
    closed |=
        found_closed(~Vector{}, b.copies.wants(kOnward, b.edge > 0), load(&onward[i * kWidth]));
  }
  return any(closed);
}

template <class Number, class Sums>
bool StreamingRow<Number, Sums>::meets_shut() const {
  if (!link_rule_.on_links()) return false;
  Vector shut{};
  for (const Block& b : blocks_) {
    shut |= b.copies.wants(kOnward, b.edge > 0) & ~b.onward_link.open_next();
  }
  return any(shut);
}

/// A follower holds what this row has sent onward and not let go of itself: at most one word.
template <class Number, class Sums>
StreamingRow<Number, Sums> StreamingRow<Number, Sums>::follower() const {
  StreamingRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    Block& b = row.blocks_[i];
    b.edge = b.copies.made(kOnward) & all(1);
    row.show_before(b, i * kWidth, b.edge);
  }
  return row;
}

template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::take_word(std::size_t place, const Vector& lanes) {
  Block& b = blocks_[place];
  const Vector command = lanes & (b.pop_left == Vector{});
  b.pop_left += lanes & ~command;
  b.queue.pop(lanes);
  if (counts_beats_) b.counts.stream_words -= lanes;
  return command;
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::take_value(std::size_t place, const Vector& lanes) {
  blocks_[place].queue.pop(lanes);
  blocks_[place].pop_left += lanes;
  if (counts_beats_) blocks_[place].counts.stream_words -= lanes;
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
  const Vector beats = all(static_cast<std::uint64_t>(word_beats_));
  if (!packed_) return beats;
  return select(lanes & (b.last_beats > Vector{}) & (b.pop_left == Vector{}), b.last_beats, beats);
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
      b.pop_left[i] = static_cast<Number>(kernel_.words_of(count));
      b.last_beats[i] = rest(count);
    }
  });
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::take_sums(std::size_t place, const Vector& words,
                                                  const Vector& lanes) {
  sums_.take(place, words);
  if (counts_beats_) blocks_[place].counts.sum_words += words & lanes;
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
void StreamingRow<Number, Sums>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].edge -= load(&lanes[i * kWidth]);
}

/// Moves the counts of a block out of its lanes.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::add_counts(std::size_t i) {
  Block& b = blocks_[i];
  const Counts& from = b.counts;
  const std::size_t lanes = std::min<std::size_t>(kWidth, columns_ - i * kWidth);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    LaneCounts& sum = counts_[i * kWidth + lane];
    const auto add = [lane](std::uint64_t& to, const Vector& counted) {
      to += static_cast<std::uint64_t>(counted[lane]);
    };
    add(sum.dispatch, from.waited.dispatch);
    add(sum.weights, from.waited.weights);
    add(sum.ring_in, from.waited.ring_in);
    add(sum.ring_out, from.waited.ring_out);
    add(sum.buffer, from.waited.buffer);
    for (std::size_t t = 0; t < b.core.tallies.size(); ++t) add(sum.tallies[t], b.core.tallies[t]);
    add(sum.stall_weights, from.stall_weights);
    add(sum.closures, from.closures);
    add(sum.conflict, from.waited.conflict);
    add(sum.scalar, from.scalar);
    add(sum.residual, from.waited.residual);
    add(sum.beside, from.waited.beside);
    add(sum.fma, from.fma);
    add(sum.sums, from.sums);
  }
  b.counts.waited = StreamWaits<Number>{};
  b.core.tallies = {};
  b.counts.scalar = b.counts.closures = b.counts.stall_weights = b.counts.fma = b.counts.sums =
      Vector{};
}

/// The same of what is soon too much for a lane.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::add_in_use(std::size_t i) {
  Counts& from = blocks_[i].counts;
  for (unsigned lane = 0; lane < kWidth; ++lane) {
    in_use_[i * kWidth + lane] += static_cast<std::uint64_t>(from.in_use[lane]);
    if (!counts_beats_ || i * kWidth + lane >= columns_) continue;
    LaneCounts& sum = counts_[i * kWidth + lane];
    sum.stream_words += static_cast<std::uint64_t>(from.stream_words[lane]);
    sum.sum_words += static_cast<std::uint64_t>(from.sum_words[lane]);
  }
  from.in_use = from.stream_words = from.sum_words = Vector{};
}

/// Before the lanes could overflow.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::flush() {
  unflushed_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) add_counts(i);
  sums_.flush();
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::flush_in_use() {
  unflushed_in_use_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) add_in_use(i);
}

template <class Number, class Sums>
const std::vector<LaneCounts>& StreamingRow<Number, Sums>::counts() {
  flush();
  flush_in_use();
  for (std::size_t lane = 0; lane < columns_; ++lane) counts_[lane].in_use = in_use_[lane];
  return counts_;
}

template <class Number, class Sums>
RowMark StreamingRow<Number, Sums>::mark() {
  auto marks = std::make_shared<std::vector<CoreMark>>(columns_);
  counts();
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const LaneCounts& counted = counts_[lane];
    CoreMark& mark = (*marks)[lane];
    mark[kFma] = counted.fma;
    mark[kReduce] = counted.sums;
    mark[kConflict] = counted.conflict;
    mark[kResidual] = counted.residual;
    mark[kDispatch] = counted.dispatch;
    mark[kWaitWeights] = counted.weights;
    mark[kWaitRingIn] = counted.ring_in;
    mark[kWaitRingOut] = counted.ring_out;
    mark[kWaitBuffer] = counted.buffer;
    mark[kRowsDone] = main_step_[lane];
    mark[kBuffersInUse] = counted.in_use;
    mark[kStreamWords] = counted.stream_words;
    mark[kSumWords] = counted.sum_words;
  }
  return marks;
}

template class StreamingRow<std::int8_t, RoutedSums<std::int8_t, false>>;
template class StreamingRow<std::int16_t, RoutedSums<std::int16_t, false>>;
template class StreamingRow<std::int8_t, RoutedSums<std::int8_t, true>>;
template class StreamingRow<std::int16_t, RoutedSums<std::int16_t, true>>;

}  // namespace lacuna::wse
