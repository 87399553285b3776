// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/streaming_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/wse/fabric/ramp.hpp"
#include "models/wse/pe/datapath.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

StreamingCores::StreamingCores(const HardwareParams& params, const StreamingKernel& kernel,
                               LinkArray& links, EventLog& log)
    : params_(params.core),
      link_rule_(params.router),
      dispatch_(params.core),
      issue_(params.core),
      kernel_(kernel),
      links_(links),
      log_(log),
      successor_(kernel.ring.size()) {
  for (std::size_t p = 0; p < kernel.ring.size(); ++p) {
    successor_[kernel.ring[p]] = kernel.ring[(p + 1) % kernel.ring.size()];
  }
}

void StreamingCores::add(const CorePorts& ports) {
  Core core;
  core.ports = ports;
  core.free_buffers = kernel_.lookahead;
  // A core without tokens only lends its router.
  if (kernel_.tokens[ports.row] == 0) core.closed = core.loaded = core.reduced = kernel_.steps;
  if (!idle(core)) take_buffer(core);
  if (idle(core)) core.waiting_for = kDone;
  cores_.push_back(core);
  filled_.resize(filled_.size() + kernel_.lookahead, 0);
  if (!kernel_.activations.empty()) {
    const std::size_t place = std::size_t{ports.row} * kernel_.columns() + ports.column;
    values_.emplace_back(
        CoreValues::Format{kernel_.fp32, kernel_.psum_fp32, kernel_.ring_fp32, kernel_.int8},
        kernel_.tokens[ports.row], kernel_.lookahead, kernel_.activations[place]);
  }
  if (idle(core)) ++finished_;
}

Cycle StreamingCores::step(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (core.accounted > now) return kNever;
  if (core.ports.weights == kNoLink) {  // it only lends its router
    account(index, now + 1);
    return kNever;
  }
  account(index, now);
  core.accounted = now + 1;
  bool acted = send_output(core, now);
  if (core.releasing) {
    core.releasing = false;
    ++core.free_buffers;
    acted = true;
  }
  acted = load_reduction(core, now) || acted;
  acted = main_thread(core, index, now) || acted;
  acted = issue(core, index, now) || acted;
  core.counters.buffers_in_use += kernel_.lookahead - core.free_buffers;
  if (core.blocked) ++core.counters.buffer_blocked;
  if (acted) return now + 1;
  Cycle next = core.task_full && core.task_ready > now ? core.task_ready : kNever;
  if (core.stalled_from > now) next = std::min(next, core.stalled_from);
  if (core.ramp.opens() > now) next = std::min(next, core.ramp.opens());
  if (dispatch_.begin() > now) next = std::min(next, dispatch_.begin());
  return core.slot_free > now ? std::min(next, core.slot_free) : next;
}

void StreamingCores::account(std::size_t index, Cycle now) {
  Core& core = cores_[index];
  if (core.accounted >= now) return;
  const Cycle slept = now - core.accounted;
  core.accounted = now;
  core.counters.cycles[core.waiting_for] += slept;
  core.counters.buffers_in_use += (kernel_.lookahead - core.free_buffers) * slept;
  if (core.blocked) core.counters.buffer_blocked += slept;
}

void StreamingCores::settle(std::size_t index, Cycle now) {
  account(index, now);
  extend_run(cores_[index], kNobody, now);
}

bool StreamingCores::send_output(Core& core, Cycle now) {
  const std::vector<CorePort>& out = core.ports.out;
  const bool sent = send_up(
      links_, link_rule_, core.ramp, out.size(), core.next_out, now,
      [&](std::size_t i) { return out[i].queue; }, [&](std::size_t i) { return out[i].ramp; });
  if (sent) ++core.counters.sent;
  return sent;
}

/// Opens the next row of sums if there is a buffer for it.
void StreamingCores::take_buffer(Core& core) {
  if (core.free_buffers == 0) return;
  --core.free_buffers;
  core.holding = true;
  core.fresh = true;
  ++core.opened;
}

/// Around the ring: the column after the one that keeps the sum starts.
void StreamingCores::load_ring(Core& core, std::uint32_t keeper) const {
  const bool alone = kernel_.columns() == 1;
  const bool starts = alone || core.ports.column == successor_[keeper];
  core.keeps = core.ports.column == keeper;
  core.source = starts ? kNoLink : core.ports.ring_in;
  core.target = core.keeps ? kNoLink : core.ports.ring_out;
  core.inputs_left = 0;
}

void StreamingCores::load_part(Core& core, std::uint32_t keeper) const {
  const ReducePlan::Role& role = kernel_.reduce.role(kernel_.columns(), keeper, core.ports.column);
  core.keeps = role.keeps;
  core.next_input = role.first;
  core.inputs_left = role.inputs;
  core.target = kNoLink;
  if (!role.keeps) {
    core.target = std::find_if(core.ports.out.begin(), core.ports.out.end(), [&](auto& port) {
                    return port.color == role.out;
                  })->queue;
  }
  next_instruction(core);
}

/// Takes up the next input, if there is one.
void StreamingCores::next_instruction(Core& core) const {
  core.source = kNoLink;
  if (core.inputs_left == 0) return;
  const Color color = kernel_.reduce.inputs[core.next_input++].color;
  --core.inputs_left;
  core.source = std::find_if(core.ports.in.begin(), core.ports.in.end(), [&](auto& port) {
                  return port.color == color;
                })->queue;
}

bool StreamingCores::load_reduction(Core& core, Cycle now) {
  if (core.loaded != core.reduced || core.loaded == core.closed) return false;
  const std::uint32_t keeper = kernel_.final_column[core.loaded];
  kernel_.reduce.is_ring() ? load_ring(core, keeper) : load_part(core, keeper);
  core.words_left = ceil_div(kernel_.tokens[core.ports.row], kernel_.ring_elements);
  log_.record(now, core.ports.unit, kReductionStart, core.loaded);
  ++core.loaded;
  return true;
}

bool StreamingCores::main_thread(Core& core, std::size_t index, Cycle now) {
  bool acted = false;
  const bool active = vector_active(core, now);
  core.blocked = false;
  // A command that found no free buffer is still waiting to open one; handlers wait behind it.
  const bool opening = !core.holding && core.closed < kernel_.steps;
  if (core.task_full && core.task_ready <= now && !active) {
    core.blocked = !core.holding;
    if (core.holding && can_start(core, now)) {
      core.task_full = false;
      acted = true;
      core.task.control ? command(core, now) : weight(core, index, now);
    }
  }
  const bool may_take =
      (dispatch_.overlaps() || !vector_active(core, now)) && now >= dispatch_.begin();
  if (!core.task_full && may_take && links_.can_pop(core.ports.weights, now)) {
    core.task = links_.pop(core.ports.weights, now);
    core.task_full = true;
    core.task_ready = now + dispatch_.delay(core.task.control);
    ++core.counters.received;
    log_.record(now, core.ports.unit, kQueuePop, stream_color(core));
    acted = true;
  }
  if (opening) take_buffer(core);
  return acted || (opening && core.holding);
}

/// A weight in two words takes effect once the second has arrived.
bool StreamingCores::can_start(const Core& core, Cycle now) const {
  return core.task.control || kernel_.form != StreamForm::wide ||
         links_.can_pop(core.ports.weights, now);
}

void StreamingCores::weight(Core& core, std::size_t index, Cycle now) {
  const std::uint32_t payload = core.task.payload;
  ++core.counters.words;
  log_.record(now, core.ports.unit, kTask, 0);
  log_.record(now, core.ports.unit, kVectorActive, core.closed);
  switch (kernel_.form) {
    case StreamForm::indexed:
      begin_vector(core, index, payload >> 16U, kernel_.value(payload));
      return;
    case StreamForm::packed:
      begin_vectors(core, index, payload);
      return;
    case StreamForm::wide: {
      const std::uint32_t value = links_.pop(core.ports.weights, now).payload;
      ++core.counters.received;
      log_.record(now, core.ports.unit, kQueuePop, stream_color(core));
      begin_vector(core, index, payload, detail::float_of(value));
      return;
    }
    case StreamForm::plain:
      begin_vector(core, index,
                   kernel_.first_feature(core.closed, core.ports.column) + core.position,
                   detail::float_of(payload));
      return;
  }
}

/// One instruction for each value of a word; the last word of a row may hold fewer.
void StreamingCores::begin_vectors(Core& core, std::size_t index, std::uint32_t payload) {
  const std::uint32_t left = kernel_.count(core.closed, core.ports.column) - core.position;
  const std::uint32_t values = std::min(kernel_.weights_per_word(), left);
  const std::uint32_t feature =
      kernel_.first_feature(core.closed, core.ports.column) + core.position;
  begin_vector(core, index, feature, kernel_.value(payload));
  const std::uint32_t cycles = core.beat_cycles;
  const bool adds = core.adds;
  const std::uint32_t beats = core.vector_left;
  for (std::uint32_t i = 1; i < values; ++i) {
    begin_vector(core, index, feature + i, kernel_.value(payload, i));
  }
  core.vector_left = beats;
  core.beat_cycles = cycles;
  core.adds = adds;
  core.follows = values - 1;
}

/// An instruction over the tokens of one feature becomes active.
void StreamingCores::begin_vector(Core& core, std::size_t index, std::uint32_t feature,
                                  float value) {
  const std::uint32_t buffer = core.closed % kernel_.lookahead;
  const std::uint32_t tokens = kernel_.tokens[core.ports.row];
  const bool scattered = !kernel_.held.empty();
  const std::size_t place = std::size_t{core.ports.row} * kernel_.columns() + core.ports.column;
  const std::uint32_t elements = scattered ? kernel_.held[place][feature] : tokens;
  core.vector_left = scattered ? elements : ceil_div(tokens, kernel_.simd);
  core.adds = scattered || !core.fresh;
  core.beat_cycles = core.adds ? kernel_.beat_cycles : kernel_.first_cycles;
  core.element = 0;
  ++core.position;
  ++core.counters.weights;
  core.counters.products += elements;
  if (core.fresh) ++core.counters.first_weights;
  if (!values_.empty()) values_[index].multiply_add(buffer, feature, value, core.fresh);
  core.fresh = false;
  filled_[index * kernel_.lookahead + buffer] = 1;
}

void StreamingCores::command(Core& core, Cycle now) {
  ++core.counters.commands;
  log_.record(now, core.ports.unit, kTask, 1);
  ++core.closed;
  core.position = 0;
  core.holding = false;
  if (core.closed < kernel_.steps) take_buffer(core);
}

unsigned StreamingCores::words_of_beat(const Core& core) const {
  return std::min<unsigned>(params_.fabric_words_per_issue, core.words_left);
}

bool StreamingCores::starved(const Core& core, Cycle now) const {
  return core.source != kNoLink && !links_.has(core.source, now, words_of_beat(core));
}

bool StreamingCores::reduction_can_issue(const Core& core, Cycle now) const {
  if (core.loaded == core.reduced || starved(core, now)) return false;
  return core.inputs_left != 0 || core.target == kNoLink ||
         links_.can_push(core.target, now, words_of_beat(core));
}

/// Who issues in this cycle.
StreamingCores::Context StreamingCores::choose(Core& core, Cycle now) const {
  if (core.slot_free > now) return kNobody;
  const std::uint32_t contexts = (core.vector_left != 0 ? 1U << kMain : 0U) | 1U << kMicrothread;
  return choose_context(issue_, contexts, core.turn, [&](Context context) {
    return context == kMain || reduction_can_issue(core, now);
  });
}

bool StreamingCores::issue(Core& core, std::size_t index, Cycle now) {
  const Context context = choose(core, now);
  extend_run(core, context, now);
  if (context == kNobody) {
    core.waiting_for = cause(core, now);
    ++core.counters.cycles[core.waiting_for];
    return false;
  }
  if (context == kMicrothread) {
    ++core.counters.cycles[kReduce];
    reduction_beat(core, index, now);
    return true;
  }
  main_beat(core, now);
  return true;
}

void StreamingCores::main_beat(Core& core, Cycle now) {
  ++core.counters.cycles[kFma];
  const std::uint32_t stalls = residual_stalls(core);
  core.slot_kind = kernel_.held.empty() ? kConflict : kScalar;
  core.stalled_from = now + core.beat_cycles;
  core.slot_free = core.stalled_from + stalls;
  core.vector_end = core.slot_free;
  if (--core.vector_left != 0 || core.follows == 0) return;
  --core.follows;
  core.vector_left = ceil_div(kernel_.tokens[core.ports.row], kernel_.simd);
  core.beat_cycles = kernel_.beat_cycles;
  core.adds = true;
  core.element = 0;
}

/// The stalls after the elements of this beat.
std::uint32_t StreamingCores::residual_stalls(Core& core) const {
  if (kernel_.stalls == 0 || !core.adds) return 0;
  const std::uint32_t before = wse::residual_stalls(core.element, kernel_.stalls);
  core.element += kernel_.simd;
  return wse::residual_stalls(core.element, kernel_.stalls) - before;
}

/// One word of a reduction: what came in, plus the sums here.
Wavelet StreamingCores::reduce_word(Core& core, std::size_t index, std::uint32_t buffer,
                                    Cycle now) {
  const std::uint32_t tokens = kernel_.tokens[core.ports.row];
  Wavelet word;
  if (core.source != kNoLink) {
    const Wavelet in = links_.pop(core.source, now);
    word.payload = in.payload;
    ++core.counters.received;
    log_.record(now, core.ports.unit, kQueuePop, static_cast<std::uint64_t>(in.color));
  }
  if (values_.empty()) return word;
  const std::uint32_t all = ceil_div(tokens, kernel_.ring_elements);
  const std::uint32_t first = (all - core.words_left) * kernel_.ring_elements;
  const std::uint32_t count = std::min(kernel_.ring_elements, tokens - first);
  if (core.inputs_left != 0) {
    values_[index].gather(buffer, word.payload, first, count);
    return word;
  }
  word.payload = values_[index].add(buffer, word.payload, first, count);
  if (core.keeps) values_[index].keep(word.payload, count);
  return word;
}

void StreamingCores::reduction_beat(Core& core, std::size_t index, Cycle now) {
  const std::uint32_t buffer = core.reduced % kernel_.lookahead;
  std::uint8_t& filled = filled_[index * kernel_.lookahead + buffer];
  const bool first =
      core.words_left == ceil_div(kernel_.tokens[core.ports.row], kernel_.ring_elements);
  if (!values_.empty() && filled == 0 && first) values_[index].clear(buffer);
  const bool gathers = core.inputs_left != 0;
  for (unsigned words = words_of_beat(core); words != 0; --words, --core.words_left) {
    Wavelet word = reduce_word(core, index, buffer, now);
    if (gathers || core.target == kNoLink) continue;
    word.color = out_color(core);
    links_.push(core.target, now, word);
  }
  core.slot_kind = kConflict;
  core.slot_free = core.stalled_from =
      now + (gathers ? kernel_.gather_cycles : kernel_.reduce_cycles);
  if (core.words_left != 0) return;
  if (filled != 0) ++core.counters.summed;
  if (filled != 0 && core.source != kNoLink) ++core.counters.added;
  if (!gathers) {
    if (core.keeps) ++core.counters.kept;
    end_reduction(core, now);
    return;
  }
  ++core.counters.gathered;
  filled = 1;
  core.words_left = ceil_div(kernel_.tokens[core.ports.row], kernel_.ring_elements);
  next_instruction(core);
}

Color StreamingCores::out_color(const Core& core) const {
  const std::uint32_t column = core.ports.column;
  if (kernel_.reduce.is_ring()) return kernel_.ring_out[column];
  return kernel_.reduce.role(kernel_.columns(), kernel_.final_column[core.reduced], column).out;
}

void StreamingCores::end_reduction(Core& core, Cycle now) {
  const auto index = static_cast<std::size_t>(&core - cores_.data());
  filled_[index * kernel_.lookahead + core.reduced % kernel_.lookahead] = 0;
  log_.record(now, core.ports.unit, kReductionEnd, core.reduced);
  ++core.reduced;
  ++core.counters.reductions;
  core.releasing = true;
  core.counters.end = now + 1;
  if (idle(core)) ++finished_;
}

/// Keeps the record of beats issued one after the other by the same context.
void StreamingCores::extend_run(Core& core, Context context, Cycle now) {
  if (!log_.enabled()) return;
  if (context == core.run_of && now == core.run_begin + core.run_length) {
    ++core.run_length;
    return;
  }
  if (core.run_of != kNobody) {
    const std::uint64_t microthread = core.run_of == kMicrothread ? 1 : 0;
    log_.record(core.run_begin, core.ports.unit, kBeatRun,
                std::uint64_t{core.run_length} << 1U | microthread);
  }
  core.run_of = context;
  core.run_begin = now;
  core.run_length = 1;
}

/// Why no beat was issued: what keeps the main thread, or if that has finished the microthread.
CoreCycle StreamingCores::cause(const Core& core, Cycle now) const {
  if (idle(core)) return kDone;  // its last beat may still hold the memory
  if (core.slot_free > now) return core.stalled_from <= now ? kResidual : core.slot_kind;
  if (core.task_full) {
    if (core.blocked) return kWaitBuffer;
    return core.task_ready > now || can_start(core, now) ? kDispatch : kWaitWeights;
  }
  if (core.closed != kernel_.steps) return kWaitWeights;
  if (core.loaded == core.reduced) return kDispatch;  // the reduction is loaded in the next cycle
  return starved(core, now) ? kWaitRingIn : kWaitRingOut;
}

std::string StreamingCores::blocked(std::size_t index) const {
  const Core& core = cores_[index];
  const Cycle now = kNever - 2;  // whatever was under way has arrived
  if (idle(core)) return "";
  const CorePorts& ports = core.ports;
  std::string text = fmt::format("core ({}, {})", ports.column, ports.row);
  if (core.closed == kernel_.steps || core.blocked) {
    const CoreCycle why = core.blocked ? kWaitBuffer : cause(core, now);
    text += why == kWaitBuffer   ? ": waits for a free partial-sum buffer"
            : why == kWaitRingIn ? ": reduction waits for a word of the ring"
                                 : ": reduction waits for room in the ring's output queue";
    if (!kernel_.reduce.is_ring() && !core.blocked) {
      text = fmt::format("core ({}, {}): reduction waits for {}", ports.column, ports.row,
                         why == kWaitRingIn ? "a partial sum" : "room in its output queue");
    }
    return text + fmt::format(", row {} of {} of the sums", core.reduced, kernel_.steps);
  }
  return text + fmt::format(": waits for weights on color {}, row {} of {}", stream_color(core),
                            core.closed, kernel_.steps);
}

}  // namespace lacuna::wse
