// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/exchange_lanes.hpp"

#include <cassert>

namespace lacuna::wse {

template <class Number>
ExchangeLanes<Number>::ExchangeLanes(const HardwareParams& params, const SumStreams& shared)
    : plan_(shared.kernel.exchange),
      columns_(shared.queues.size()),
      rule_(params.router),
      shapes_(params.router, params.queue),
      kernel_(shared.kernel),
      lines_((columns_ + kWidth - 1) / kWidth * plan_.buses.size(), Line{}),
      outs_((columns_ + kWidth - 1) / kWidth * 2, Out{}),
      borders_(plan_.buses.size()),
      busy_((columns_ + kWidth - 1) / kWidth + 2, 0),
      sends_(busy_.size() - 2, 0),
      packets_(columns_),
      passing_(plan_.buses.size() * columns_),
      leaving_(2 * columns_) {
  assert(plan_.buses.size() <= 64);
  if (!plan_.on()) return;
  const std::size_t buses = plan_.buses.size();
  for (std::size_t b = 0; b < buses; ++b) {
    if (plan_.buses[b].east) eastern_ |= std::uint64_t{1} << b;
    colors_.push_back(all(static_cast<std::uint64_t>(plan_.buses[b].color)));
    borders_[b] = LaneBorder<Number>(sends_.size() * kWidth, 1);
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const std::size_t i = lane % kWidth;
    const std::size_t block = lane / kWidth;
    std::uint8_t queue = shared.queues[lane];
    for (const ExchangePlan::Part& part : plan_.columns[lane].parts) {
      const ExchangePlan::Bus& bus = plan_.buses[part.bus];
      Line& line = lines_[block * buses + part.bus];
      const auto flag = [](bool set) { return static_cast<Number>(set ? -1 : 0); };
      line.takes[i] = flag(part.takes);
      line.every[i] = flag(part.every);
      line.passes[i] = flag(part.passes);
      line.sends[i] = flag(part.sends);
      line.switches[i] = flag(part.sends && part.upstream != 0);
      line.turn[i] = static_cast<Number>(part.turn);
      line.last[i] = static_cast<Number>(part.sends ? part.upstream : bus.senders - 1);
      if (!part.sends) continue;
      sends_[block] |= std::uint64_t{1} << part.bus;
      out(block, bus.east).number[i] = static_cast<Number>(queue++);
    }
  }
}

template <class Number>
void ExchangeLanes<Number>::begin(std::uint32_t tokens) {
  words_ = all(kernel_.packed_words(tokens) + 1);
  for (Line& line : lines_) line.left = line.own_left = words_;
}

template <class Number>
void ExchangeLanes<Number>::begin_lanes(StreamState<Number>& state, std::size_t i) {
  for (std::size_t lane = i * kWidth; lane < std::min(columns_, (i + 1) * kWidth); ++lane) {
    set_flags(state, lane);
  }
}

template <class Number>
void ExchangeLanes<Number>::kept(StreamState<Number>& state, std::size_t lane, bool keeps) {
  if (!keeps && packets_[lane].begun) return;
  packets_[lane].reduced(keeps);
  set_flags(state, lane);
}

template <class Number>
void ExchangeLanes<Number>::begin_packets(StreamState<Number>& state, std::size_t i,
                                          const Vector& send, const Vector& take) {
  Line* const lines = lines_of(i);
  for_each_lane<Number>(send | take, [&](unsigned at) {
    const std::size_t lane = i * kWidth + at;
    const ExchangePlan::Column& mine = plan_.columns[lane];
    if (take[at] != 0) {
      const std::uint32_t from = packets_[lane].take(mine).bus;
      for (const ExchangePlan::Take& other : mine.takes) lines[other.bus].source[at] = 0;
      lines[from].source[at] = -1;
      state.taking[at] = words_[at];
    }
    if (send[at] != 0) {
      const std::uint32_t to = packets_[lane].send(mine).bus;
      const bool east = plan_.buses[to].east;
      out(i, east).target[at] = -1;
      out(i, !east).target[at] = 0;
      state.sending[at] = words_[at];
    }
    set_flags(state, lane);
  });
}

template <class Number>
bool ExchangeLanes<Number>::empty() const {
  Vector words{};
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    for_each_bit(busy_[i + 1], [&](unsigned b) {
      const Line& line = lines_of(i)[b];
      words |= line.in.count | line.rows.count;
    });
    for (const Out& from : {outs_[2 * i], outs_[2 * i + 1]})
      words |= from.up.count | from.queue.words;
  }
  return !any(words);
}

template <class Number>
void ExchangeLanes<Number>::spread() {
  std::uint64_t west = 0;  // what the block there had before words arrived
  for (std::size_t i = 1; i + 1 < busy_.size(); ++i) {
    const std::uint64_t mine = busy_[i];
    busy_[i] = mine | (west & eastern_) | (busy_[i + 1] & ~eastern_);
    west = mine;
  }
  for (std::size_t i = 0; i + 2 < busy_.size(); ++i) {
    if (busy_[i + 1] != 0) arrive(i);
  }
}

template <class Number>
void ExchangeLanes<Number>::flush() {
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const std::size_t i = lane % kWidth;
    for (std::size_t b = 0; b < plan_.buses.size(); ++b) {
      add_lane<Number>(passing_[b * columns_ + lane], lines_of(lane / kWidth)[b].in.counts, i);
    }
    for (const bool east : {true, false}) {
      add_lane<Number>(leaving_[(east ? 0 : columns_) + lane], out(lane / kWidth, east).up.counts,
                       i);
    }
  }
  for (Line& line : lines_) forget(line.in.counts);
  for (Out& from : outs_) forget(from.up.counts);
}

template <class Number>
void ExchangeLanes<Number>::add_counts(RouterCounters* routers) {
  flush();
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    for (const ExchangePlan::Part& part : plan_.columns[lane].parts) {
      const ExchangePlan::Bus& bus = plan_.buses[part.bus];
      routers[lane].add_buffer(bus.color, passing_[part.bus * columns_ + lane]);
      if (!part.sends) continue;
      routers[lane].add_buffer(bus.color, leaving_[(bus.east ? 0 : columns_) + lane]);
    }
  }
}

template class ExchangeLanes<std::int8_t>;
template class ExchangeLanes<std::int16_t>;

}  // namespace lacuna::wse
