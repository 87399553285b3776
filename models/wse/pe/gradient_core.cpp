// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/gradient_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/fp16.hpp"

namespace lacuna::wse {
namespace {

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
    : ControlledCores(params, links, log), stream_(stream), kernel_(kernel) {}

void GradientCores::add(const CorePorts& ports) {
  cores_.emplace_back();
  Core& core = cores_.back();
  core.ports = ports;
  core.weights = queue_of(ports.in, stream_.stream_color(ports.column));
  const std::uint32_t row = stream_.tokens[ports.row];
  core.control =
      &control_of(controls_, row, [&] { return Control(params_, stream_, kernel_, row, true); });
  const bool works = stream_.steps != 0 && !core.lends_router();
  core.state = core.control->begin(flag(works), kernel_.begins_with_stream);
  for (const CorePort& port : core.ports.in) {
    const bool down = kernel_.chains_on(port.color);
    if (down) core.from_north = port.queue;
    if (!down && port.queue != core.weights) core.from_ring = port.queue;
  }
  for (const CorePort& port : core.ports.out) {
    (port.color == kernel_.down[ports.row % 2] ? core.to_south : core.to_ring) = &port;
  }
  core.next_column = next_on_rings(stream_)[ports.column];
  if (core.lends_router()) {
    core.waiting_for = kDone;
    core.state.free = core.control->buffers_in_use(State{});  // all of them
  }
  if (works) core.turns.look_up(core.state, 0, stream_, ports.column, core.next_column);
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
  if (!works) ++finished_;
}

Cycle GradientCores::control(Core& core, std::size_t index, const LaneIssue<Number>& slot) {
  Control::Beats issued{};
  const CoreWaits<Number> waits = core.control->step(core.state, *this, index, now_, issued);
  book(core, issued, slot, waits.why(), in_use(core));
  return 0;
}

void GradientCores::start(std::size_t place, const Lane& lanes) {
  if (lanes[0] == 0) return;
  Core& core = cores_[place];
  core.acted = true;
  log_.record(now_, core.ports.unit, kTask, 0);
  log_.record(now_, core.ports.unit, kVectorActive, core.turns.close);
  ++core.counters.words;
  ++core.counters.weights;
  core.counters.products += tokens(core);
  if (values_.empty()) return;
  Values& values = values_[place];
  values.results.push_back(dot(core, values, core.task.payload));
}

void GradientCores::advance(State& state, std::size_t place, const Lane& take, const Lane& sent,
                            const Lane& close) {
  Core& core = cores_[place];
  core.acted = true;
  if (close[0] != 0) {
    ++core.counters.commands;
    log_.record(now_, core.ports.unit, kTask, 1);
  }
  core.turns.advance(state, 0, take[0] != 0, sent[0] != 0, close[0] != 0, stream_,
                     core.ports.column, core.next_column);
}

Lanes<std::int64_t> GradientCores::has_ring(std::size_t place, const Lane& need) const {
  const Core& core = cores_[place];
  return flag(need[0] == 0 || (core.from_ring != kNoLink &&
                               links_.has(core.from_ring, now_, static_cast<unsigned>(need[0]))));
}

Lanes<std::int64_t> GradientCores::ring_room(std::size_t place, const Lane& need) const {
  const Core& core = cores_[place];
  return flag(core.to_ring != nullptr &&
              links_.can_push(core.to_ring->queue, now_, static_cast<unsigned>(need[0])));
}

Lanes<std::int64_t> GradientCores::has_chain(std::size_t place) const {
  const Core& core = cores_[place];
  return flag(core.from_north == kNoLink || links_.can_pop(core.from_north, now_));
}

Lanes<std::int64_t> GradientCores::ring_left(std::size_t place) const {
  const Core& core = cores_[place];
  return flag(core.to_ring == nullptr || links_.front_ready(core.to_ring->queue) == kNever);
}

void GradientCores::move(std::size_t place, const Lane& take, const Lane& words_in,
                         const Lane& send, const Lane& words_out, const Lane& chain) {
  Core& core = cores_[place];
  if (take[0] != 0) take_words(core, place, words_in[0]);
  if (send[0] != 0) send_words(core, place, words_out[0]);
  if (chain[0] != 0) chain_word(core, place);
}

void GradientCores::take_words(Core& core, std::size_t index, Number words) {
  const auto taken = static_cast<std::uint32_t>(core.state.words_taken[0]);
  for (std::uint32_t word = taken; word < taken + words; ++word) {
    const auto color = static_cast<std::uint64_t>(stream_.ring_in[core.ports.column]);
    const std::uint32_t payload = take(core, core.from_ring, color).payload;
    ++core.counters.kept;
    if (values_.empty()) continue;
    Values& values = values_[index];
    float* const vector =
        values.received.data() + std::size_t{values.place_of_step[core.turns.take]} * tokens(core);
    const std::uint32_t first = word * stream_.ring_elements;
    for (std::uint32_t i = 0; i < stream_.ring_elements && first + i < tokens(core); ++i) {
      vector[first + i] = value_of(payload >> (16U * i), stream_.ring_fp32);
    }
  }
}

void GradientCores::send_words(Core& core, std::size_t index, Number words) {
  const auto sent = static_cast<std::uint32_t>(core.state.words_sent[0]);
  for (std::uint32_t number = sent; number < sent + words; ++number) {
    Wavelet word{0, core.to_ring->color, false};
    if (!values_.empty()) {
      const Values& values = values_[index];
      const std::uint32_t step = core.turns.sent;
      const float* const vector = (owns(core, step) ? values.own : values.received).data() +
                                  std::size_t{values.place_of_step[step]} * tokens(core);
      const std::uint32_t first = number * stream_.ring_elements;
      for (std::uint32_t i = 0; i < stream_.ring_elements && first + i < tokens(core); ++i) {
        word.payload |= word_of(vector[first + i], stream_.ring_fp32) << (16U * i);
      }
    }
    links_.push(core.to_ring->queue, now_, word);
    ++core.counters.summed;
  }
}

void GradientCores::chain_word(Core& core, std::size_t index) {
  Wavelet word{0, core.to_south->color, false};
  if (core.from_north != kNoLink) {
    const auto color = static_cast<std::uint64_t>(kernel_.down[(core.ports.row + 1) % 2]);
    word.payload = take(core, core.from_north, color).payload;
    ++core.counters.added;
  }
  if (!values_.empty()) {
    std::vector<float>& results = values_[index].results;
    const float before =
        core.from_north == kNoLink ? 0.0F : value_of(word.payload, stream_.ring_fp32);
    word.payload = word_of(before + results.front(), stream_.ring_fp32);
    results.erase(results.begin());
  }
  links_.push(core.to_south->queue, now_, word);
  log_.record(now_, core.ports.unit, kReductionEnd, core.chained);
  ++core.chained;
  ++core.counters.reductions;
}

void GradientCores::progress(std::size_t place, const Lane& lanes) {
  if (lanes[0] == 0) return;
  cores_[place].acted = true;
  cores_[place].counters.end = now_ + 1;
}

float GradientCores::dot(const Core& core, const Values& values, std::uint32_t feature) const {
  const std::uint32_t n = tokens(core);
  const std::uint32_t closed = core.turns.close;
  const bool own = owns(core, closed);
  const float* const dy = (own ? values.own.data() : values.received.data()) +
                          std::size_t{values.place_of_step[closed]} * n;
  const float* const x = values.x.data() + std::size_t{feature} * n;
  float sum = 0;
  for (std::uint32_t t = 0; t < n; ++t) {
    const double product = static_cast<double>(dy[t]) * x[t];
    sum = rounded(product + sum, stream_.psum_fp32);
  }
  return sum;
}

std::string GradientCores::blocked(std::size_t index) const {
  const Core& core = cores_[index];
  if (core.state.done[0] != 0) return "";
  const char* why = "dY of a row or a word of the chain";
  switch (core.waiting_for) {
    case kWaitWeights:
      why = "indices";
      break;
    case kWaitBuffer:
      why = "the chain to take its results";
      break;
    case kWaitRingOut:
      why = "room in an output queue";
      break;
    case kFma:
    case kScalar:
    case kConflict:
    case kResidual:
    case kReduce:
    case kDispatch:
    case kWaitRingIn:
    case kDone:
      break;
  }
  return fmt::format("core ({}, {}): waits for {}, row {} of {}", core.ports.column, core.ports.row,
                     why, core.turns.close, stream_.steps);
}

}  // namespace lacuna::wse
