// SPDX-License-Identifier: Apache-2.0
#include "models/wse/streaming_row.hpp"

#include <algorithm>
#include <limits>

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

template <class Number>
StreamingRow<Number>::StreamingRow(const HardwareParams& params, const StreamingKernel& kernel,
                                   std::uint32_t tokens)
    : params_(params),
      kernel_(kernel),
      columns_(kernel.ring.size()),
      vector_beats_(static_cast<Number>(ceil_div(tokens, kernel.simd))),
      word_beats_(static_cast<Number>(static_cast<std::uint32_t>(vector_beats_) *
                                      kernel.weights_per_word())),
      reduce_words_(static_cast<Number>(ceil_div(tokens, kernel.ring_elements))),
      words_per_beat_(static_cast<Number>(params.core.fabric_words_per_issue.value())),
      limits_(params),
      left_bit_(all(std::uint64_t{1} << params.router.hop)),
      entries_(all(params.router.entries)),
      lookahead_(all(kernel.lookahead)),
      fixed_(params.router.arbiter == Arbiter::fixed),
      packed_(kernel.form == StreamForm::packed),
      in_use_cycles_(static_cast<unsigned>(kMost) / std::max(1U, kernel.lookahead)),
      blocks_((columns_ + kWidth - 1) / kWidth),
      out_queue_(blocks_.size() * kWidth + 1, 0),
      pushed_(blocks_.size() * kWidth + 1, 0),
      open_(blocks_.size() * kWidth, 0),
      copied_(open_.size(), 0),
      north_open_(open_.size(), -1),
      main_step_(columns_, 0),
      reduce_step_(columns_, 0),
      final_lane_(kernel.steps),
      counts_(columns_),
      in_use_(open_.size(), 0) {
  place_columns();
}

/// Gives each column its lane: its position on the ring.
template <class Number>
void StreamingRow<Number>::place_columns() {
  std::vector<std::uint32_t> lane_of(columns_);
  for (std::uint32_t lane = 0; lane < columns_; ++lane) lane_of[kernel_.ring[lane]] = lane;
  for (std::uint32_t s = 0; s < kernel_.steps; ++s) {
    final_lane_[s] = lane_of[kernel_.final_column[s]];
  }
  for (Block& block : blocks_) {
    block = Block{};
    block.buffers = lookahead_;
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    Block& block = blocks_[lane / kWidth];
    const std::size_t i = lane % kWidth;
    const std::uint32_t to = kernel_.ring[lane];
    const std::uint32_t from = kernel_.ring[(lane + columns_ - 1) % columns_];
    block.one_hop[i] = static_cast<Number>(std::max(to, from) - std::min(to, from) == 1 ? -1 : 0);
    block.open[i] = -1;
    block.holding[i] = -1;
    block.buffers[i] = static_cast<Number>(block.buffers[i] - 1);
    block.pop_left[i] = static_cast<Number>(kernel_.words(0, to));
    block.last_beats[i] = rest(kernel_.count(0, to));
  }
}

/// The beats of the last word of a row of `count` weights, if it is not full; else 0.
template <class Number>
Number StreamingRow<Number>::rest(std::uint32_t count) const {
  if (!packed_) return 0;
  const std::uint32_t values = count % kernel_.weights_per_word();
  return static_cast<Number>(values * static_cast<std::uint32_t>(vector_beats_));
}

template <class Number>
void StreamingRow<Number>::step(Cycle now, const std::vector<Number>* south_open) {
  out_queue_[columns_] = out_queue_[0];
  moved_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Number* const below = south_open == nullptr ? nullptr : south_open->data() + i * kWidth;
    step_block(blocks_[i], i * kWidth, now, below);
  }
  pushed_[0] = pushed_[columns_];
  for (std::size_t i = 0; i < blocks_.size(); ++i) transit(blocks_[i], i * kWidth);
  if (++unflushed_ == static_cast<unsigned>(kMost)) flush();
  if (++unflushed_in_use_ == in_use_cycles_) flush_in_use();
}

template <class Number>
inline void StreamingRow<Number>::step_block(Block& b, std::size_t first, Cycle now,
                                             const Number* south_open) {
  ramp(b, first, south_open);
  main_thread(b, first);
  issue(b, first, now);
}

/// Words that arrive, and the ramp port of the router, which weights and partial sums share.
template <class Number>
inline void StreamingRow<Number>::ramp(Block& b, std::size_t first, const Number* south_open) {
  const Vector one = all(1);
  b.w_seen += b.w_flight & one;
  b.w_flight >>= 1;
  b.r_seen += b.r_flight & one;
  b.r_flight >>= 1;
  b.y_seen += b.y_flight & one;
  b.y_flight >>= 1;

  const Vector head = b.edge > 0;
  const Vector sum_head = b.y_seen > 0;
  const Vector weight_may = head & ~b.ramped & (b.w_count < limits_.w_capacity);
  const Vector sum_may = sum_head & (b.r_count < limits_.r_capacity);
  // In turn: weights, unless the last grant was theirs and a partial sum wants to go.
  Vector weight = weight_may & ~sum_may;
  weight = fixed_ ? weight_may : weight | (weight_may & ~b.last_weight);
  const Vector sum = sum_may & ~weight;
  b.last_weight = weight | (b.last_weight & ~sum);
  b.stall_in -= sum_head & ~sum;
  store(&open_[first], b.edge < entries_);
  const Vector left = south_open == nullptr ? weight : leave(b, first, weight, load(south_open));
  b.stall_weights -= head & ~left;
  b.edge += left;
  b.w_flight |= weight & limits_.ramp_bit;
  b.w_count -= weight;
  b.r_flight |= sum & limits_.ramp_bit;
  b.r_count -= sum;
  b.y_seen += sum;
  b.granted = sum;
}

/// The copies that go to the row below; returns the lanes whose word leaves its buffer, because it
/// has both gone south and up the ramp (`weight` now does).
template <class Number>
inline Lanes<Number> StreamingRow<Number>::leave(Block& b, std::size_t first, const Vector& weight,
                                                 const Vector& south_open) {
  const Vector head = b.edge > 0;
  const Vector wants = head & ~b.copied;
  const Vector copy = wants & south_open;
  b.closures -= wants & ~south_open;
  store(&copied_[first], copy);
  b.copied |= copy;
  b.ramped |= weight;
  const Vector left = b.copied & b.ramped;
  b.copied &= ~left;
  b.ramped &= ~left;
  b.leaving = (b.leaving >> 1) | (left & left_bit_);
  show_north(b, first, b.edge + left);
  return left;
}

/// What the row above sees: a slot is free again a link's latency and a cycle after its word left.
template <class Number>
inline void StreamingRow<Number>::show_north(const Block& b, std::size_t first,
                                             const Vector& edge) {
  Vector held = edge;
  Vector leaving = b.leaving;
  for (unsigned hop = 0; hop < params_.router.hop; ++hop) held += (leaving >>= 1) & all(1);
  store(&north_open_[first], held < limits_.hop_capacity);
}

template <class Number>
bool StreamingRow<Number>::meets_closed(const std::vector<Number>& south_open) const {
  Vector closed{};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& b = blocks_[i];
    closed |= (b.edge > 0) & ~b.copied & ~load(&south_open[i * kWidth]);
  }
  return any(closed);
}

/// A follower holds what this row has sent south and not let go of itself: at most one word.
template <class Number>
StreamingRow<Number> StreamingRow<Number>::follower() const {
  StreamingRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    Block& b = row.blocks_[i];
    b.edge = b.copied & all(1);
    row.show_north(b, i * kWidth, b.edge);
  }
  return row;
}

/// Steps 3 to 5 of a core's cycle: buffers, reductions, handlers, wavelets.
template <class Number>
inline void StreamingRow<Number>::main_thread(Block& b, std::size_t first) {
  const Vector zero{};
  b.buffers -= b.releasing;
  const Vector load_mask = (b.words == zero) & (b.pending > zero);
  Vector active = b.vector > zero;
  b.ready += b.ready > zero;
  const Vector due = b.full & (b.ready == zero) & ~active;
  const Vector effect = due & b.holding;
  const Vector opening = b.open & ~b.holding;
  const Vector waits = due & ~b.holding;
  b.blocked -= waits;
  const Vector start = effect & ~b.command;
  const Vector close = effect & b.command;
  b.vector = select(start, all(static_cast<std::uint64_t>(word_beats_)), b.vector);
  if (packed_) {
    // All words of the row have been taken, so this is its last, which may hold fewer values.
    const Vector last = start & (b.last_beats > zero) & (b.pop_left == zero);
    b.vector = select(last, b.last_beats, b.vector);
  }
  b.full &= ~effect;
  b.pending -= close;
  if (any(load_mask | close)) special(b, first, load_mask, close);
  const Vector next = close & b.open & (b.buffers > zero);
  b.holding = (b.holding & ~close) | next;
  b.buffers += next;

  active = b.vector > zero;
  Vector pop = ~b.full & (b.w_seen > zero);
  if (!params_.core.dispatch_overlap) pop &= ~active;
  const Vector command = pop & (b.pop_left == zero);
  b.pop_left += pop & ~command;
  b.command = (b.command & ~pop) | command;
  const Vector delay = select(command, all(params_.core.cmd_cycles), all(params_.core.dispatch));
  b.ready = select(pop, delay, b.ready);
  b.full |= pop;
  b.w_seen += pop;
  b.w_count += pop;
  const Vector take = opening & (b.buffers > zero);
  b.holding |= take;
  b.buffers += take;
  b.waits = waits;
}

/// Step 6: one beat of main thread or microthread.
template <class Number>
inline void StreamingRow<Number>::issue(Block& b, std::size_t first, Cycle now) {
  const Vector zero{};
  const Vector most = all(static_cast<std::uint64_t>(words_per_beat_));
  const Vector need = select(b.words < most, b.words, most);
  const Vector room = load(&out_queue_[first + 1]) + need <= limits_.out_depth;
  const Vector fed = ~b.need_in | (b.r_seen >= need);
  const Vector reduce_may = (b.words > zero) & fed & (~b.need_out | room);
  const Vector main_may = b.vector > zero;
  Vector reduce = reduce_may;
  if (params_.core.sched == Sched::main_first) reduce &= ~main_may;
  if (params_.core.sched == Sched::round_robin) {
    const Vector contested = reduce_may & main_may;
    reduce &= ~main_may | b.favour;
    b.favour ^= contested;
  }
  const Vector main = main_may & ~reduce;
  const Vector beat = main | reduce;
  moved_ = moved_ || any(beat);
  book(b, ~beat, need);
  b.vector += main;
  const Vector taken = need & reduce;
  b.words -= taken;
  b.r_seen -= taken & b.need_in;
  b.r_count -= taken & b.need_in;
  store(&pushed_[first + 1], taken & b.need_out);
  const Vector end = reduce & (b.words == zero);
  b.pending += end;
  b.releasing = end;
  b.in_use += lookahead_ - b.buffers;
  const Vector ended = end & ~b.open & (b.pending == zero);
  if (any(ended)) end_lanes(ended, first, now);
}

/// Why the lanes without a beat had none; see StreamingCores::cause.
template <class Number>
inline void StreamingRow<Number>::book(Block& b, const Vector& no_beat, const Vector& need) {
  const Vector zero{};
  const Vector waits = b.waits;
  const Vector loading = (b.words == zero) & (b.pending > zero);
  const Vector rest = no_beat & ~b.full & ~b.open;
  const Vector reducing = rest & (b.words > zero);
  const Vector starved = reducing & b.need_in & (b.r_seen < need);
  b.dispatch -= (no_beat & b.full & ~waits) | (rest & loading);
  b.buffer -= no_beat & b.full & waits;
  b.weights -= no_beat & ~b.full & b.open;
  b.ring_in -= starved;
  b.ring_out -= reducing & ~starved;
}

/// What a lane looks up: the next reduction it loads, the next row of weights it counts down.
template <class Number>
void StreamingRow<Number>::special(Block& b, std::size_t first, const Vector& load_mask,
                                   const Vector& command_mask) {
  for_each_lane<Number>(load_mask | command_mask, [&](unsigned i) {
    const std::size_t lane = first + i;
    if (load_mask[i] != 0) {
      const std::uint32_t last = final_lane_[reduce_step_[lane]++];
      b.words[i] = reduce_words_;
      b.need_in[i] =
          static_cast<Number>(lane == last + 1 || (lane == 0 && last + 1 == columns_) ? 0 : -1);
      b.need_out[i] = static_cast<Number>(lane == last ? 0 : -1);
    }
    if (command_mask[i] != 0) {
      if (++main_step_[lane] == kernel_.steps) {
        b.open[i] = 0;
      } else {
        const std::uint32_t count = kernel_.count(main_step_[lane], kernel_.ring[lane]);
        b.pop_left[i] = static_cast<Number>(kernel_.words_of(count));
        b.last_beats[i] = rest(count);
      }
    }
  });
}

template <class Number>
void StreamingRow<Number>::end_lanes(const Vector& ended, std::size_t first, Cycle now) {
  for (unsigned i = 0; i < kWidth; ++i) {
    if (ended[i] == 0) continue;
    counts_[first + i].end = now + 1;
    ++finished_;
  }
}

/// The way of partial sums to these lanes: output queue, ramp, one or two links.
template <class Number>
inline void StreamingRow<Number>::transit(Block& b, std::size_t first) {
  const Vector zero{};
  const Vector one = all(1);
  b.u_seen += b.u_flight & one;
  b.u_flight >>= 1;
  b.x_seen += b.x_flight & one;
  b.x_flight >>= 1;

  Vector queue = load(&out_queue_[first]);
  const Vector up = (queue > zero) & (b.u_count < limits_.u_capacity);
  const Vector y_open = b.y_count < limits_.hop_capacity;
  const Vector x_open = b.x_count < limits_.hop_capacity;
  const Vector u_head = b.u_seen > zero;
  const Vector x_head = b.x_seen > zero;
  const Vector out = u_head & select(b.one_hop, y_open, x_open);
  const Vector pass = x_head & y_open;
  b.stall_out -= u_head & ~out;
  b.stall_pass -= x_head & ~pass;

  queue += load(&pushed_[first]) + up;
  store(&out_queue_[first], queue);
  b.u_flight |= up & limits_.ramp_bit;
  b.u_count += out - up;
  b.u_seen += out;
  const Vector to_x = out & ~b.one_hop;
  const Vector to_y = (out & b.one_hop) | pass;
  b.x_flight |= to_x & limits_.hop_bit;
  b.x_count += pass - to_x;
  b.x_seen += pass;
  b.y_flight |= to_y & limits_.hop_bit;
  b.y_count += b.granted - to_y;
}

template <class Number>
void StreamingRow<Number>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].edge -= load(&lanes[i * kWidth]);
}

/// Moves the counts out of the lanes before they could overflow.
template <class Number>
void StreamingRow<Number>::flush() {
  unflushed_ = 0;
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
    add(sum.stall_in, b.stall_in);
    add(sum.stall_pass, b.stall_pass);
    add(sum.stall_out, b.stall_out);
  }
  for (Block& b : blocks_) {
    b.dispatch = b.weights = b.ring_in = b.ring_out = b.buffer = b.blocked = Vector{};
    b.closures = b.stall_weights = b.stall_in = b.stall_pass = b.stall_out = Vector{};
  }
}

template <class Number>
void StreamingRow<Number>::flush_in_use() {
  unflushed_in_use_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (unsigned lane = 0; lane < kWidth; ++lane) {
      in_use_[i * kWidth + lane] += static_cast<std::uint64_t>(blocks_[i].in_use[lane]);
    }
    blocks_[i].in_use = Vector{};
  }
}

template <class Number>
const std::vector<LaneCounts>& StreamingRow<Number>::counts() {
  flush();
  flush_in_use();
  for (std::size_t lane = 0; lane < columns_; ++lane) counts_[lane].in_use = in_use_[lane];
  return counts_;
}

template class StreamingRow<std::int8_t>;
template class StreamingRow<std::int16_t>;

}  // namespace lacuna::wse
