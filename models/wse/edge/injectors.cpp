// SPDX-License-Identifier: Apache-2.0
#include "models/wse/edge/injectors.hpp"

#include <fmt/format.h>

namespace lacuna::wse {

template <class Number>
Injectors<Number>::Injectors(const RouterParams& router, const Program& program)
    : program_(program),
      rule_(router),
      lanes_(program.columns + program.background.size()),
      tokens_(program),
      stream_(program),
      stored_(whole_blocks<Number>(lanes_), 0),
      left_(stored_),
      candidates_(stored_),
      chosen_(stored_),
      no_token_(stored_),
      closed_(stored_),
      holds_(kWidth == 1 ? lanes_ : 0),
      rest_(lanes_, 0),
      scan_left_(program.scan_cycles.empty() ? 0 : stored_.size(), 0),
      scanned_(scan_left_.size(), 0),
      found_(scan_left_.size(), -1),
      counters_(lanes_),
      ended_(lanes_, kNever) {
  if (rule_.on_links()) {
    gated_ = stored_;
    meters_.resize(stored_.size() / kWidth);
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) count_words(lane);
  for (const std::uint32_t inlet : program.inlets) {
    counters_[inlet] = {};
    rest_[inlet] = 0;
    ended_[inlet] = kNever;
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (rest_[lane] != 0) take_up(lane, 0);
    if (!scan_left_.empty()) look_for_next(lane);
  }
}

template <class Number>
void Injectors<Number>::count_words(std::size_t lane) {
  InjectorCounters& counters = counters_[lane];
  if (lane >= program_.columns) {
    counters.words = program_.background[lane - program_.columns].words;
  } else if (program_.has_stream(lane)) {
    const StreamingKernel& kernel = program_.kernel;
    counters.zeros = kernel.zeros_of(lane);
    counters.words = counters.zeros + kernel.steps;
    for (std::size_t s = 0; s < kernel.steps; ++s) counters.words += kernel.words(s, lane);
  }
  rest_[lane] = counters.words;
  if (rest_[lane] == 0) ended_[lane] = 0;
}

template <class Number>
void Injectors<Number>::look_for_next(std::size_t lane) {
  if (lane >= program_.scan_cycles.size()) return;
  const std::vector<std::uint16_t>& scan = program_.scan_cycles[lane];
  if (scanned_[lane] == scan.size()) return;
  scan_left_[lane] = scan[scanned_[lane]++];
}

/// A cycle of the filters.
template <class Number>
void Injectors<Number>::scan() {
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (scan_left_[lane] > 0) --scan_left_[lane];
    found_[lane] = scan_left_[lane] == 0 ? Number{-1} : Number{0};
  }
}

template <class Number>
const std::vector<Number>& Injectors<Number>::send_words(Cycle now,
                                                         const std::vector<Number>& room) {
  if (!scan_left_.empty()) scan();
  const std::vector<Number>& open = metered(room);
  if (program_.column_fifo != 0) return send_stored(now, open);
  const std::uint64_t words = find_candidates(open);
  if (!tokens_.in().affords(words)) {
    choose(now);
    send(chosen_, now);
    return chosen_;
  }
  tokens_.in().pay(words);
  send(candidates_, now);
  return candidates_;
}

/// The lanes of `open` whose link is not shut.
template <class Number>
const std::vector<Number>& Injectors<Number>::metered(const std::vector<Number>& open) {
  if (meters_.empty()) return open;
  for (std::size_t i = 0; i < meters_.size(); ++i) {
    store(&gated_[i * kWidth], load(&open[i * kWidth]) & meters_[i].open());
  }
  return gated_;
}

/// Each FIFO sends a word of those it had before the cycle; the stream goes on.
template <class Number>
const std::vector<Number>& Injectors<Number>::send_stored(Cycle now,
                                                          const std::vector<Number>& open) {
  for (std::size_t i = 0; i < left_.size(); i += kWidth) {
    const Control control =
        Control::of_fifos(load(&left_[i]) > 0, load(&stored_[i]) > 0, load(&open[i]));
    note(i, control);
    store(&no_token_[i], load(&no_token_[i]) - control.no_token);
  }
  const auto fifo = [&](std::uint32_t c) -> Number& { return stored_[c]; };
  const std::uint64_t put = stream_.advance(
      tokens_.in(),
      [&](std::uint32_t c) { return static_cast<std::uint32_t>(fifo(c)) < program_.column_fifo; },
      [&](std::uint32_t c) { fifo(c) = static_cast<Number>(fifo(c) + 1); });
  for (std::size_t i = 0; i < stored_.size(); i += kWidth) {
    store(&stored_[i], load(&stored_[i]) + load(&candidates_[i]));
  }
  send(candidates_, now);
  moved_ = moved_ || put != 0;
  return candidates_;
}

template <class Number>
inline void Injectors<Number>::note(std::size_t i, const Control& control) {
  store(&candidates_[i], control.asks);
  store(&closed_[i], load(&closed_[i]) - control.closed);
  if constexpr (kWidth == 1) holds_[i] = control;
}

/// Marks the lanes with a word and room for it, and counts them.
template <class Number>
std::uint64_t Injectors<Number>::find_candidates(const std::vector<Number>& open) {
  constexpr std::size_t kBlocksSummed = 100;  // in a lane without overflow
  std::uint64_t found = 0;
  for (std::size_t first = 0; first < left_.size(); first += kBlocksSummed * kWidth) {
    const std::size_t last = std::min(left_.size(), first + kBlocksSummed * kWidth);
    Vector sum{};
    for (std::size_t i = first; i < last; i += kWidth) {
      const Vector there = found_.empty() ? ~Vector{} : load(&found_[i]);
      const Control control = Control::of_streams(load(&left_[i]) > 0, there, load(&open[i]));
      note(i, control);
      sum -= control.asks;
      if (found_.empty()) continue;
      for_each_lane<Number>(control.scanning,
                            [&](unsigned lane) { ++counters_[i + lane].scanning; });
    }
    for (unsigned lane = 0; lane < kWidth; ++lane) found += static_cast<std::uint64_t>(sum[lane]);
  }
  return found;
}

/// There are fewer tokens than candidates: in the order of columns, from (cycle mod columns) on.
template <class Number>
void Injectors<Number>::choose(Cycle now) {
  std::fill(chosen_.begin(), chosen_.end(), Number{0});
  ask_in_turn(now, rest_.size(), [&](std::size_t lane) {
    if (candidates_[lane] == 0) return true;
    if (!tokens_.in().buy()) return false;
    chosen_[lane] = -1;
    return true;
  });
  for (std::size_t i = 0; i < no_token_.size(); i += kWidth) {
    const Vector held = load(&candidates_[i]) & ~load(&chosen_[i]);
    store(&no_token_[i], load(&no_token_[i]) - held);
    if constexpr (kWidth == 1) holds_[i].no_token = held;
  }
}

template <class Number>
void Injectors<Number>::send(const std::vector<Number>& lanes, Cycle now) {
  Vector moved{};
  for (std::size_t i = 0; i < left_.size(); i += kWidth) {
    const Vector go = load(&lanes[i]);
    const Vector left = load(&left_[i]) + go;
    store(&left_[i], left);
    if (!meters_.empty()) meters_[i / kWidth].sent(rule_, go);
    moved |= go;
    for (unsigned lane = 0; lane < kWidth && !scan_left_.empty(); ++lane) {
      if (go[lane] != 0) look_for_next(i + lane);
    }
    const Vector ended = go & (left == 0);
    if (!any(ended)) continue;
    for (unsigned lane = 0; lane < kWidth; ++lane) {
      if (ended[lane] != 0) take_up(i + lane, now + 1);
    }
  }
  moved_ = any(moved);
  if (++unflushed_ == static_cast<unsigned>(std::numeric_limits<Number>::max())) flush();
}

template <class Number>
void Injectors<Number>::take_up(std::size_t lane, Cycle ended) {
  const std::uint64_t chunk = std::min<std::uint64_t>(rest_[lane], kChunk);
  if (chunk == 0) ended_[lane] = ended;
  left_[lane] = static_cast<Number>(chunk);
  rest_[lane] -= chunk;
}

template <class Number>
void Injectors<Number>::flush() {
  unflushed_ = 0;
  for (std::size_t lane = 0; lane < counters_.size(); ++lane) {
    counters_[lane].no_token += static_cast<std::uint64_t>(no_token_[lane]);
    counters_[lane].closed += static_cast<std::uint64_t>(closed_[lane]);
    no_token_[lane] = closed_[lane] = 0;
  }
}

template <class Number>
std::uint64_t Injectors<Number>::words() const {
  std::uint64_t words = 0;
  for (const InjectorCounters& each : counters_) words += each.words;
  return words;
}

template <class Number>
std::uint64_t Injectors<Number>::words_left() const {
  std::uint64_t words = 0;
  for (std::size_t lane = 0; lane < rest_.size(); ++lane) {
    words += rest_[lane] + static_cast<std::uint64_t>(left_[lane]);
  }
  return words;
}

template <class Number>
std::string Injectors<Number>::deadlock(Cycle since, std::size_t rows, std::size_t all) const {
  return fmt::format(
      "deadlock: work is pending, and nothing has moved since cycle {}\n"
      "  rows of cores: {} of {} are not done\n"
      "  injectors: {} words are not sent, so many as io.gbit and io.share let in",
      since, rows, all, words_left());
}

template <class Number>
std::vector<InjectorCounters> Injectors<Number>::counters(Cycle at) {
  flush();
  std::vector<InjectorCounters> counters = counters_;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    const std::uint64_t left = rest_[lane] + static_cast<std::uint64_t>(left_[lane]);
    counters[lane].words = counters[lane].words.value() - left;
    counters[lane].done = at - std::min(at, ended_[lane]);
  }
  counters.resize(program_.columns);
  return counters;
}

template <class Number>
Hold Injectors<Number>::hold(std::size_t lane) const {
  const Control& control = holds_[lane];
  if (control.scanning[0] != 0) return Hold::scanning;
  if (control.closed[0] != 0) return Hold::closed;
  if (control.no_token[0] != 0) return Hold::no_token;
  return control.asks[0] != 0 ? Hold::none : Hold::done;
}

template <class Number>
Cycle Injectors<Number>::next(Cycle now) const {
  bool short_of_tokens = stream_.short_of_tokens();
  Cycle next = kNever;
  for (std::size_t lane = 0; lane < holds_.size(); ++lane) {
    const Hold hold = this->hold(lane);
    if (hold == Hold::scanning) next = std::min(next, now + scan_left_[lane]);
    if (hold == Hold::closed && !meters_.empty()) {
      next = std::min(next, meters_[lane].opens(now, 0));
    }
    short_of_tokens |= hold == Hold::no_token && program_.column_fifo == 0;
  }
  return short_of_tokens ? std::min(next, tokens_.in().next(now)) : next;
}

template <class Number>
void Injectors<Number>::sleep(Cycle cycles) {
  tokens_.fill(cycles);
  for (LaneMeter<Number>& meter : meters_) meter.sleep(cycles);
  for (std::uint32_t& left : scan_left_) {
    left -= static_cast<std::uint32_t>(std::min<Cycle>(left, cycles));
  }
  for (std::size_t lane = 0; lane < holds_.size(); ++lane) {
    const Hold hold = this->hold(lane);
    if (hold == Hold::no_token) counters_[lane].no_token += cycles;
    if (hold == Hold::closed) counters_[lane].closed += cycles;
    if (hold == Hold::scanning) counters_[lane].scanning += cycles;
  }
}

template class Injectors<std::int8_t>;
template class Injectors<std::int16_t>;
template class Injectors<std::int64_t>;

}  // namespace lacuna::wse
