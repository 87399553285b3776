// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lane_injectors.hpp"

namespace lacuna::wse {

template <class Number>
LaneInjectors<Number>::LaneInjectors(const Program& program, std::size_t lanes)
    : program_(program),
      cap_((2 * std::uint64_t{program.columns} + 2) * program.rate.per),
      left_(lanes, 0),
      go_(lanes, 0),
      no_token_(lanes, 0),
      closed_(lanes, 0),
      rest_(program.columns, program.kernel.steps),
      counters_(program.columns),
      last_(program.columns, 0) {
  const StreamingKernel& kernel = program.kernel;
  std::vector<std::uint64_t> words(program.columns, kernel.steps);
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::size_t c = 0; c < program.columns; ++c) words[c] += kernel.count(s, c);
  }
  for (std::size_t lane = 0; lane < program.columns; ++lane) {
    rest_[lane] = counters_[lane].words = words[kernel.ring[lane]];
    take_up(lane, 0);
  }
}

template <class Number>
const std::vector<Number>& LaneInjectors<Number>::step(Cycle now, const std::vector<Number>& open) {
  refill_tokens();
  const std::size_t candidates = find_candidates(open);
  const std::uint64_t per = program_.rate.per;
  moved_ = candidates != 0;
  if (per != 0 && tokens_ < candidates * per) {
    moved_ = tokens_ >= per;
    choose(now);
  } else {
    tokens_ -= candidates * per;
  }
  Number ended = 0;
  for (std::size_t i = 0; i < go_.size(); ++i) {
    left_[i] = static_cast<Number>(left_[i] + go_[i]);
    ended = static_cast<Number>(ended | (go_[i] & (left_[i] == 0 ? -1 : 0)));
  }
  if (ended != 0) {
    for (std::size_t lane = 0; lane < rest_.size(); ++lane) {
      if (go_[lane] != 0 && left_[lane] == 0) take_up(lane, now);
    }
  }
  if (++unflushed_ == static_cast<unsigned>(std::numeric_limits<Number>::max())) flush();
  return go_;
}

template <class Number>
void LaneInjectors<Number>::refill_tokens() {
  tokens_ = std::min(cap_, tokens_ + program_.rate.words);
}

/// Marks in `go_` the lanes with a word and room for it, and counts them.
template <class Number>
std::size_t LaneInjectors<Number>::find_candidates(const std::vector<Number>& open) {
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < go_.size(); ++i) {
    const auto has = static_cast<Number>(left_[i] > 0 ? -1 : 0);
    go_[i] = static_cast<Number>(has & open[i]);
    closed_[i] = static_cast<Number>(closed_[i] - (has & ~open[i]));
    candidates += go_[i] & 1U;
  }
  return candidates;
}

/// There are fewer tokens than candidates: in the order of columns, from (cycle mod columns) on.
template <class Number>
void LaneInjectors<Number>::choose(Cycle now) {
  const std::size_t columns = rest_.size();
  std::size_t column = now % columns;
  for (std::size_t visited = 0; visited < columns; ++visited) {
    const std::size_t lane = lane_of(column);
    if (go_[lane] != 0) {
      if (tokens_ >= program_.rate.per) {
        tokens_ -= program_.rate.per;
      } else {
        go_[lane] = 0;
        no_token_[lane] = static_cast<Number>(no_token_[lane] + 1);
      }
    }
    if (++column == columns) column = 0;
  }
}

/// The lane of a column: even columns go east, odd ones come back.
template <class Number>
std::size_t LaneInjectors<Number>::lane_of(std::size_t column) const {
  return column % 2 == 0 ? column / 2 : rest_.size() - 1 - column / 2;
}

template <class Number>
void LaneInjectors<Number>::take_up(std::size_t lane, Cycle now) {
  const std::uint64_t chunk = std::min<std::uint64_t>(rest_[lane], kChunk);
  if (chunk == 0) last_[lane] = now;
  left_[lane] = static_cast<Number>(chunk);
  rest_[lane] -= chunk;
}

template <class Number>
void LaneInjectors<Number>::flush() {
  unflushed_ = 0;
  for (std::size_t lane = 0; lane < counters_.size(); ++lane) {
    counters_[lane].no_token += static_cast<std::uint64_t>(no_token_[lane]);
    counters_[lane].closed += static_cast<std::uint64_t>(closed_[lane]);
    no_token_[lane] = closed_[lane] = 0;
  }
}

template <class Number>
std::vector<InjectorCounters> LaneInjectors<Number>::counters(Cycle end) {
  flush();
  std::vector<InjectorCounters> by_column(counters_.size());
  for (std::size_t lane = 0; lane < counters_.size(); ++lane) {
    InjectorCounters& mine = by_column[program_.kernel.ring[lane]];
    mine = counters_[lane];
    mine.done = end - 1 - last_[lane];
  }
  return by_column;
}

template class LaneInjectors<std::int8_t>;
template class LaneInjectors<std::int16_t>;

}  // namespace lacuna::wse
