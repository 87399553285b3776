// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/stream_core.hpp"

#include <algorithm>
#include <cstring>

#include "models/common/fp16.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/stream_tallies.hpp"
#include "tests/support/wse/oracle/datapath.hpp"

namespace lacuna::wse::oracle {
namespace {

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

float half_at(std::uint32_t word, std::uint32_t place) {
  return to_float(static_cast<Half>(word >> (16U * place)));
}

float rounded(float value) { return to_float(to_half(value)); }

float single(std::uint32_t word) {
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

std::uint32_t bits(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

}  // namespace

StreamCore::StreamCore(const CoreParams& params, const StreamingKernel& kernel, std::uint32_t unit,
                       std::uint32_t row, std::uint32_t column)
    : KernelCore(params, unit, row, column),
      kernel_(kernel),
      sums_(kernel.lookahead),
      free_(kernel.lookahead) {
  for (Sums& sums : sums_) sums.values.assign(tokens(), 0);
  if (tokens() == 0) {  // it lends its router
    closed_ = loaded_ = reduced_ = kernel.steps;
  } else if (!kernel.exchange.buses.empty()) {
    exchange_ = &kernel.exchange.columns[column];
  }
  if (!is_finished()) open();
}

void StreamCore::cycle(Cycle now, std::vector<Event>& log) {
  send_word(now);
  if (releasing_) ++free_;
  releasing_ = false;
  load_packets();
  load_reduction(now, log);
  run_main_thread(now, log);
  issue(now, log);
  counters.buffers_in_use += kernel_.lookahead - free_;
  if (waits_) ++counters.tallies[stream_tally("buffer_blocked")];
}

/// Side by side a group's columns follow each other, interleaved those of a place.
std::uint32_t StreamCore::group_of(std::uint32_t column) const {
  const ColumnGroups& groups = kernel_.groups;
  return groups.interleaved ? column % groups.count : column / (kernel_.columns() / groups.count);
}

std::uint32_t StreamCore::place_of(std::uint32_t column) const {
  const ColumnGroups& groups = kernel_.groups;
  return groups.interleaved ? column / groups.count : column % (kernel_.columns() / groups.count);
}

/// Interleaved groups have colors of their own for their sums.
Color StreamCore::shifted(Color color) const {
  const unsigned above = kernel_.group_colors * group_of(column_);
  return Color{static_cast<std::uint8_t>(static_cast<unsigned>(color) + above)};
}

/// A row that is kept is sent; once all are, and one at least is reduced, empty packets follow.
bool StreamCore::must_send() const {
  if (exchange_ == nullptr) return false;
  const bool all = kept_ == exchange_->keeps && reduced_ != 0;
  const std::size_t rows = all ? kernel_.exchange.packets : kept_;
  return packets_sent_ < rows * exchange_->sends.size();
}

bool StreamCore::must_take() const {
  return exchange_ != nullptr &&
         packets_taken_ < std::size_t{kernel_.exchange.packets} * exchange_->takes.size();
}

bool StreamCore::has_exchanged() const {
  return !must_send() && !must_take() && sending_.words == 0 && taking_.words == 0;
}

void StreamCore::load_packets() {
  const bool sends = must_send() && sending_.words == 0;
  const bool takes = must_take() && taking_.words == 0;
  if (takes) {
    const auto& from = exchange_->takes[packets_taken_++ % exchange_->takes.size()];
    taking_.words = all_words() + 1;
    ++counters.rows_taken;
    taking_.queue = &input(kernel_.exchange.buses[from.bus].color);
  }
  if (!sends) return;
  const auto count = static_cast<std::uint32_t>(exchange_->sends.size());
  const ExchangePlan::Send& send = exchange_->sends[packets_sent_ % count];
  const Color color = kernel_.exchange.buses[send.bus].color;
  sending_ = {all_words() + 1, &output(color), color, send.control, packets_sent_ / count};
  ++packets_sent_;
  ++counters.rows_sent;
  counters.rows_copied += send.copies;
}

std::uint32_t StreamCore::words_of(const Packet& packet) const {
  return std::min<std::uint32_t>(params_.fabric_words_per_issue, packet.words);
}

/// The words of a row, then a control wavelet.
void StreamCore::send_beat(Cycle now) {
  for (std::uint32_t words = words_of(sending_); words != 0; --words, --sending_.words) {
    Wavelet word{0, sending_.color, sending_.words == 1};
    if (word.control) word.switches = sending_.control;
    const std::size_t at =
        std::size_t{sending_.row} * all_words() + all_words() + 1 - sending_.words;
    const bool full = has_values() && !word.control && sending_.row < exchange_->keeps;
    if (full) word.payload = kept_words_[at];
    sending_.queue->put(now, word);
  }
  keep_slot(now, kernel_.exchange.send_cycles);
  counters.end = now + 1;
}

void StreamCore::take_beat(Cycle now, std::vector<Event>& log) {
  for (std::uint32_t words = words_of(taking_); words != 0; --words, --taking_.words) {
    const Wavelet word = taking_.queue->take();
    ++counters.received;
    log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(word.color)});
    if (has_values() && !word.control) taken_words_.push_back(word.payload);
  }
  keep_slot(now, kernel_.exchange.take_cycles);
  counters.end = now + 1;
}

/// Begins the next row of sums, if there is a vector for it.
void StreamCore::open() {
  if (free_ == 0) return;
  --free_;
  holding_ = true;
  fresh_ = true;
}

std::uint32_t StreamCore::all_words() const { return divide_up(tokens(), kernel_.ring_elements); }

/// The microthread takes up the oldest row that has been closed.
void StreamCore::load_reduction(Cycle now, std::vector<Event>& log) {
  if (loaded_ != reduced_ || loaded_ == closed_) return;
  log.push_back({now, unit_, kReductionStart, loaded_});
  const std::uint32_t groups = kernel_.groups.count;
  const std::uint32_t keeper =
      kernel_.final_column[std::size_t{loaded_} * groups + (groups == 1 ? 0 : group_of(column_))];
  ++loaded_;
  reduction_ = {};
  reduction_.words = all_words();
  const ReducePlan::Role& role =
      groups == 1
          ? kernel_.reduce.role(kernel_.columns(), keeper, column_)
          : kernel_.reduce.role(kernel_.columns() / groups, place_of(keeper), place_of(column_));
  reduction_.keeps = role.keeps;
  reduction_.next = role.first;
  reduction_.others = role.inputs;
  reduction_.out = shifted(role.out);
  if (!role.keeps) reduction_.to = &output(reduction_.out);
  load_input();
}

void StreamCore::load_input() {
  reduction_.from = nullptr;
  if (reduction_.others == 0) return;
  reduction_.from = &input(shifted(kernel_.reduce.inputs[reduction_.next].color));
  ++reduction_.next;
  --reduction_.others;
}

void StreamCore::run_main_thread(Cycle now, std::vector<Event>& log) {
  const auto is_active = [&] { return vector_.beats != 0 || vector_over_ > now; };
  const bool opens = !holding_ && closed_ < kernel_.steps;
  waits_ = false;
  if (full_ && ready_ <= now && !is_active()) {
    waits_ = !holding_;
    if (holding_ && is_complete(now)) {
      full_ = false;
      if (task_.control) {
        ++counters.commands;
        log.push_back({now, unit_, kTask, 1});
        ++closed_;
        position_ = 0;
        holding_ = false;
        if (closed_ < kernel_.steps) open();
      } else {
        begin_weight(now, log);
      }
    }
  }
  if (take_wavelet(now, is_active(), kernel_.stream_color(column_), log)) ++counters.stream_words;
  if (opens) open();
}

/// A weight in two words takes effect when the second has come.
bool StreamCore::is_complete(Cycle now) const {
  return task_.control || kernel_.form != StreamForm::wide || weights->has_words(now);
}

void StreamCore::begin_weight(Cycle now, std::vector<Event>& log) {
  ++counters.words;
  log.push_back({now, unit_, kTask, 0});
  log.push_back({now, unit_, kVectorActive, closed_});
  const std::uint32_t word = task_.payload;
  const std::uint32_t inferred = kernel_.first_feature(closed_, column_) + position_;
  follow_ = 0;
  switch (kernel_.form) {
    case StreamForm::indexed:
      begin_vector(word >> 16U, kernel_.value(word));
      break;
    case StreamForm::packed: {
      const std::uint32_t left = kernel_.count(closed_, column_) - position_;
      const std::uint32_t count = std::min(kernel_.weights_per_word(), left);
      begin_vector(inferred, kernel_.value(word));
      const Vector first = vector_;
      for (std::uint32_t i = 1; i < count; ++i) begin_vector(inferred + i, kernel_.value(word, i));
      vector_ = first;
      follow_ = count - 1;
      break;
    }
    case StreamForm::wide: {
      const std::uint32_t value = weights->take().payload;
      ++counters.received;
      ++counters.stream_words;
      log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(kernel_.stream_color(column_))});
      begin_vector(word, single(value));
      break;
    }
    case StreamForm::plain:
      begin_vector(inferred, single(word));
      break;
  }
}

/// The first weight of a row overwrites the sums and does not read them.
void StreamCore::begin_vector(std::uint32_t feature, float value) {
  const std::size_t place = std::size_t{row_} * kernel_.columns() + column_;
  const bool scattered = !kernel_.held.empty();
  const std::uint32_t elements = scattered ? kernel_.held[place][feature] : tokens();
  vector_ = {};
  vector_.beats = scattered ? elements : divide_up(elements, kernel_.simd);
  vector_.adds = scattered || !fresh_;
  ++position_;
  ++counters.weights;
  counters.products += elements;
  if (fresh_) ++counters.first_weights;
  Sums& sums = sums_[closed_ % kernel_.lookahead];
  for (std::uint32_t t = 0; t < tokens() && has_values(); ++t) {
    const float x = kernel_.activations[place][std::size_t{feature} * tokens() + t];
    const double before = fresh_ ? 0.0 : static_cast<double>(sums.values[t]);
    const auto sum = static_cast<float>(static_cast<double>(x) * value + before);
    sums.values[t] = kernel_.psum_fp32 ? sum : rounded(sum);
  }
  sums.touched = true;
  fresh_ = false;
}

void StreamCore::issue(Cycle now, std::vector<Event>& log) {
  const bool main_kept = slots_[0].free > now;
  const auto chosen = choose(
      now, exchange_ == nullptr ? 2 : 4, {slots_[0].free, slots_[1].free}, [&](unsigned context) {
        if (context == 0) return vector_.beats != 0;
        if (context == 1) return can_reduce(now);
        if (context == 2) {
          return sending_.words != 0 && sending_.queue->has_room(words_of(sending_));
        }
        return taking_.words != 0 && taking_.queue->has_words(now, words_of(taking_));
      });
  const std::optional<unsigned> other = book(chosen, main_kept, [&] { return why_nothing(now); });
  if (chosen[0] == 0U) main_beat(now);
  if (other == 1U) reduction_beat(now, log);
  if (other == 2U) send_beat(now);
  if (other == 3U) take_beat(now, log);
}

/// A beat of a microthread keeps its slot for so many cycles.
void StreamCore::keep_slot(Cycle now, Cycle cycles) {
  Slot& slot = slots_.at(params_.slots == 2U ? 1 : 0);
  slot.kind = kConflict;
  slot.free = slot.stalled_from = now + cycles;
}

void StreamCore::main_beat(Cycle now) {
  const std::uint32_t cycles = cycles_of_beat();
  const std::uint32_t stalls = stalls_of_beat();
  Slot& slot = slots_[0];
  slot.kind = kernel_.held.empty() ? kConflict : kScalar;
  slot.stalled_from = now + cycles;
  slot.free = slot.stalled_from + stalls;
  vector_over_ = slot.free;
  --vector_.beats;
  if (vector_.beats != 0 || follow_ == 0) return;
  --follow_;
  vector_ = {};
  vector_.beats = divide_up(tokens(), kernel_.simd);
  vector_.adds = true;
}

std::uint32_t StreamCore::cycles_of_beat() {
  const BeatTime& time = vector_.adds ? kernel_.beats_that_add : kernel_.first_beats;
  const std::uint32_t first = vector_.begun;
  const bool scattered = !kernel_.held.empty();
  vector_.begun = scattered ? first + 1 : std::min(first + kernel_.simd, tokens());
  if (time.ports.model == MemoryModel::none) return time.least;
  const std::uint64_t cycles =
      port_cycles(time.read, time.written, time.ports, first, vector_.begun);
  return std::max(time.least, static_cast<std::uint32_t>(cycles));
}

/// Of k stalls in 16 elements the s-th comes after element 15 s / k, rounded down.
std::uint32_t StreamCore::stalls_of_beat() {
  if (!vector_.adds) return 0;
  std::uint32_t stalls = 0;
  for (std::uint32_t i = 0; i < kernel_.simd; ++i) {
    ++vector_.done;
    for (std::uint32_t s = 1; s <= kernel_.stalls; ++s) {
      if (vector_.done % 16 == 15 * s / kernel_.stalls) ++stalls;
    }
  }
  return stalls;
}

std::uint32_t StreamCore::words_of_beat() const {
  return std::min<std::uint32_t>(params_.fabric_words_per_issue, reduction_.words);
}

bool StreamCore::is_starved(Cycle now) const {
  return reduction_.from != nullptr && !reduction_.from->has_words(now, words_of_beat());
}

bool StreamCore::can_reduce(Cycle now) const {
  if (loaded_ == reduced_ || is_starved(now)) return false;
  return reduction_.others != 0 || reduction_.to == nullptr ||
         reduction_.to->has_room(words_of_beat());
}

/// All inputs but the last are added to the sums here, the last one goes on with them.
void StreamCore::reduction_beat(Cycle now, std::vector<Event>& log) {
  const bool gathers = reduction_.others != 0;
  Sums& sums = sums_[reduced_ % kernel_.lookahead];
  const bool first = reduction_.words == all_words();
  if (first && !sums.touched) std::fill(sums.values.begin(), sums.values.end(), 0.0F);
  for (std::uint32_t words = words_of_beat(); words != 0; --words) {
    const std::uint32_t word = reduce_word(now, log);
    --reduction_.words;
    ++counters.sum_words;
    if (!gathers && reduction_.to != nullptr) reduction_.to->put(now, {word, reduction_.out});
  }
  keep_slot(now, gathers ? kernel_.gather_cycles : kernel_.reduce_cycles);
  if (reduction_.words != 0) return;
  if (sums.touched) ++counters.summed;
  if (sums.touched && reduction_.from != nullptr) ++counters.added;
  if (gathers) {
    ++counters.gathered;
    sums.touched = true;
    reduction_.words = all_words();
    load_input();
    return;
  }
  if (reduction_.keeps) ++counters.kept;
  if (reduction_.keeps) ++kept_;
  sums.touched = false;
  log.push_back({now, unit_, kReductionEnd, reduced_});
  ++reduced_;
  ++counters.reductions;
  releasing_ = true;
  counters.end = now + 1;
}

/// What came in, if something does, plus the sums here.
std::uint32_t StreamCore::reduce_word(Cycle now, std::vector<Event>& log) {
  std::uint32_t came = 0;
  if (reduction_.from != nullptr) {
    const Wavelet word = reduction_.from->take();
    came = word.payload;
    ++counters.received;
    log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(word.color)});
  }
  if (!has_values()) return came;
  Sums& sums = sums_[reduced_ % kernel_.lookahead];
  const std::uint32_t first = (all_words() - reduction_.words) * kernel_.ring_elements;
  const std::uint32_t count = std::min(kernel_.ring_elements, tokens() - first);
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    float& mine = sums.values[first + i];
    const float other = !kernel_.ring_fp32 ? half_at(came, i)
                        : kernel_.int8     ? static_cast<float>(static_cast<std::int32_t>(came))
                                           : single(came);
    const float total = other + mine;
    if (reduction_.others != 0) {
      mine = kernel_.psum_fp32 ? total : rounded(total);
      continue;
    }
    if (!kernel_.ring_fp32) {
      word |= std::uint32_t{to_half(total)} << (16U * i);
    } else {
      word =
          kernel_.int8 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(total)) : bits(total);
    }
    if (!reduction_.keeps) continue;
    const bool whole = kernel_.ring_fp32 && (kernel_.fp32 || kernel_.int8);
    result_.push_back(whole ? total : rounded(total));
  }
  if (exchange_ != nullptr && reduction_.others == 0 && reduction_.keeps) {
    kept_words_.push_back(word);
  }
  return word;
}

/// What keeps the main thread, or if that has finished the microthread.
CoreCycle StreamCore::why_nothing(Cycle now) const {
  if (is_finished()) return kDone;
  for (const Slot& slot : slots_) {
    if (slot.free > now) return slot.stalled_from <= now ? kResidual : slot.kind;
  }
  if (full_) {
    if (waits_) return kWaitBuffer;
    return ready_ <= now && !is_complete(now) ? kWaitWeights : kDispatch;
  }
  if (closed_ != kernel_.steps) return kWaitWeights;
  if (reduced_ == kernel_.steps) {
    return must_take() || taking_.words != 0 ? kWaitRingIn : kWaitRingOut;
  }
  if (loaded_ == reduced_) return kDispatch;
  return is_starved(now) ? kWaitRingIn : kWaitRingOut;
}

}  // namespace lacuna::wse::oracle
