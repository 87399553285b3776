// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_row.hpp"

#include <algorithm>
#include <limits>

#include "models/wse/engine/ring_sums.hpp"
#include "models/wse/engine/routed_sums.hpp"
#include "models/wse/pe/datapath.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

template <class Number, class Sums>
StreamingRow<Number, Sums>::StreamingRow(const HardwareParams& params,
                                         const StreamingKernel& kernel, const Shared& shared,
                                         std::uint32_t tokens)
    : params_(params),
      kernel_(kernel),
      shared_(shared),
      columns_(shared.column_of.size()),
      sums_(params, shared),
      vector_beats_(static_cast<Number>(ceil_div(tokens, kernel.simd))),
      word_beats_(static_cast<Number>(static_cast<std::uint32_t>(vector_beats_) *
                                      kernel.weights_per_word())),
      reduce_words_(static_cast<Number>(ceil_div(tokens, kernel.ring_elements))),
      words_per_beat_(static_cast<Number>(params.core.fabric_words_per_issue.value())),
      shapes_(params.router, params.queue),
      link_rule_(params.router),
      dispatch_(params.core),
      issue_(params.core),
      hop_(static_cast<unsigned>(QueueShapes(params.router).link().latency)),
      left_bit_(all(std::uint64_t{1} << hop_)),
      entries_(all(QueueShapes(params.router).entries())),
      lookahead_(all(kernel.lookahead)),
      packed_(kernel.form == StreamForm::packed),
      wide_(kernel.form == StreamForm::wide),
      slow_(std::max({kernel.first_cycles, kernel.beat_cycles, kernel.reduce_cycles,
                      kernel.gather_cycles, kernel.stalls + 1}) != 1),
      in_use_cycles_(static_cast<unsigned>(kMost) / std::max(1U, kernel.lookahead)),
      blocks_((columns_ + kWidth - 1) / kWidth),
      open_(blocks_.size() * kWidth, 0),
      copied_(open_.size(), 0),
      copied_back_(open_.size(), 0),
      takes_(open_.size(), -1),
      main_step_(columns_, 0),
      reduce_step_(columns_, 0),
      counts_(columns_),
      in_use_(open_.size(), 0) {
  place_columns();
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::place_columns() {
  for (Block& block : blocks_) {
    block = Block{};
    block.buffers = lookahead_;
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    Block& block = blocks_[lane / kWidth];
    const std::size_t i = lane % kWidth;
    const std::uint32_t column = shared_.column_of[lane];
    block.open[i] = -1;
    block.holding[i] = block.fresh[i] = -1;
    block.buffers[i] = static_cast<Number>(block.buffers[i] - 1);
    block.pop_left[i] = static_cast<Number>(kernel_.words(0, column));
    block.last_beats[i] = rest(kernel_.count(0, column));
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
  sums_.begin_cycle();
  for (std::size_t i = 0; i < blocks_.size(); ++i) step_block(i, now, next);
  sums_.end_cycle();
  if (++unflushed_ == static_cast<unsigned>(kMost)) flush();
  if (++unflushed_in_use_ == in_use_cycles_) flush_in_use();
}

template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::step_block(std::size_t i, Cycle now,
                                                   const NextRows<Number>& next) {
  ramp(i, next);
  main_thread(blocks_[i], i * kWidth);
  issue(i, now);
}

/// Words that arrive, and the ramp port of the router, which weights and partial sums share.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::ramp(std::size_t i, const NextRows<Number>& next) {
  Block& b = blocks_[i];
  const std::size_t first = i * kWidth;
  b.queue.begin_cycle();
  const Vector head = b.edge > 0;
  const Vector weight = sums_.ramp(i, head & ~b.ramped & b.queue.room(shapes_.weights));
  store(&open_[first], b.edge < entries_);
  const Vector left = next.onward == nullptr ? weight : leave(b, first, weight, next);
  b.stall_weights -= head & ~left;
  b.edge += left;
  b.queue.push(weight, shapes_.weights);
}

/// The copies that go to the rows next to this one; returns the lanes whose word leaves its
/// buffer, because it has gone there and up the ramp (`weight` now does).
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::leave(Block& b, std::size_t first,
                                                       const Vector& weight,
                                                       const NextRows<Number>& next) {
  const Vector head = b.edge > 0;
  const bool metered = link_rule_.on_links();
  const Vector wants = head & ~b.copied;
  const Vector copies = send_copies(b.onward_link, metered && !next.ends, wants,
                                    load(&(*next.onward)[first]), copied_, first);
  Vector closed = wants & ~copies;
  b.copied |= copies;
  b.ramped |= weight;
  Vector left = b.copied & b.ramped;
  if (next.back != nullptr) {
    const Vector wants_back = head & ~b.copied_back;
    const Vector back = send_copies(b.back_link, metered, wants_back, load(&(*next.back)[first]),
                                    copied_back_, first);
    closed |= wants_back & ~back;
    b.copied_back |= back;
    left &= b.copied_back;
    b.copied_back &= ~left;
  }
  b.closures -= closed;
  b.copied &= ~left;
  b.ramped &= ~left;
  b.leaving = (b.leaving >> 1) | (left & left_bit_);
  show_before(b, first, b.edge + left);
  return left;
}

/// The copies that go over a link in this cycle, of the lanes that want to and have `room`.
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::send_copies(LaneMeter<Number>& link, bool metered,
                                                             const Vector& wants,
                                                             const Vector& room,
                                                             std::vector<Number>& copies,
                                                             std::size_t first) {
  Vector go = wants & room;
  if (metered) {
    go &= link.open();
    link.sent(link_rule_, go);
  }
  store(&copies[first], go);
  return go;
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
    closed |= (b.edge > 0) & ~b.copied & ~load(&onward[i * kWidth]);
  }
  return any(closed);
}

template <class Number, class Sums>
bool StreamingRow<Number, Sums>::meets_shut() const {
  if (!link_rule_.on_links()) return false;
  Vector shut{};
  for (const Block& b : blocks_) shut |= (b.edge > 0) & ~b.copied & ~b.onward_link.open_next();
  return any(shut);
}

/// A follower holds what this row has sent onward and not let go of itself: at most one word.
template <class Number, class Sums>
StreamingRow<Number, Sums> StreamingRow<Number, Sums>::follower() const {
  StreamingRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    Block& b = row.blocks_[i];
    b.edge = b.copied & all(1);
    row.show_before(b, i * kWidth, b.edge);
  }
  return row;
}

/// Whether an instruction of the main thread has beats left or holds the slot.
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::active(const Block& b) const {
  const Vector left = b.vector > 0;
  return slow_ ? left | (b.main_holds & (b.hold > 0)) : left;
}

/// What slow beats and weights of two words need to know of an instruction that starts.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::begin_instruction(Block& b, const Vector& start) {
  if (slow_) {
    b.adds = (b.adds & ~start) | (start & ~b.fresh);
    b.fresh &= ~start;
    b.beats_left = select(start, all(static_cast<std::uint64_t>(vector_beats_)), b.beats_left);
    b.element &= ~start;
  }
  if (wide_) {
    b.queue.pop(start);
    b.pop_left += start;
  }
}

/// Steps 3 to 5 of a core's cycle: buffers, reductions, handlers, wavelets.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::main_thread(Block& b, std::size_t first) {
  const Vector zero{};
  b.buffers -= b.releasing;
  const Vector load_mask = (b.words == zero) & (b.pending > zero);
  b.task.begin_cycle();
  const Vector due = b.task.due() & ~active(b);
  Vector effect = due & b.holding;
  if (wide_) effect &= b.task.command | b.queue.has();  // once the second word is there
  const Vector opening = b.open & ~b.holding;
  const Vector waits = due & ~b.holding;
  b.blocked -= waits;
  const Vector start = effect & ~b.task.command;
  const Vector close = effect & b.task.command;
  b.vector = select(start, all(static_cast<std::uint64_t>(word_beats_)), b.vector);
  if (packed_) {
    // All words of the row have been taken, so this is its last, which may hold fewer values.
    const Vector last = start & (b.last_beats > zero) & (b.pop_left == zero);
    b.vector = select(last, b.last_beats, b.vector);
  }
  begin_instruction(b, start);
  b.task.release(effect);
  b.pending -= close;
  if (any(load_mask | close)) special(b, first, load_mask, close);
  const Vector next = close & b.open & (b.buffers > zero);
  b.holding = (b.holding & ~close) | next;
  b.buffers += next;
  b.fresh |= next;

  Vector pop = ~b.task.full & b.queue.has();
  if (!dispatch_.overlaps()) pop &= ~active(b);
  const Vector command = pop & (b.pop_left == zero);
  b.pop_left += pop & ~command;
  b.task.take(dispatch_, pop, command);
  b.queue.pop(pop);
  const Vector take = opening & (b.buffers > zero);
  b.holding |= take;
  b.fresh |= take;
  b.buffers += take;
  b.waits = waits;
}

/// Step 6: one beat of main thread or microthread.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::issue(std::size_t i, Cycle now) {
  Block& b = blocks_[i];
  const Vector zero{};
  const Vector most = all(static_cast<std::uint64_t>(words_per_beat_));
  const Vector need = select(b.words < most, b.words, most);
  const Vector fed = sums_.fed(i, need);
  Vector reduce_may = (b.words > zero) & fed & sums_.room(i, need);
  Vector main_may = b.vector > zero;
  if (slow_) {
    reduce_may &= b.hold == zero;
    main_may &= b.hold == zero;
  }
  const auto [main, reduce] = b.slot.choose(issue_, {main_may, reduce_may});
  const Vector beat = main | reduce;
  moved_ = moved_ || any(beat);
  book(b, ~beat, fed);
  if (slow_) b.hold = hold_slot(b, main, reduce, sums_.gathers(i));
  b.vector += main;
  const Vector taken = need & reduce;
  b.words -= taken;
  sums_.take(i, taken);
  Vector end = reduce & (b.words == zero);
  if constexpr (!Sums::kOneInstruction) {
    const Vector ended = end;
    end = sums_.finish(i, ended);
    b.words |= ended & ~end & all(static_cast<std::uint64_t>(reduce_words_));
  }
  b.pending += end;
  b.releasing = end;
  b.in_use += lookahead_ - b.buffers;
  const Vector all_done = end & ~b.open & (b.pending == zero);
  if (any(all_done)) end_lanes(all_done, i * kWidth, now);
}

/// For how many cycles after this one the slot is taken, if `main` or `reduce` issue in it; see
/// StreamingCores::main_beat and residual_stalls.
template <class Number, class Sums>
inline Lanes<Number> StreamingRow<Number, Sums>::hold_slot(Block& b, const Vector& main,
                                                           const Vector& reduce,
                                                           const Vector& gathers) {
  const Vector zero{};
  const Vector adding = main & b.adds;
  const Vector rest_of_beat = all(kernel_.simd % 16);
  Vector extra = adding & all(std::uint64_t{kernel_.stalls} * (kernel_.simd / 16));
  for (std::uint32_t s = 1; s <= kernel_.stalls; ++s) {
    const Vector at = all(residual_place(s, kernel_.stalls));
    const Vector end = b.element + rest_of_beat;
    extra -= adding & (((b.element < at) & (at <= end)) | (at + 16 <= end));
  }
  if (kernel_.stalls != 0) {
    b.element = (b.element + (adding & rest_of_beat)) & all(15);
  }
  const Vector beat = select(b.adds, all(kernel_.beat_cycles), all(kernel_.first_cycles));
  const Vector sums = select(gathers, all(kernel_.gather_cycles), all(kernel_.reduce_cycles));
  const Vector cycles = select(main, beat + extra, sums);
  b.beats_left += main;
  const Vector ended = main & (b.beats_left == zero);  // the next instruction of a packed word
  b.adds |= ended;
  b.element &= ~ended;
  b.beats_left |= ended & all(static_cast<std::uint64_t>(vector_beats_));
  const Vector issued = main | reduce;
  b.main_holds = (b.main_holds & ~issued) | main;
  b.extra = select(issued, extra, b.extra);
  return select(issued, cycles - 1, b.hold + (b.hold > zero));
}

/// Why the lanes without a beat had none; see StreamingCores::cause.
template <class Number, class Sums>
inline void StreamingRow<Number, Sums>::book(Block& b, const Vector& idle, const Vector& fed) {
  const Vector zero{};
  Vector no_beat = idle;
  if (slow_) {
    const Vector taken = idle & (b.hold > zero);
    const Vector stays = taken & (b.open | (b.pending > zero));  // not all is done
    const Vector stall = stays & (b.hold <= b.extra);
    b.residual -= stall;
    b.conflict -= stays & ~stall;
    no_beat &= ~taken;
  }
  const Vector waits = b.waits;
  const Vector loading = (b.words == zero) & (b.pending > zero);
  const Vector rest = no_beat & ~b.task.full & ~b.open;
  const Vector reducing = rest & (b.words > zero);
  const Vector starved = reducing & ~fed;
  Vector full = no_beat & b.task.full & ~waits;
  Vector unfed = no_beat & ~b.task.full & b.open;
  if (wide_) {
    const Vector half = full & b.task.due() & ~b.task.command & ~b.queue.has();
    full &= ~half;
    unfed |= half;
  }
  b.dispatch -= full | (rest & loading);
  b.buffer -= no_beat & b.task.full & waits;
  b.weights -= unfed;
  b.ring_in -= starved;
  b.ring_out -= reducing & ~starved;
}

/// What a lane looks up: the next reduction it loads, the next row of weights it counts down.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::special(Block& b, std::size_t first, const Vector& load_mask,
                                         const Vector& command_mask) {
  for_each_lane<Number>(load_mask | command_mask, [&](unsigned i) {
    const std::size_t lane = first + i;
    if (load_mask[i] != 0) {
      b.words[i] = reduce_words_;
      sums_.load(lane, kernel_.final_column[reduce_step_[lane]++]);
    }
    if (command_mask[i] != 0) {
      if (++main_step_[lane] == kernel_.steps) {
        b.open[i] = 0;
      } else {
        const std::uint32_t count = kernel_.count(main_step_[lane], shared_.column_of[lane]);
        b.pop_left[i] = static_cast<Number>(kernel_.words_of(count));
        b.last_beats[i] = rest(count);
      }
    }
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

/// Moves the counts out of the lanes before they could overflow.
template <class Number, class Sums>
void StreamingRow<Number, Sums>::flush() {
  unflushed_ = 0;
  sums_.flush();
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const Block& b = blocks_[lane / kWidth];
    const std::size_t i = lane % kWidth;
    LaneCounts& sum = counts_[lane];
    const auto add = [i](std::uint64_t& to, const Vector& from) {
      to += static_cast<std::uint64_t>(from[i]);
    };
    add(sum.dispatch, b.dispatch);
    add(sum.weights, b.weights);
    add(sum.ring_in, b.ring_in);
    add(sum.ring_out, b.ring_out);
    add(sum.buffer, b.buffer);
    add(sum.blocked, b.blocked);
    add(sum.stall_weights, b.stall_weights);
    add(sum.closures, b.closures);
    add(sum.conflict, b.conflict);
    add(sum.residual, b.residual);
  }
  for (Block& b : blocks_) {
    b.dispatch = b.weights = b.ring_in = b.ring_out = b.buffer = b.blocked = Vector{};
    b.closures = b.stall_weights = b.conflict = b.residual = Vector{};
  }
}

template <class Number, class Sums>
void StreamingRow<Number, Sums>::flush_in_use() {
  unflushed_in_use_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (unsigned lane = 0; lane < kWidth; ++lane) {
      in_use_[i * kWidth + lane] += static_cast<std::uint64_t>(blocks_[i].in_use[lane]);
    }
    blocks_[i].in_use = Vector{};
  }
}

template <class Number, class Sums>
const std::vector<LaneCounts>& StreamingRow<Number, Sums>::counts() {
  flush();
  flush_in_use();
  for (std::size_t lane = 0; lane < columns_; ++lane) counts_[lane].in_use = in_use_[lane];
  return counts_;
}

template class StreamingRow<std::int8_t, RingSums<std::int8_t>>;
template class StreamingRow<std::int16_t, RingSums<std::int16_t>>;
template class StreamingRow<std::int8_t, RoutedSums<std::int8_t>>;
template class StreamingRow<std::int16_t, RoutedSums<std::int16_t>>;

}  // namespace lacuna::wse
