// SPDX-License-Identifier: Apache-2.0
#include "models/wse/gradient_drain.hpp"

#include <algorithm>
#include <utility>

namespace lacuna::wse {

template <class Number>
GradientDrain<Number>::GradientDrain(const HardwareParams& params, const Program& program,
                                     std::vector<std::uint64_t> words)
    : columns_(program.columns),
      rows_(program.rows),
      latency_(latency(params)),
      ramp_(params.router.ramp),
      hop_(params.router.hop),
      limits_(params),
      words_(std::move(words)),
      alike_(empty_row()),
      last_alike_(program.rows - 1),
      edge_(empty_row()),
      nowhere_(1) {
  for (const std::uint64_t words_of_lane : words_) inside_ += words_of_lane;
  alike_.first = true;
}

template <class Number>
typename GradientDrain<Number>::Row GradientDrain<Number>::empty_row() const {
  Row row;
  row.blocks.assign((columns_ + kWidth - 1) / kWidth, Block{});
  row.rest.assign(columns_, 0);
  row.counts.assign(columns_, Counts{});
  return row;
}

template <class Number>
void GradientDrain<Number>::begin(std::uint32_t lane, Cycle at) {
  if (words_[lane] != 0) starts_.push_back({lane, at});
}

/// From the south; while the last row of those that are alike would find its way closed, it goes
/// its own way.
template <class Number>
void GradientDrain<Number>::step(Cycle now) {
  for (Block& entry : edge_.blocks) arrivals(entry.e_seen, entry.e_flight);
  for (std::size_t i = 0; i < apart_.size(); ++i) {
    step(apart_[i], i == 0 ? &edge_.blocks : &apart_[i - 1].blocks, now);
  }
  while (last_alike_ != 0 && meets_closed(below_alike())) {
    split(now);
    const std::size_t i = apart_.size() - 1;
    step(apart_[i], i == 0 ? &edge_.blocks : &apart_[i - 1].blocks, now);
  }
  if (now < latency_ * last_alike_) return;
  const Cycle local = now - latency_ * last_alike_;
  activate(local);
  step(alike_, &below_alike(), local);
}

/// A cycle of one row; without rows below, all words go.
template <class Number>
void GradientDrain<Number>::step(Row& row, std::vector<Block>* below, Cycle now) {
  for (std::size_t i = 0; i < row.blocks.size(); ++i) {
    Block& b = row.blocks[i];
    if (b.rests && below != nullptr && goes_on_resting(b, (*below)[i])) continue;
    wake(b);
    b.e_freed = b.issued = Vector{};
    if (!any(b.left | b.queue | b.v_count | b.e_count | b.c_count)) continue;
    Block& to = below == nullptr ? nowhere_.front() : (*below)[i];
    if (below == nullptr) to.e_count = Vector{};
    step_block(b, to, row.first);
    const Vector ended = b.issued & (b.left == Vector{});
    if (any(ended)) end_lanes(row, i * kWidth, ended, now);
  }
  if (++row.unflushed == static_cast<unsigned>(std::numeric_limits<Number>::max())) flush(row);
}

/// Performs a cycle in which nothing moves, if it is one.
template <class Number>
inline bool GradientDrain<Number>::goes_on_resting(Block& b, const Block& below) const {
  const Vector room = below.e_count + below.e_freed < limits_.hop_capacity;
  if (any(b.e_flight | ((b.v_seen > 0) & room))) return false;
  ++b.rested;
  return true;
}

/// Counts the cycles in which nothing moved.
template <class Number>
inline void GradientDrain<Number>::wake(Block& b) const {
  b.rests = false;
  if (b.rested == 0) return;
  const Vector cycles = all(b.rested);
  b.ring_out += b.held_out & cycles;
  b.stall_north += b.held_north & cycles;
  b.stall_south += b.held_south & cycles;
  b.rested = 0;
}

/// See GradientRow::step_block, of which this is the part that is left; nothing else moves.
template <class Number>
inline void GradientDrain<Number>::step_block(Block& b, Block& below, bool first) {
  const Vector zero{};
  arrivals(b.e_seen, b.e_flight);
  arrivals(b.c_seen, b.c_flight);
  arrivals(b.v_seen, b.v_flight);
  const Vector v_room = b.v_count < limits_.u_capacity;
  const Vector north = b.e_seen > zero;
  const Vector grant = north & (b.c_count < limits_.r_capacity);
  b.held_north = north & ~grant;
  b.stall_north -= b.held_north;
  b.e_seen += grant;
  b.e_count += grant;
  b.e_freed = -grant;
  b.c_count -= grant;
  b.c_flight |= grant & limits_.ramp_bit;
  const Vector head = b.v_seen > zero;
  const Vector go = head & (below.e_count + below.e_freed < limits_.hop_capacity);
  b.held_south = head & ~go;
  b.stall_south -= b.held_south;
  b.v_seen += go;
  b.v_count += go;
  below.e_count -= go;
  below.e_flight |= go & limits_.hop_bit;
  const Vector room = b.queue < limits_.out_depth;
  const Vector up = (b.queue > zero) & v_room;
  b.queue += up;
  b.v_count -= up;
  b.v_flight |= up & limits_.ramp_bit;
  const Vector has = b.left > zero;
  b.issued = has & room;
  if (!first) b.issued &= b.c_seen > zero;
  b.held_out = has & ~room;
  b.ring_out -= b.held_out;
  b.left += b.issued;
  b.queue -= b.issued;
  if (!first) {
    b.c_seen += b.issued;
    b.c_count += b.issued;
  }
  b.rests = !any(grant | go | up | b.issued | b.e_flight | b.c_flight | b.v_flight);
}

template <class Number>
void GradientDrain<Number>::take_up(Row& row, std::size_t lane) const {
  const std::uint64_t chunk = std::min<std::uint64_t>(row.rest[lane], kChunk);
  row.rest[lane] -= chunk;
  wake(row.blocks[lane / kWidth]);
  row.blocks[lane / kWidth].left[lane % kWidth] = static_cast<Number>(chunk);
}

template <class Number>
void GradientDrain<Number>::end_lanes(Row& row, std::size_t first, const Vector& ended, Cycle now) {
  for_each_lane<Number>(ended, [&](unsigned i) {
    if (row.rest[first + i] == 0) row.counts[first + i].end = now + 1;
    take_up(row, first + i);
  });
}

/// Lanes of the rows that are alike that can begin.
template <class Number>
void GradientDrain<Number>::activate(Cycle local) {
  for (; begun_ != starts_.size() && starts_[begun_].at <= local; ++begun_) {
    const std::uint32_t lane = starts_[begun_].lane;
    alike_.rest[lane] = words_[lane];
    take_up(alike_, lane);
  }
}

template <class Number>
bool GradientDrain<Number>::meets_closed(const std::vector<Block>& below) const {
  Vector closed{};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const Block& b = alike_.blocks[i];
    const Vector head = b.v_seen + (b.v_flight & all(1)) > 0;
    closed |= head & ~(below[i].e_count + below[i].e_freed < limits_.hop_capacity);
  }
  return any(closed);
}

/// Takes the last of the rows that are alike out of them. The row above is `latency_` cycles ahead;
/// the words it has sent meanwhile are on their way here.
template <class Number>
void GradientDrain<Number>::split(Cycle now) {
  flush(alike_);
  Row last = alike_;
  last.first = false;
  for (Counts& counts : last.counts) {
    if (counts.end != 0) counts.end += latency_ * last_alike_;
  }
  std::vector<bool> begun(columns_, false);
  for (std::size_t i = 0; i < begun_; ++i) begun[starts_[i].lane] = true;
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    if (begun[lane]) continue;
    last.rest[lane] = words_[lane];
    take_up(last, lane);
  }
  const Cycle local = now - latency_ * last_alike_;
  for (unsigned k = 0; k < latency_; ++k) {
    activate(local + k);
    step(alike_, nullptr, local + k);
    for (std::size_t i = 0; i < last.blocks.size(); ++i) {
      Block& b = last.blocks[i];
      const Vector issued = alike_.blocks[i].issued;
      if (k < ramp_) {
        b.c_flight |= issued & all(std::uint64_t{1} << k);
        b.c_count -= issued;
      } else if (k < ramp_ + hop_) {
        b.e_flight |= issued & all(std::uint64_t{1} << (k - ramp_));
        b.e_count -= issued;
      }
    }
  }
  apart_.push_back(std::move(last));
  --last_alike_;
}

template <class Number>
bool GradientDrain<Number>::anything_leaves() const {
  Vector seen{};
  for (const Block& entry : edge_.blocks) seen |= entry.e_seen;
  return any(seen);
}

/// Moves the counts out of the lanes before they could overflow.
template <class Number>
void GradientDrain<Number>::flush(Row& row) const {
  row.unflushed = 0;
  for (Block& b : row.blocks) wake(b);
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const Block& b = row.blocks[lane / kWidth];
    Counts& sum = row.counts[lane];
    sum.ring_out += static_cast<std::uint64_t>(b.ring_out[lane % kWidth]);
    sum.stall_north += static_cast<std::uint64_t>(b.stall_north[lane % kWidth]);
    sum.stall_south += static_cast<std::uint64_t>(b.stall_south[lane % kWidth]);
  }
  for (Block& b : row.blocks) b.ring_out = b.stall_north = b.stall_south = Vector{};
}

/// From the cycle in which it could begin to its end a lane issued a beat for each word, or waited
/// for room, or for the word from the north.
template <class Number>
void GradientDrain<Number>::add_to(std::uint32_t row, std::vector<GradientLaneCounts>& counts) {
  const bool alike = row <= last_alike_;
  Row& counted = alike ? alike_ : apart_[rows_ - 1 - row];
  flush(counted);
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    if (words_[lane] == 0) continue;
    const Counts& mine = counted.counts[lane];
    GradientLaneCounts& sum = counts[lane];
    sum.end = mine.end + (alike ? latency_ * row : 0);
    sum.ring_out += mine.ring_out;
    sum.stall_north += mine.stall_north;
    sum.stall_south += mine.stall_south;
    sum.ring_in += sum.end - sum.streamed - words_[lane] - mine.ring_out;
  }
}

template class GradientDrain<std::int8_t>;
template class GradientDrain<std::int16_t>;

}  // namespace lacuna::wse
