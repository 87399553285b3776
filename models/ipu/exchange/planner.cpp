// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/planner.hpp"

#include <algorithm>

#include "models/ipu/exchange/conflicts.hpp"
#include "models/ipu/exchange/gaps.hpp"
#include "models/ipu/exchange/schedule.hpp"
#include "models/ipu/exchange/streams.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {
namespace {

/// Turns counts at [i + 1] into first positions.
void accumulate(std::vector<std::uint32_t>& first) {
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
}

/// Writes the programs of all tiles.
class ProgramWriter {
 public:
  ProgramWriter(const ChipParams& params, const LatencyTable& latencies, const StreamList& streams,
                const Schedule& schedule, ExchangePlan& plan)
      : params_(params),
        latencies_(latencies),
        streams_(streams),
        schedule_(schedule),
        plan_(plan) {}

  void write() {
    write_sends();
    for (const Place& place : streams_.destinations) ++plan_.receive_first[place.tile + 1];
    accumulate(plan_.receive_first);
    plan_.receives.resize(streams_.destinations.size());
    received_.assign(plan_.receive_first.begin(), plan_.receive_first.end() - 1);
    for (const Emission& e : schedule_.emissions) write_receives(e, streams_.trains[e.train]);
    sort_receives();
  }

 private:
  /// By their starts, as emissions may be in any order.
  void sort_receives() {
    const auto by_start = [](const Receive& a, const Receive& b) { return a.start < b.start; };
    for (std::size_t tile = 0; tile + 1 < plan_.receive_first.size(); ++tile) {
      const auto begin = plan_.receives.begin() + plan_.receive_first[tile];
      const auto end = plan_.receives.begin() + plan_.receive_first[tile + 1];
      if (!std::is_sorted(begin, end, by_start)) std::sort(begin, end, by_start);
    }
  }

  void write_sends() {
    std::vector<std::uint32_t> first(plan_.send_first.size(), 0);
    for (const Emission& e : schedule_.emissions) {
      const Train& train = streams_.trains[e.train];
      ++first[train.source + 1];
      plan_.send_first[train.source + 1] += train.streams;
    }
    accumulate(first);
    accumulate(plan_.send_first);
    plan_.sends.reserve(plan_.send_first.back());
    std::vector<std::uint32_t> order(schedule_.emissions.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      order[next[streams_.trains[schedule_.emissions[i].train].source]++] = i;
    }
    const auto at = [&order](std::uint32_t i) { return order.begin() + i; };
    for (std::size_t tile = 0; tile + 1 < first.size(); ++tile) {
      std::sort(at(first[tile]), at(first[tile + 1]), [&](std::uint32_t a, std::uint32_t b) {
        return schedule_.emissions[a].start < schedule_.emissions[b].start;
      });
    }
    for (const std::uint32_t i : order) write_train(schedule_.emissions[i]);
  }

  void write_train(const Emission& e) {
    const Train& train = streams_.trains[e.train];
    std::uint32_t start = params_.exchange.entry + e.start;
    for (std::uint32_t s = train.first_stream; s < train.first_stream + train.streams; ++s) {
      const Stream& stream = streams_.streams[s];
      plan_.sends.push_back({start, stream.words, stream.source.address, e.count, stream.wide});
      start += held_cycles(params_, stream.cycles());
    }
  }

  void write_receives(const Emission& e, const Train& train) {
    for (std::uint32_t d = e.first; d < e.first + e.count; ++d) {
      const TrainReceiver& receiver = schedule_.receivers[d];
      const std::uint32_t latency = train_latency(latencies_, train, receiver.tile);
      std::uint32_t arrival = params_.exchange.entry + e.start + latency;
      Receive* receive = plan_.receives.data() + received_[receiver.tile];
      received_[receiver.tile] += train.streams;
      for (std::uint32_t s = train.first_stream; s < train.first_stream + train.streams; ++s) {
        const Stream& stream = streams_.streams[s];
        const Place& to = streams_.destinations[stream.first + receiver.position];
        *receive++ = {arrival,
                      stream.words,
                      to.address,
                      stream.source.tile,
                      stream.source.address,
                      static_cast<std::uint16_t>(latency),
                      stream.wide};
        arrival += held_cycles(params_, stream.cycles());
      }
    }
  }

  const ChipParams& params_;
  const LatencyTable& latencies_;
  const StreamList& streams_;
  const Schedule& schedule_;
  ExchangePlan& plan_;
  std::vector<std::uint32_t> received_;
};

/// Cycles covered by the intervals of two sorted lists together.
std::uint64_t covered(const Send* send, const Send* send_end, const Receive* receive,
                      const Receive* receive_end) {
  std::uint64_t cycles = 0;
  std::uint64_t until = 0;
  const auto cover = [&](std::uint64_t begin, std::uint64_t end) {
    if (end <= until) return;
    cycles += end - std::max(begin, until);
    until = end;
  };
  while (send != send_end || receive != receive_end) {
    if (receive == receive_end || (send != send_end && send->start <= receive->start)) {
      cover(send->start, std::uint64_t{send->start} + send->cycles());
      ++send;
    } else {
      cover(receive->start, std::uint64_t{receive->start} + receive->cycles());
      ++receive;
    }
  }
  return cycles;
}

void sum_traffic(const PlainElements& elements, ExchangePlan& plan) {
  for (std::size_t tile = 0; tile < plan.traffic.size(); ++tile) {
    TileTraffic& traffic = plan.traffic[tile];
    const Send* const send = plan.sends.data() + plan.send_first[tile];
    const Send* const send_end = plan.sends.data() + plan.send_first[tile + 1];
    const Receive* const receive = plan.receives.data() + plan.receive_first[tile];
    const Receive* const receive_end = plan.receives.data() + plan.receive_first[tile + 1];
    for (const Send* s = send; s != send_end; ++s) {
      traffic.sent += s->words;
      traffic.end = std::max<std::uint64_t>(traffic.end, s->start + s->cycles());
    }
    for (const Receive* r = receive; r != receive_end; ++r) {
      traffic.received += r->words;
      traffic.end = std::max<std::uint64_t>(traffic.end, r->start + r->cycles());
    }
    traffic.fragments = static_cast<std::uint64_t>(receive_end - receive);
    for_each_conflict(elements, send, send_end, receive, receive_end,
                      [&](Cycle from, Cycle to) { traffic.conflicts += to - from; });
    traffic.busy = covered(send, send_end, receive, receive_end);
    plan.length = std::max<Cycle>(plan.length, traffic.end);
  }
}

}  // namespace

ExchangePlan plan_exchange(const ChipParams& chip, const TransferList& list) {
  const ChipParams params = exchange_params(chip, list);
  ExchangePlan plan;
  plan.send_first.assign(params.ipu.tiles + 1U, 0);
  plan.receive_first.assign(params.ipu.tiles + 1U, 0);
  plan.traffic.resize(params.ipu.tiles);
  if (list.transfers.empty()) return plan;
  const LatencyTable latencies(params);
  const StreamList streams = make_streams(params, list);
  const Cycle bound = lower_bound(params, latencies, streams);
  plan.bound = params.exchange.entry + bound;
  Schedule schedule = schedule_trains(params, latencies, streams, bound);
  close_gaps(params, latencies, streams, bound, schedule);
  ProgramWriter(params, latencies, streams, schedule, plan).write();
  plan.memory_begin = list.memory_begin;
  sum_traffic(PlainElements(params.tile.memory, list.memory_begin), plan);
  return plan;
}

}  // namespace lacuna::ipu
