// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange_plan.hpp"

#include <algorithm>

#include "models/ipu/exchange_schedule.hpp"
#include "models/ipu/exchange_streams.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {
namespace {

/// Turns counts at [i + 1] into first positions.
void accumulate(std::vector<std::uint32_t>& first) {
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
}

/// Writes the programs of all tiles. Emissions come in the order of arrival at each receiver.
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
    for (const Emission& e : schedule_.emissions) {
      const Train& train = streams_.trains[e.train];
      plan_.send_first[train.source + 1] += train.streams;
    }
    for (const Place& place : streams_.destinations) ++plan_.receive_first[place.tile + 1];
    accumulate(plan_.send_first);
    accumulate(plan_.receive_first);
    plan_.sends.resize(plan_.send_first.back());
    plan_.receives.resize(streams_.destinations.size());
    sent_.assign(plan_.send_first.begin(), plan_.send_first.end() - 1);
    received_.assign(plan_.receive_first.begin(), plan_.receive_first.end() - 1);
    for (const Emission& e : schedule_.emissions) write_train(e, streams_.trains[e.train]);
    for (std::size_t tile = 0; tile + 1 < plan_.send_first.size(); ++tile) {
      std::sort(plan_.sends.begin() + plan_.send_first[tile],
                plan_.sends.begin() + plan_.send_first[tile + 1],
                [](const Send& a, const Send& b) { return a.start < b.start; });
    }
  }

 private:
  void write_train(const Emission& e, const Train& train) {
    std::uint32_t start = params_.exchange.entry + e.start;
    for (std::uint32_t s = train.first_stream; s < train.first_stream + train.streams; ++s) {
      const Stream& stream = streams_.streams[s];
      plan_.sends[sent_[train.source]++] = {start, stream.words, stream.source.address, e.count,
                                            stream.wide};
      for (std::uint32_t d = e.first; d < e.first + e.count; ++d) {
        const TrainReceiver& receiver = schedule_.receivers[d];
        write_receive(stream, streams_.destinations[stream.first + receiver.position], start,
                      train_latency(latencies_, train, receiver.tile));
      }
      start += held_cycles(params_, stream.cycles());
    }
  }

  void write_receive(const Stream& stream, const Place& to, std::uint32_t start,
                     std::uint32_t latency) {
    plan_.receives[received_[to.tile]++] = {
        start + latency,    stream.words,          to.address,
        stream.source.tile, stream.source.address, static_cast<std::uint16_t>(latency),
        stream.wide};
  }

  const ChipParams& params_;
  const LatencyTable& latencies_;
  const StreamList& streams_;
  const Schedule& schedule_;
  ExchangePlan& plan_;
  std::vector<std::uint32_t> sent_;
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

void sum_traffic(ExchangePlan& plan) {
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
    traffic.busy = covered(send, send_end, receive, receive_end);
    plan.length = std::max<Cycle>(plan.length, traffic.end);
  }
}

}  // namespace

void TransferList::add(Place source, std::uint32_t words, const Place* begin, const Place* end) {
  if (words == 0 || begin == end) return;
  transfers.push_back({source, words, static_cast<std::uint32_t>(destinations.size()),
                       static_cast<std::uint32_t>(end - begin)});
  destinations.insert(destinations.end(), begin, end);
}

unsigned exchange_latency(const ChipParams& params, TileId sender, TileId receiver) {
  if (params.exchange.latency == LatencyModel::constant) return params.exchange.constant_latency;
  return floor_plan_latency(physical_id(sender, params.ipu.rows),
                            physical_id(receiver, params.ipu.rows));
}

ExchangePlan plan_exchange(const ChipParams& params, const TransferList& list) {
  ExchangePlan plan;
  plan.send_first.assign(params.ipu.tiles + 1U, 0);
  plan.receive_first.assign(params.ipu.tiles + 1U, 0);
  plan.traffic.resize(params.ipu.tiles);
  if (list.transfers.empty()) return plan;
  const LatencyTable latencies(params);
  const StreamList streams = make_streams(params, list);
  const Cycle bound = lower_bound(params, latencies, streams);
  plan.bound = params.exchange.entry + bound;
  const Schedule schedule = schedule_trains(params, latencies, streams, bound);
  ProgramWriter(params, latencies, streams, schedule, plan).write();
  sum_traffic(plan);
  return plan;
}

}  // namespace lacuna::ipu
