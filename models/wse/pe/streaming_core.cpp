// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/streaming_core.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna::wse {

StreamingCores::StreamingCores(const HardwareParams& params, const StreamingKernel& kernel,
                               LinkArray& links, EventLog& log)
    : ControlledCores(params, links, log), kernel_(kernel) {}

void StreamingCores::add(const CorePorts& ports) {
  Core core;
  core.ports = ports;
  core.weights = queue_of(ports.in, kernel_.stream_color(ports.column));
  const std::uint32_t tokens = kernel_.tokens[ports.row];
  core.control = &control_of(controls_, tokens, [&] { return Control(params_, kernel_, tokens); });
  // A core without tokens only lends its router.
  if (tokens == 0) core.closed = core.loaded = core.reduced = kernel_.steps;
  core.state = core.control->begin(flag(!idle(core)));
  if (kernel_.exchange.on() && tokens != 0) set_exchange(core);
  if (idle(core)) core.waiting_for = kDone;
  cores_.push_back(core);
  filled_.resize(filled_.size() + kernel_.lookahead, 0);
  if (!kernel_.activations.empty()) {
    const std::size_t place = std::size_t{ports.row} * kernel_.columns() + ports.column;
    values_.emplace_back(
        CoreValues::Format{kernel_.fp32, kernel_.psum_fp32, kernel_.ring_fp32, kernel_.int8},
        tokens, kernel_.lookahead, kernel_.activations[place]);
    kept_words_.emplace_back();
    taken_words_.emplace_back();
  }
  if (idle(core)) ++finished_;
}

Cycle StreamingCores::control(Core& core, std::size_t index, const LaneIssue<Number>& slot) {
  StreamState<Number>& state = core.state;
  const Number held = state.holding[0];
  state.tallies = {};
  Control::Issued issued{};
  Lane ended{};
  const CoreWaits<Number> waits = core.control->step(state, *this, index, now_, issued, ended);
  const bool scattered = !kernel_.held.empty() && slot.kept_by_main()[0] != 0;
  const CoreCycle why = waits.why();
  book(core, issued, slot, scattered && why == kConflict ? kScalar : why, in_use(core));
  for (std::size_t i = 0; i < kStreamTallies.size(); ++i) {
    core.counters.tallies[i] += number(state.tallies[i]);
  }
  core.acted = core.acted || state.holding[0] != held;
  return number(state.extra);
}

void StreamingCores::slept(Core& core, Cycle cycles) {
  for (std::size_t i = 0; i < kStreamTallies.size(); ++i) {
    if (!kStreamTallies[i].lasts()) continue;
    core.counters.tallies[i] += number(core.state.tallies[i]) * cycles;
  }
}

void StreamingCores::take_value(std::size_t place, const Lane& lanes) {
  Core& core = cores_[place];
  if (lanes[0] == 0) return;
  take(core, core.weights, stream_color(core));
  ++core.counters.stream_words;
}

/// The handler of a weight takes effect; of one in two words the second is still in the queue.
Lanes<std::int64_t> StreamingCores::start(std::size_t place, const Lane& lanes) {
  Core& core = cores_[place];
  if (lanes[0] == 0) return Lane{};
  core.acted = true;
  const std::uint32_t payload = core.task.payload;
  ++core.counters.words;
  log_.record(now_, core.ports.unit, kTask, 0);
  log_.record(now_, core.ports.unit, kVectorActive, core.closed);
  switch (kernel_.form) {
    case StreamForm::indexed:
      return Lane{begin_vector(core, place, payload >> 16U, kernel_.value(payload))};
    case StreamForm::packed:
      return Lane{begin_vectors(core, place, payload)};
    case StreamForm::wide: {
      const std::uint32_t value = links_.front(core.weights).payload;
      return Lane{begin_vector(core, place, payload, detail::float_of(value))};
    }
    case StreamForm::plain:
      return Lane{begin_vector(
          core, place, kernel_.first_feature(core.closed, core.ports.column) + core.position,
          detail::float_of(payload))};
  }
  return Lane{};
}

/// One instruction for each value of a word; the last word of a row may hold fewer.
std::uint32_t StreamingCores::begin_vectors(Core& core, std::size_t index, std::uint32_t payload) {
  const std::uint32_t left = kernel_.count(core.closed, core.ports.column) - core.position;
  const std::uint32_t values = std::min(kernel_.weights_per_word(), left);
  const std::uint32_t feature =
      kernel_.first_feature(core.closed, core.ports.column) + core.position;
  std::uint32_t beats = 0;
  for (std::uint32_t i = 0; i < values; ++i) {
    beats += begin_vector(core, index, feature + i, kernel_.value(payload, i));
  }
  return beats;
}

/// An instruction over the tokens of one feature; returns its beats.
std::uint32_t StreamingCores::begin_vector(Core& core, std::size_t index, std::uint32_t feature,
                                           float value) {
  const std::uint32_t buffer = core.closed % kernel_.lookahead;
  const std::uint32_t tokens = kernel_.tokens[core.ports.row];
  const bool scattered = !kernel_.held.empty();
  const std::size_t place = std::size_t{core.ports.row} * kernel_.columns() + core.ports.column;
  const std::uint32_t elements = scattered ? kernel_.held[place][feature] : tokens;
  const bool first = core.position++ == 0;
  ++core.counters.weights;
  core.counters.products += elements;
  if (first) ++core.counters.first_weights;
  if (!values_.empty()) values_[index].multiply_add(buffer, feature, value, first);
  filled_[index * kernel_.lookahead + buffer] = 1;
  return scattered ? elements : kernel_.beats(tokens);
}

void StreamingCores::look_up(StreamState<Number>& state, std::size_t place, const Lane& load,
                             const Lane& close) {
  Core& core = cores_[place];
  core.acted = true;
  if (load[0] != 0) {
    load_sums(core, kernel_.keeper(core.loaded, core.ports.column));
    core.words_left = words_of(core);
    log_.record(now_, core.ports.unit, kReductionStart, core.loaded);
    ++core.loaded;
  }
  if (close[0] != 0) {
    ++core.counters.commands;
    log_.record(now_, core.ports.unit, kTask, 1);
    core.position = 0;
    if (++core.closed == kernel_.steps) state.open = Lane{};
  }
}

void StreamingCores::load_sums(Core& core, std::uint32_t keeper) const {
  core.sums.load(kernel_, keeper, core.ports.column);
  core.target = core.sums.sends(kernel_) ? queue_of(core.ports.out, core.sums.out) : kNoLink;
  next_instruction(core);
}

void StreamingCores::next_instruction(Core& core) const {
  const std::optional<Color> in = core.sums.begin(kernel_, core.ports.column);
  core.source = in ? queue_of(core.ports.in, *in) : kNoLink;
}

Lanes<std::int64_t> StreamingCores::fed(std::size_t place, const Lane& need) const {
  const Core& core = cores_[place];
  return flag(need[0] == 0 || core.source == kNoLink ||
              links_.has(core.source, now_, static_cast<unsigned>(need[0])));
}

Lanes<std::int64_t> StreamingCores::room(std::size_t place, const Lane& need) const {
  const Core& core = cores_[place];
  return flag(need[0] == 0 || core.sums.gathers() || core.target == kNoLink ||
              links_.can_push(core.target, now_, static_cast<unsigned>(need[0])));
}

/// One word of a reduction: what came in, plus the sums here.
Wavelet StreamingCores::reduce_word(Core& core, std::size_t index) {
  const std::uint32_t buffer = core.reduced % kernel_.lookahead;
  Wavelet word;
  if (core.source != kNoLink) {
    word.payload = take(core, core.source, color_of(core.source)).payload;
  }
  if (values_.empty()) return word;
  const std::uint32_t first = (words_of(core) - core.words_left) * kernel_.ring_elements;
  const std::uint32_t count =
      std::min(kernel_.ring_elements, kernel_.tokens[core.ports.row] - first);
  if (core.sums.gathers()) {
    values_[index].gather(buffer, word.payload, first, count);
    return word;
  }
  word.payload = values_[index].add(buffer, word.payload, first, count);
  if (core.sums.keeps) {
    values_[index].keep(word.payload, count);
    if (kernel_.exchange.on()) kept_words_[index].push_back(word.payload);
  }
  return word;
}

void StreamingCores::take_sums(std::size_t place, const Lane& words, const Lane& lanes) {
  if (lanes[0] == 0) return;
  Core& core = cores_[place];
  const bool begins = core.words_left == words_of(core);
  if (!values_.empty() && begins && filled(core, place) == 0) {
    values_[place].clear(core.reduced % kernel_.lookahead);
  }
  core.counters.sum_words += static_cast<std::uint64_t>(words[0]);
  for (Number i = 0; i < words[0]; ++i, --core.words_left) {
    Wavelet word = reduce_word(core, place);
    if (core.sums.gathers() || core.target == kNoLink) continue;
    word.color = core.sums.out;
    links_.push(core.target, now_, word);
  }
}

/// The last word of an instruction of a reduction has been moved.
Lanes<std::int64_t> StreamingCores::finish(std::size_t place, const Lane& lanes) {
  if (lanes[0] == 0) return Lane{};
  Core& core = cores_[place];
  std::uint8_t& is_filled = filled(core, place);
  if (is_filled != 0) ++core.counters.summed;
  if (is_filled != 0 && core.source != kNoLink) ++core.counters.added;
  if (core.sums.gathers()) {
    ++core.counters.gathered;
    is_filled = 1;
    core.words_left = words_of(core);
    next_instruction(core);
    return Lane{};
  }
  if (core.sums.keeps) ++core.counters.kept;
  is_filled = 0;
  log_.record(now_, core.ports.unit, kReductionEnd, core.reduced);
  ++core.reduced;
  ++core.counters.reductions;
  core.counters.end = now_ + 1;
  if (core.reduced == kernel_.steps && !kernel_.exchange.on()) ++finished_;
  return lanes;
}

bool StreamingCores::exchanged(const Core& core) {
  const StreamState<Number>& s = core.state;
  return (s.unsent[0] | s.untaken[0] | s.sending[0] | s.taking[0]) == 0;
}

void StreamingCores::kept(StreamState<Number>& /*state*/, std::size_t place, const Lane& lanes) {
  if (lanes[0] == 0) return;
  Core& core = cores_[place];
  core.packets.reduced(core.sums.keeps);
  set_exchange(core);
  if (idle(core)) ++finished_;
}

/// A packet is the words of a row and a command; an instruction sends it on one bus.
void StreamingCores::begin_packets(StreamState<Number>& state, std::size_t place, const Lane& send,
                                   const Lane& take) {
  Core& core = cores_[place];
  const ExchangePlan::Column& mine = exchange_of(core);
  const auto bus_color = [&](std::uint32_t bus) { return kernel_.exchange.buses[bus].color; };
  if (take[0] != 0) {
    core.packet_from = queue_of(core.ports.in, bus_color(core.packets.take(mine).bus));
    state.taking[0] = words_of(core) + 1;
    ++core.counters.rows_taken;
    core.acted = true;
  }
  if (send[0] != 0) {
    core.packet_row = core.packets.sent / static_cast<std::uint32_t>(mine.sends.size());
    const ExchangePlan::Send& way = core.packets.send(mine);
    core.packet_color = bus_color(way.bus);
    core.packet_to = queue_of(core.ports.out, core.packet_color);
    core.packet_end = way.control;
    state.sending[0] = words_of(core) + 1;
    ++core.counters.rows_sent;
    core.counters.rows_copied += way.copies;
    core.acted = true;
  }
  set_exchange(core);
}

void StreamingCores::send_packet(std::size_t place, const Lane& words, const Lane& lanes) {
  if (lanes[0] == 0) return;
  Core& core = cores_[place];
  // The control has counted the words down.
  auto left = static_cast<std::uint32_t>(core.state.sending[0] + words[0]);
  for (Number i = 0; i < words[0]; ++i, --left) {
    Wavelet word;
    word.color = core.packet_color;
    if (left == 1) {
      word.control = true;
      word.switches = core.packet_end;
    } else if (!values_.empty() && core.packet_row < exchange_of(core).keeps) {
      const std::uint32_t at = words_of(core) + 1 - left;
      word.payload = kept_words_[place][std::size_t{core.packet_row} * words_of(core) + at];
    }
    links_.push(core.packet_to, now_, word);
  }
  finish_exchange(core);
}

void StreamingCores::take_packet(std::size_t place, const Lane& words, const Lane& lanes) {
  if (lanes[0] == 0) return;
  Core& core = cores_[place];
  for (Number i = 0; i < words[0]; ++i) {
    const Wavelet word = take(core, core.packet_from, color_of(core.packet_from));
    if (!values_.empty() && !word.control) taken_words_[place].push_back(word.payload);
  }
  finish_exchange(core);
}

/// The core has ended with what it sent or took last, if nothing else is left.
void StreamingCores::finish_exchange(Core& core) {
  core.counters.end = std::max(core.counters.end, now_ + 1);
  if (idle(core)) ++finished_;
}

std::string StreamingCores::blocked(std::size_t index) const {
  const Core& core = cores_[index];
  if (idle(core)) return "";
  const CorePorts& ports = core.ports;
  const std::string text = fmt::format("core ({}, {}): ", ports.column, ports.row);
  const auto row = fmt::format(", row {} of {} of the sums", core.reduced, kernel_.steps);
  if (core.state.waits[0] != 0) return text + "waits for a free partial-sum buffer" + row;
  if (core.reduced == kernel_.steps) {
    return text + (core.state.sending[0] != 0 ? "waits for room to send results to other groups"
                                              : "waits for results of other groups");
  }
  if (core.closed == kernel_.steps) {
    const bool starved = core.waiting_for == kWaitRingIn;
    return text + "reduction waits for " +
           (starved ? "a partial sum" : "room in its output queue") + row;
  }
  return text + fmt::format("waits for weights on color {}, row {} of {}", stream_color(core),
                            core.closed, kernel_.steps);
}

}  // namespace lacuna::wse
