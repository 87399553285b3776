// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/gradient_core.hpp"

#include <algorithm>
#include <cstring>

#include "models/common/fp16.hpp"
#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse::oracle {
namespace {

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

float value_of(std::uint32_t word, bool single) {
  if (!single) return to_float(static_cast<Half>(word));
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

std::uint32_t bits_of(float value, bool single) {
  if (!single) return to_half(value);
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

}  // namespace

GradientCore::GradientCore(const CoreParams& params, const StreamingKernel& stream,
                           const GradientKernel& kernel, std::uint32_t unit, std::uint32_t row,
                           std::uint32_t column)
    : KernelCore(params, unit, row, column),
      stream_(stream),
      kernel_(kernel),
      rows_(stream.steps),
      free_(stream.lookahead),
      started_(!kernel.begins_with_stream),
      finished_(stream.steps == 0 || tokens() == 0) {
  if (tokens() == 0) {  // it lends its router
    closed_ = taken_ = sent_ = stream.steps;
    return;
  }
  const std::size_t place = std::size_t{row} * stream.columns() + column;
  std::size_t owned = 0;
  for (std::uint32_t step = 0; step < stream.steps; ++step) {
    expected_ += stream.count(step, column);
    rows_[step].own = keeper(step) == column;
    rows_[step].dy.assign(tokens(), 0);
    if (!has_values() || !rows_[step].own) continue;
    for (float& value : rows_[step].dy) value = kernel.gradients[place][owned++];
  }
}

void GradientCore::cycle(Cycle now, std::vector<Event>& log) {
  send_word(now);
  free_ += releasing_;
  releasing_ = 0;
  if (started_) begin_rows(now);
  run_main_thread(now, log);
  issue(now, log);
  counters.buffers_in_use += stream_.lookahead - free_;
}

/// The column of this group that owns dY of a step.
std::uint32_t GradientCore::keeper(std::uint32_t step) const {
  const std::size_t group = stream_.groups.group_of(column_);
  return stream_.final_column[std::size_t{step} * stream_.groups.count + group];
}

/// dY goes on until the next column on the ring of the group is the one that it came from.
bool GradientCore::goes_on(std::uint32_t step) const {
  std::vector<std::uint32_t> mine;
  for (const std::uint32_t column : stream_.ring) {
    if (stream_.groups.group_of(column) == stream_.groups.group_of(column_)) mine.push_back(column);
  }
  const auto at = std::find(mine.begin(), mine.end(), column_);
  return keeper(step) != (at + 1 == mine.end() ? mine.front() : *(at + 1));
}

/// One row a cycle: dY of a column's own rows is here; for others a vector is taken.
void GradientCore::begin_rows(Cycle now) {
  if (!taking_ && taken_ != stream_.steps) {
    if (rows_[taken_].own) {
      ++taken_;
      progress(now);
    } else if (free_ != 0) {
      --free_;
      taking_ = true;
      progress(now);
    }
  }
  if (sent_ < taken_ && !goes_on(sent_)) {
    ++sent_;
    release();
    progress(now);
  }
}

/// Vectors of rows that are closed and sent on are free in the next cycle.
void GradientCore::release() {
  for (; released_ < std::min(closed_, sent_); ++released_) {
    if (!rows_[released_].own) ++releasing_;
  }
}

bool GradientCore::takes_effect() const {
  return taken_ > closed_ && (task_.control || results_ < kernel_.results);
}

void GradientCore::run_main_thread(Cycle now, std::vector<Event>& log) {
  const auto is_active = [&] { return beats_ != 0 || dot_over_ > now; };
  if (full_ && ready_ <= now && !is_active() && takes_effect()) {
    full_ = false;
    log.push_back({now, unit_, kTask, task_.control ? 1U : 0U});
    if (task_.control) {
      ++counters.commands;
      ++closed_;
      release();
      progress(now);
    } else {
      log.push_back({now, unit_, kVectorActive, closed_});
      ++counters.words;
      ++counters.weights;
      counters.products += tokens();
      beats_ = divide_up(tokens(), stream_.simd);
      if (has_values()) products_.push_back(dot(task_.payload));
    }
  }
  if (take_wavelet(now, is_active(), stream_.stream_color(column_), log)) started_ = true;
}

std::uint32_t GradientCore::words() const { return divide_up(tokens(), stream_.ring_elements); }

std::uint32_t GradientCore::beat(std::uint32_t done) const {
  return std::min<std::uint32_t>(params_.fabric_words_per_issue, words() - done);
}

bool GradientCore::has_north() const {
  return std::any_of(in.begin(), in.end(),
                     [&](const Input& port) { return port.color == from_north(); });
}

bool GradientCore::can(unsigned context, Cycle now) const {
  switch (static_cast<Context>(context)) {
    case kMain:
      return beats_ != 0;
    case kChain:
      return may_chain() && output(to_south()).has_room() &&
             (!has_north() || input(from_north()).has_words(now));
    case kTake:
      return taking_ && input(stream_.ring_in[column_]).has_words(now, beat(words_taken_));
    case kSend:
      return can_send();
    case kContexts:
      break;
  }
  return false;
}

/// Words of another column's row can be sent as soon as they are here.
bool GradientCore::can_send() const {
  if (!started_ || sent_ == stream_.steps || !has_ring() || !goes_on(sent_)) return false;
  std::uint32_t here = 0;
  if (rows_[sent_].own || sent_ < taken_) {
    here = words();
  } else if (taking_) {
    here = words_taken_;
  }
  const std::uint32_t count = beat(words_sent_);
  return words_sent_ + count <= here && output(stream_.ring_out[column_]).has_room(count);
}

/// Kept dot products wait until stream and ring are done and the ring's output queue is empty.
bool GradientCore::may_chain() const {
  if (results_ == 0 || !kernel_.kept) return results_ != 0;
  const bool streamed =
      closed_ == stream_.steps && taken_ == stream_.steps && sent_ == stream_.steps;
  return streamed && (!has_ring() || output(stream_.ring_out[column_]).empty());
}

void GradientCore::issue(Cycle now, std::vector<Event>& log) {
  const bool main_kept = slot_free_[0] > now;
  const auto chosen =
      choose(now, kContexts, slot_free_, [&](unsigned context) { return can(context, now); });
  const std::optional<unsigned> other = book(chosen, main_kept, [&] { return why_nothing(now); });
  if (chosen[0] == unsigned{kMain}) {
    slot_free_[0] = dot_over_ = now + kernel_.dot_cycles;
    if (--beats_ == 0) ++results_;
  }
  if (!other) return;
  switch (static_cast<Context>(*other)) {
    case kTake:
      take_beat(now, log);
      break;
    case kSend:
      send_beat(now);
      break;
    case kChain:
      chain_beat(now, log);
      break;
    case kMain:
    case kContexts:
      break;
  }
}

void GradientCore::take_beat(Cycle now, std::vector<Event>& log) {
  microthreads_free() = now + kernel_.move_cycles;
  for (std::uint32_t n = beat(words_taken_); n != 0; --n, ++words_taken_) {
    const Wavelet word = input(stream_.ring_in[column_]).take();
    ++counters.received;
    ++counters.kept;
    log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(word.color)});
    for (std::uint32_t i = 0; i < stream_.ring_elements; ++i) {
      const std::uint32_t t = words_taken_ * stream_.ring_elements + i;
      if (t < tokens()) {
        rows_[taken_].dy[t] = value_of(word.payload >> (16U * i), stream_.ring_fp32);
      }
    }
  }
  if (words_taken_ != words()) return;
  words_taken_ = 0;
  taking_ = false;
  ++taken_;
  progress(now);
}

void GradientCore::send_beat(Cycle now) {
  microthreads_free() = now + kernel_.move_cycles;
  for (std::uint32_t n = beat(words_sent_); n != 0; --n, ++words_sent_) {
    std::uint32_t payload = 0;
    for (std::uint32_t i = 0; i < stream_.ring_elements && has_values(); ++i) {
      const std::uint32_t t = words_sent_ * stream_.ring_elements + i;
      if (t < tokens()) payload |= bits_of(rows_[sent_].dy[t], stream_.ring_fp32) << (16U * i);
    }
    const Color color = stream_.ring_out[column_];
    output(color).put(now, {payload, color, false});
    ++counters.summed;
  }
  if (words_sent_ != words()) return;
  words_sent_ = 0;
  ++sent_;
  release();
  progress(now);
}

void GradientCore::chain_beat(Cycle now, std::vector<Event>& log) {
  float before = 0;
  std::uint32_t payload = 0;
  if (has_north()) {
    payload = input(from_north()).take().payload;
    before = value_of(payload, stream_.ring_fp32);
    ++counters.received;
    ++counters.added;
    log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(from_north())});
  }
  if (has_values()) {
    payload = bits_of(before + products_.front(), stream_.ring_fp32);
    products_.pop_front();
  }
  output(to_south()).put(now, {payload, to_south(), false});
  log.push_back({now, unit_, kReductionEnd, chained_});
  --results_;
  ++chained_;
  ++counters.reductions;
  microthreads_free() = now + 1;
  progress(now);
}

void GradientCore::progress(Cycle now) {
  counters.end = now + 1;
  if (closed_ == stream_.steps && taken_ == stream_.steps && sent_ == stream_.steps &&
      chained_ == expected_) {
    finished_ = true;
  }
}

/// A product is exact; each sum is rounded once.
float GradientCore::dot(std::uint32_t feature) const {
  const std::size_t place = std::size_t{row_} * stream_.columns() + column_;
  float sum = 0;
  for (std::uint32_t t = 0; t < tokens(); ++t) {
    const float x = stream_.activations[place][std::size_t{feature} * tokens() + t];
    const double product = static_cast<double>(rows_[closed_].dy[t]) * x;
    const auto total = static_cast<float>(product + sum);
    sum = stream_.psum_fp32 ? total : to_float(to_half(total));
  }
  return sum;
}

CoreCycle GradientCore::why_nothing(Cycle now) const {
  if (slot_free_[0] > now || slot_free_[1] > now) return kConflict;
  if (full_) {
    if (ready_ > now) return kDispatch;
    if (taken_ <= closed_) return kWaitRingIn;
    return takes_effect() ? kDispatch : kWaitBuffer;
  }
  if (closed_ != stream_.steps) return kWaitWeights;
  if (finished_) return kDone;
  if (may_chain()) return output(to_south()).has_room() ? kWaitRingIn : kWaitRingOut;
  return taken_ == stream_.steps ? kWaitRingOut : kWaitRingIn;
}

}  // namespace lacuna::wse::oracle
