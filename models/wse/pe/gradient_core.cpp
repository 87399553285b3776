// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/gradient_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/fp16.hpp"
#include "models/wse/fabric/ramp.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

float rounded(double value, bool fp32) {
  const auto single = static_cast<float>(value);
  return fp32 ? single : to_float(to_half(single));
}

std::uint32_t word_of(float value, bool fp32) {
  return fp32 ? detail::bits_of(value) : to_half(value);
}

float value_of(std::uint32_t word, bool fp32) {
  return fp32 ? detail::float_of(word) : to_float(static_cast<Half>(word & 0xffffU));
}

}  // namespace

GradientCores::GradientCores(const HardwareParams& params, const StreamingKernel& stream,
                             const GradientKernel& kernel, LinkArray& links, EventLog& log)
    : params_(params.core),
      link_rule_(params.router),
      dispatch_(params.core),
      issue_(params.core),
      stream_(stream),
      kernel_(kernel),
      links_(links),
      log_(log) {}

void GradientCores::add(const CorePorts& ports) {
  cores_.emplace_back();
  Core& core = cores_.back();
  core.ports = ports;
  core.free_vectors = stream_.lookahead;
  core.started = !kernel_.begins_with_stream;
  for (const CorePort& port : core.ports.in) {
    const bool down = port.color == kernel_.down[0] || port.color == kernel_.down[1];
    if (down) core.from_north = port.queue;
    if (!down && port.color != stream_.weights) core.from_ring = port.queue;
  }
  for (const CorePort& port : core.ports.out) {
    (port.color == kernel_.down[ports.row % 2] ? core.to_south : core.to_ring) = &port;
  }
  for (std::size_t p = 0; p < stream_.ring.size(); ++p) {
    if (stream_.ring[p] != ports.column) continue;
    core.next_column = stream_.ring[(p + 1) % stream_.ring.size()];
  }
  for (std::uint32_t s = 0; s < stream_.steps; ++s) core.expected += stream_.count(s, ports.column);
  if (!kernel_.gradients.empty()) {
    const std::size_t place = std::size_t{ports.row} * stream_.columns() + ports.column;
    Values values;
    values.x = stream_.activations[place];
    values.own = kernel_.gradients[place];
    values.received.resize(std::size_t{stream_.lookahead} * tokens(core));
    std::uint32_t mine = 0;
    std::uint32_t others = 0;
    for (std::uint32_t s = 0; s < stream_.steps; ++s) {
      values.place_of_step.push_back(owns(core, s) ? mine++ : others++ % stream_.lookahead);
    }
    values_.push_back(std::move(values));
  }
  if (stream_.steps == 0) {
    core.done = true;
    ++finished_;
  }
}

Cycle GradientCores::step(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (core.accounted > now) return kNever;
  account(index, now);
  core.accounted = now + 1;
  bool acted = send_output(core, now);
  if (core.releasing != 0) {
    core.free_vectors += core.releasing;
    core.releasing = 0;
    acted = true;
  }
  acted = load(core, now) || acted;
  acted = main_thread(core, index, now) || acted;
  acted = issue(core, index, now) || acted;
  core.counters.buffers_in_use += stream_.lookahead - core.free_vectors;
  if (acted) return now + 1;
  Cycle next = core.task_full && core.task_ready > now ? core.task_ready : kNever;
  if (core.ramp.opens() > now) next = std::min(next, core.ramp.opens());
  if (dispatch_.begin() > now) next = std::min(next, dispatch_.begin());
  return core.slot_free > now ? std::min(next, core.slot_free) : next;
}

void GradientCores::account(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (core.accounted >= now) return;
  const Cycle slept = now - core.accounted;
  core.accounted = now;
  core.counters.cycles[core.waiting_for] += slept;
  core.counters.buffers_in_use += (stream_.lookahead - core.free_vectors) * slept;
}

void GradientCores::settle(std::size_t index, Cycle now) {
  account(index, now);
  extend_run(cores_[index], kNobody, now);
}

bool GradientCores::send_output(Core& core, Cycle now) {
  const std::vector<CorePort>& out = core.ports.out;
  const bool sent = send_up(
      links_, link_rule_, core.ramp, out.size(), core.next_queue, now,
      [&](std::size_t i) { return out[i].queue; }, [&](std::size_t i) { return out[i].ramp; });
  if (sent) ++core.counters.sent;
  return sent;
}

std::uint32_t GradientCores::words(const Core& core) const {
  return ceil_div(tokens(core), stream_.ring_elements);
}

/// Whether dY of a row goes on from here: not from the last column on its way.
bool GradientCores::sends(const Core& core, std::uint32_t step) const {
  return stream_.final_column[step] != core.next_column;
}

/// Passes over what is not to be done here, and begins to take dY of the next row once a vector is
/// free.
bool GradientCores::load(Core& core, Cycle now) {
  if (!core.started) return false;
  bool acted = false;
  if (!core.taking && core.taken != stream_.steps) {
    if (owns(core, core.taken)) {
      ++core.taken;
      acted = true;
    } else if (core.free_vectors != 0) {
      --core.free_vectors;
      core.taking = acted = true;
    }
  }
  if (core.sent < core.taken && !sends(core, core.sent)) {
    ++core.sent;
    release(core);
    acted = true;
  }
  if (acted) note_progress(core, now);
  return acted;
}

/// The vectors of rows that are closed and sent on become free in the next cycle.
void GradientCores::release(Core& core) const {
  for (; core.released < std::min(core.closed, core.sent); ++core.released) {
    if (!owns(core, core.released)) ++core.releasing;
  }
}

bool GradientCores::can_take_effect(const Core& core) const {
  if (core.taken <= core.closed) return false;  // dY of this row is not complete
  return core.task.control || core.results < kernel_.results;
}

bool GradientCores::main_thread(Core& core, std::size_t index, Cycle now) {
  bool acted = false;
  const bool active = core.vector_left != 0 || core.vector_end > now;
  if (core.task_full && core.task_ready <= now && !active && can_take_effect(core)) {
    core.task_full = false;
    acted = true;
    log_.record(now, core.ports.unit, kTask, core.task.control ? 1 : 0);
    if (core.task.control) {
      ++core.counters.commands;
      ++core.closed;
      release(core);
      note_progress(core, now);
    } else {
      log_.record(now, core.ports.unit, kVectorActive, core.closed);
      ++core.counters.words;
      ++core.counters.weights;
      core.counters.products += tokens(core);
      core.vector_left = ceil_div(tokens(core), stream_.simd);
      if (!values_.empty()) {
        Values& values = values_[index];
        values.results.push_back(dot(core, values, core.task.payload));
      }
    }
  }
  const bool busy = core.vector_left != 0 || core.vector_end > now;
  const bool may_take = (dispatch_.overlaps() || !busy) && now >= dispatch_.begin();
  if (!core.task_full && may_take && links_.can_pop(core.ports.weights, now)) {
    core.task = links_.pop(core.ports.weights, now);
    core.task_full = core.started = true;
    core.task_ready = now + dispatch_.delay(core.task.control);
    ++core.counters.received;
    log_.record(now, core.ports.unit, kQueuePop, static_cast<std::uint64_t>(stream_.weights));
    acted = true;
  }
  return acted;
}

unsigned GradientCores::words_of_beat(const Core& core, std::uint32_t done) const {
  return std::min<unsigned>(params_.fabric_words_per_issue, words(core) - done);
}

bool GradientCores::can_take(const Core& core, Cycle now) const {
  return core.taking && links_.has(core.from_ring, now, words_of_beat(core, core.words_taken));
}

/// Words of a row of another column are sent on as soon as they are here.
bool GradientCores::can_send(const Core& core, Cycle now) const {
  if (!core.started || core.sent == stream_.steps || core.to_ring == nullptr ||
      !sends(core, core.sent)) {
    return false;
  }
  const std::uint32_t here = owns(core, core.sent) || core.sent < core.taken ? words(core)
                             : core.taking                                   ? core.words_taken
                                                                             : 0;
  const unsigned beat = words_of_beat(core, core.words_sent);
  return core.words_sent + beat <= here && links_.can_push(core.to_ring->queue, now, beat);
}

/// Whether there are dot products for the chain, and it is its turn.
bool GradientCores::may_chain(const Core& core) const {
  if (core.results == 0 || !kernel_.kept) return core.results != 0;
  const bool streamed =
      core.closed == stream_.steps && core.taken == stream_.steps && core.sent == stream_.steps;
  return streamed && (core.to_ring == nullptr || links_.front_ready(core.to_ring->queue) == kNever);
}

bool GradientCores::can_chain(const Core& core, Cycle now) const {
  if (!may_chain(core) || !links_.can_push(core.to_south->queue, now)) return false;
  return core.from_north == kNoLink || links_.can_pop(core.from_north, now);
}

GradientCores::Context GradientCores::choose(Core& core, Cycle now) const {
  if (core.slot_free > now) return kNobody;
  constexpr std::uint32_t kAll = 1U << kMain | 1U << kChain | 1U << kTake | 1U << kSend;
  return choose_context(issue_, kAll, core.turn, [&](Context context) {
    if (context == kMain) return core.vector_left != 0;
    if (context == kChain) return can_chain(core, now);
    return context == kTake ? can_take(core, now) : can_send(core, now);
  });
}

bool GradientCores::issue(Core& core, std::size_t index, Cycle now) {
  const Context context = choose(core, now);
  extend_run(core, context, now);
  if (context == kNobody) {
    core.waiting_for = cause(core, now);
    ++core.counters.cycles[core.waiting_for];
    return false;
  }
  ++core.counters.cycles[context == kMain ? kFma : kReduce];
  if (context == kMain) main_beat(core, now);
  if (context == kTake) take_beat(core, index, now);
  if (context == kSend) send_beat(core, index, now);
  if (context == kChain) chain_beat(core, index, now);
  return true;
}

void GradientCores::main_beat(Core& core, Cycle now) const {
  core.slot_free = core.vector_end = now + kernel_.dot_cycles;
  if (--core.vector_left == 0) ++core.results;
}

void GradientCores::take_beat(Core& core, std::size_t index, Cycle now) {
  core.slot_free = now + kernel_.move_cycles;
  for (unsigned n = words_of_beat(core, core.words_taken); n != 0; --n, ++core.words_taken) {
    const std::uint32_t payload = links_.pop(core.from_ring, now).payload;
    ++core.counters.received;
    ++core.counters.kept;
    log_.record(now, core.ports.unit, kQueuePop,
                static_cast<std::uint64_t>(stream_.ring_in[core.ports.column]));
    if (values_.empty()) continue;
    Values& values = values_[index];
    float* const vector =
        values.received.data() + std::size_t{values.place_of_step[core.taken]} * tokens(core);
    const std::uint32_t first = core.words_taken * stream_.ring_elements;
    for (std::uint32_t i = 0; i < stream_.ring_elements && first + i < tokens(core); ++i) {
      vector[first + i] = value_of(payload >> (16U * i), stream_.ring_fp32);
    }
  }
  if (core.words_taken != words(core)) return;
  core.words_taken = 0;
  core.taking = false;
  ++core.taken;
  note_progress(core, now);
}

void GradientCores::send_beat(Core& core, std::size_t index, Cycle now) {
  core.slot_free = now + kernel_.move_cycles;
  for (unsigned n = words_of_beat(core, core.words_sent); n != 0; --n, ++core.words_sent) {
    Wavelet word{0, core.to_ring->color, false};
    if (!values_.empty()) {
      const Values& values = values_[index];
      const bool own = owns(core, core.sent);
      const float* const vector = (own ? values.own : values.received).data() +
                                  std::size_t{values.place_of_step[core.sent]} * tokens(core);
      const std::uint32_t first = core.words_sent * stream_.ring_elements;
      for (std::uint32_t i = 0; i < stream_.ring_elements && first + i < tokens(core); ++i) {
        word.payload |= word_of(vector[first + i], stream_.ring_fp32) << (16U * i);
      }
    }
    links_.push(core.to_ring->queue, now, word);
    ++core.counters.summed;
  }
  if (core.words_sent != words(core)) return;
  core.words_sent = 0;
  ++core.sent;
  release(core);
  note_progress(core, now);
}

void GradientCores::chain_beat(Core& core, std::size_t index, Cycle now) {
  Wavelet word{0, core.to_south->color, false};
  if (core.from_north != kNoLink) {
    word.payload = links_.pop(core.from_north, now).payload;
    ++core.counters.received;
    ++core.counters.added;
    log_.record(now, core.ports.unit, kQueuePop,
                static_cast<std::uint64_t>(kernel_.down[(core.ports.row + 1) % 2]));
  }
  if (!values_.empty()) {
    std::vector<float>& results = values_[index].results;
    const float before =
        core.from_north == kNoLink ? 0.0F : value_of(word.payload, stream_.ring_fp32);
    word.payload = word_of(before + results.front(), stream_.ring_fp32);
    results.erase(results.begin());
  }
  links_.push(core.to_south->queue, now, word);
  log_.record(now, core.ports.unit, kReductionEnd, core.chained);
  --core.results;
  ++core.chained;
  ++core.counters.reductions;
  core.slot_free = now + 1;
  note_progress(core, now);
}

/// Everything is done once all rows are closed, all dY have passed and all results are on their
/// way.
void GradientCores::note_progress(Core& core, Cycle now) {
  core.counters.end = now + 1;
  if (core.done || core.closed != stream_.steps || core.taken != stream_.steps ||
      core.sent != stream_.steps || core.chained != core.expected) {
    return;
  }
  core.done = true;
  ++finished_;
}

float GradientCores::dot(const Core& core, const Values& values, std::uint32_t feature) const {
  const std::uint32_t n = tokens(core);
  const bool own = owns(core, core.closed);
  const float* const dy = (own ? values.own.data() : values.received.data()) +
                          std::size_t{values.place_of_step[core.closed]} * n;
  const float* const x = values.x.data() + std::size_t{feature} * n;
  float sum = 0;
  for (std::uint32_t t = 0; t < n; ++t) {
    const double product = static_cast<double>(dy[t]) * x[t];
    sum = rounded(product + sum, stream_.psum_fp32);
  }
  return sum;
}

CoreCycle GradientCores::cause(const Core& core, Cycle now) const {
  if (core.slot_free > now) return kConflict;
  if (core.task_full) {
    if (core.task_ready > now) return kDispatch;
    if (core.taken <= core.closed) return kWaitRingIn;
    return can_take_effect(core) ? kDispatch : kWaitBuffer;
  }
  if (core.closed != stream_.steps) return kWaitWeights;
  if (core.done) return kDone;
  if (may_chain(core)) {
    return links_.can_push(core.to_south->queue, now) ? kWaitRingIn : kWaitRingOut;
  }
  return core.taken == stream_.steps ? kWaitRingOut : kWaitRingIn;
}

void GradientCores::extend_run(Core& core, Context context, Cycle now) {
  if (!log_.enabled()) return;
  if (context == core.run_of && now == core.run_begin + core.run_length) {
    ++core.run_length;
    return;
  }
  if (core.run_of != kNobody) {
    log_.record(core.run_begin, core.ports.unit, kBeatRun,
                std::uint64_t{core.run_length} << 1U | (core.run_of == kMain ? 0U : 1U));
  }
  core.run_of = context;
  core.run_begin = now;
  core.run_length = 1;
}

std::string GradientCores::blocked(std::size_t index) const {
  const Core& core = cores_[index];
  if (core.done) return "";
  constexpr Cycle kLater = kNever - 2;  // whatever was under way has arrived
  const char* why = "dY of a row or a word of the chain";
  switch (cause(core, kLater)) {
    case kWaitWeights:
      why = "indices";
      break;
    case kWaitBuffer:
      why = "the chain to take its results";
      break;
    case kWaitRingOut:
      why = "room in an output queue";
      break;
    default:
      break;
  }
  return fmt::format("core ({}, {}): waits for {}, row {} of {}", core.ports.column, core.ports.row,
                     why, core.closed, stream_.steps);
}

}  // namespace lacuna::wse
