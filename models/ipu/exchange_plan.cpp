// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange_plan.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "models/ipu/exchange_streams.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint32_t kEnd = 0xffffffffU;

/// A send instruction in the making: what of a stream is sent at once.
struct Emission {
  std::uint32_t stream;
  std::uint32_t start;
  std::uint32_t first;  // of its destinations
  std::uint32_t count;
};

/// The timetable of a send port: busy without a gap from some cycle on, and a few gaps before.
class SendPort {
 public:
  std::uint32_t free() const { return free_; }

  /// The first cycle from `at` on in which it is idle for `cycles`.
  std::uint32_t earliest(std::uint32_t at, std::uint32_t cycles) const {
    for (unsigned g = 0; g < gaps_; ++g) {
      const std::uint32_t start = std::max(at, gap_[g].begin);
      if (start + cycles <= gap_[g].end) return start;
    }
    return std::max(at, free_);
  }

  void reserve(std::uint32_t start, std::uint32_t cycles) {
    if (start >= free_) {
      if (start > free_) keep({free_, start});
      free_ = start + cycles;
      return;
    }
    for (unsigned g = 0; g < gaps_; ++g) {
      if (start < gap_[g].begin || start >= gap_[g].end) continue;
      const Gap rest{start + cycles, gap_[g].end};
      gap_[g].end = start;
      if (rest.begin < rest.end) keep(rest);
      return;
    }
  }

 private:
  struct Gap {
    std::uint32_t begin;
    std::uint32_t end;
  };
  static constexpr unsigned kGaps = 6;

  /// Of more gaps than there are places for, the oldest is given up.
  void keep(Gap gap) {
    if (gaps_ == kGaps) {
      std::move(gap_.begin() + 1, gap_.end(), gap_.begin());
      --gaps_;
    }
    gap_[gaps_++] = gap;
  }

  std::uint32_t free_ = 0;
  unsigned gaps_ = 0;
  std::array<Gap, kGaps> gap_{};
};

/// Places streams on the ports one after another, never before what is already there. The
/// receiver that is free first chooses, among the next few streams it waits for, the one that can
/// begin first; so all receivers advance together. Receivers that are still busy then do not make
/// it wait: the sender repeats the stream for them later, if it has the time to spare.
class ExchangeScheduler {
 public:
  ExchangeScheduler(const ChipParams& params, const LatencyTable& latencies, StreamList& streams)
      : params_(params),
        latencies_(latencies),
        streams_(streams),
        tiles_(params.ipu.tiles),
        send_(tiles_ + 1U),
        receive_free_(tiles_, 0),
        spare_(tiles_ + 1U, 0) {
    emissions_.reserve(streams.streams.size());
    make_queues();
    find_spare_time();
  }

  /// The emissions in the order they were placed, which is the order of arrival at each receiver.
  const std::vector<Emission>& schedule() {
    using Turn = std::pair<std::uint32_t, TileId>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (TileId tile = 0; tile < tiles_; ++tile) {
      if (heads_[tile] != kEnd) turns.emplace(0, tile);
    }
    while (!turns.empty()) {
      const auto [at, tile] = turns.top();
      turns.pop();
      if (receive_free_[tile] == at) {
        const std::uint32_t stream = choose(tile);
        if (stream == kEnd) continue;
        place(stream, tile);
      }
      turns.emplace(receive_free_[tile], tile);
    }
    return emissions_;
  }

 private:
  static constexpr unsigned kChoices = 12;

  struct Waiting {
    std::uint32_t stream;
    std::uint32_t next;
    bool served;
  };

  /// Each receiver's streams by source, beginning after its own number: receivers with the same
  /// sources begin with different ones, and neighbours with neighbouring ones. What is left over
  /// of streams to pairs comes before everything: it keeps few receivers busy, all at once.
  void make_queues() {
    std::vector<std::uint32_t> first(tiles_ + 1U, 0);
    for (const Place& place : streams_.destinations) ++first[place.tile + 1];
    for (std::size_t i = 0; i < tiles_; ++i) first[i + 1] += first[i];
    waiting_.resize(streams_.destinations.size());
    place_of_.resize(streams_.destinations.size());
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    const std::vector<std::uint32_t> order = streams_.by_source(tiles_);
    fill_queues(order, true, fill);
    const std::vector<std::uint32_t> leftovers_end = fill;
    fill_queues(order, false, fill);
    heads_.assign(tiles_, kEnd);
    for (TileId tile = 0; tile < tiles_; ++tile) {
      std::uint32_t* const rest = link(&heads_[tile], first[tile], leftovers_end[tile]);
      link_after(tile, rest, leftovers_end[tile], first[tile + 1]);
    }
  }

  void fill_queues(const std::vector<std::uint32_t>& order, bool leftovers,
                   std::vector<std::uint32_t>& fill) {
    for (const std::uint32_t s : order) {
      const Stream& stream = streams_.streams[s];
      if (stream.leftover != leftovers) continue;
      for (std::uint32_t d = stream.first; d < stream.first + stream.count; ++d) {
        place_of_[d] = fill[streams_.destinations[d].tile]++;
        waiting_[place_of_[d]] = {s, kEnd, false};
      }
    }
  }

  /// Appends [begin, end) of the waiting to the list that ends at `link`; returns its new end.
  std::uint32_t* link(std::uint32_t* link, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
      *link = i;
      link = &waiting_[i].next;
    }
    return link;
  }

  /// Likewise, turned so that it begins with the first source after `tile`.
  void link_after(TileId tile, std::uint32_t* end_of_list, std::uint32_t begin, std::uint32_t end) {
    const auto after = std::partition_point(
        waiting_.begin() + begin, waiting_.begin() + end,
        [&](const Waiting& w) { return streams_.streams[w.stream].source.tile <= tile; });
    const auto middle = static_cast<std::uint32_t>(after - waiting_.begin());
    link(link(end_of_list, middle, end), begin, middle);
  }

  /// The cycles each sender can repeat streams without becoming the slowest port.
  void find_spare_time() {
    const PortLoads loads = port_loads(params_, streams_);
    const std::uint64_t busiest = *std::max_element(loads.receive.begin(), loads.receive.end());
    for (TileId tile = 0; tile < tiles_; ++tile) {
      spare_[tile] = busiest - std::min(busiest, loads.send[tile]);
    }
  }

  /// The first start from `at` on that suits the sender. At double width its partner is idle.
  std::uint32_t sender_free(const Stream& stream, std::uint32_t at) const {
    const SendPort& port = send_[stream.source.tile];
    if (!stream.wide) return port.earliest(at, stream.cycles());
    return std::max({at, port.free(), send_[stream.source.tile ^ 1U].free()});
  }

  std::uint32_t latency(const Stream& stream, TileId tile) const {
    return stream_latency(latencies_, stream, tile);
  }

  /// When `tile`, and for a wide stream its whole pair, can receive.
  std::uint32_t receiver_free(const Stream& stream, TileId tile) const {
    const std::uint32_t free = receive_free_[tile];
    return stream.wide ? std::max(free, receive_free_[tile ^ 1U]) : free;
  }

  /// The first start that suits the sender and `tile`.
  std::uint32_t earliest(const Stream& stream, TileId tile) const {
    const std::uint32_t way = latency(stream, tile);
    const std::uint32_t free = receiver_free(stream, tile);
    return sender_free(stream, free > way ? free - way : 0);
  }

  bool can_repeat(const Stream& stream) const {
    return spare_[stream.source.tile] >= stream.cycles() &&
           (!stream.wide || spare_[stream.source.tile ^ 1U] >= stream.cycles());
  }

  /// How much later than `start` the stream must begin to suit destination `d` too.
  std::uint32_t delay(const Stream& stream, std::uint32_t d, std::uint32_t start) const {
    const TileId tile = streams_.destinations[d].tile;
    const std::uint32_t arrival = start + latency(stream, tile);
    const std::uint32_t free = receiver_free(stream, tile);
    return free > arrival ? free - arrival : 0;
  }

  /// What a stream is delayed at most for the sake of a receiver that could hear a repeat.
  static std::uint32_t patience(const Stream& stream) { return stream.cycles() / 4 + 2; }

  /// The start of `stream` if `tile` has it sent now: with all receivers, or with those that are
  /// not too late.
  std::uint32_t start_for(const Stream& stream, TileId tile) const {
    const std::uint32_t start = earliest(stream, tile);
    const bool leaves = can_repeat(stream);
    std::uint32_t later = 0;
    for (std::uint32_t d = stream.first; d < stream.first + stream.count; ++d) {
      const std::uint32_t wait = delay(stream, d, start);
      if (!leaves || wait <= patience(stream)) later = std::max(later, wait);
    }
    return later == 0 ? start : sender_free(stream, start + later);
  }

  /// The stream for `tile` to receive next; kEnd if it waits for none.
  std::uint32_t choose(TileId tile) {
    std::uint32_t best = kEnd;
    std::uint32_t best_arrival = kEnd;
    unsigned seen = 0;
    std::uint32_t* from = &heads_[tile];
    while (*from != kEnd && seen < kChoices) {
      Waiting& waiting = waiting_[*from];
      if (waiting.served) {
        *from = waiting.next;
        continue;
      }
      const Stream& stream = streams_.streams[waiting.stream];
      const std::uint32_t arrival = start_for(stream, tile) + latency(stream, tile);
      if (arrival < best_arrival) {
        best = waiting.stream;
        best_arrival = arrival;
      }
      if (arrival <= receive_free_[tile]) break;  // without a gap: it cannot be better
      ++seen;
      from = &waiting.next;
    }
    return best;
  }

  void place(std::uint32_t index, TileId tile) {
    Stream& stream = streams_.streams[index];
    const std::uint32_t start = start_for(stream, tile);
    const std::uint32_t served = select(stream, start);
    if (served < stream.count) {
      spare_[stream.source.tile] -= stream.cycles();
      if (stream.wide) spare_[stream.source.tile ^ 1U] -= stream.cycles();
    }
    emissions_.push_back({index, start, stream.first, served});
    send_[stream.source.tile].reserve(start, stream.cycles());
    if (stream.wide) send_[stream.source.tile ^ 1U].reserve(start, stream.cycles());
    const std::uint32_t held =
        std::max<std::uint32_t>(stream.cycles(), params_.exchange.control_events);
    for (std::uint32_t d = stream.first; d < stream.first + served; ++d) {
      const TileId to = streams_.destinations[d].tile;
      receive_free_[to] = start + latency(stream, to) + held;
      waiting_[place_of_[d]].served = true;
    }
    stream.first += served;
    stream.count -= served;
  }

  /// Moves the destinations that can hear a start in cycle `start` to the front and counts them.
  /// The tiles of a pair stay together.
  std::uint32_t select(const Stream& stream, std::uint32_t start) {
    std::uint32_t front = stream.first;
    for (std::uint32_t d = stream.first; d < stream.first + stream.count; ++d) {
      if (delay(stream, d, start) > 0) continue;
      std::swap(streams_.destinations[d], streams_.destinations[front]);
      std::swap(place_of_[d], place_of_[front]);
      ++front;
    }
    return front - stream.first;
  }

  const ChipParams& params_;
  const LatencyTable& latencies_;
  StreamList& streams_;
  TileId tiles_;
  std::vector<Emission> emissions_;
  std::vector<SendPort> send_;
  std::vector<std::uint32_t> receive_free_;
  std::vector<std::uint64_t> spare_;
  std::vector<Waiting> waiting_;         // by receiver
  std::vector<std::uint32_t> place_of_;  // in waiting_, of each destination
  std::vector<std::uint32_t> heads_;
};

/// Turns counts at [i + 1] into first positions.
void accumulate(std::vector<std::uint32_t>& first) {
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
}

/// Writes the programs of all tiles. Emissions come in the order of arrival at each receiver.
void write_programs(const LatencyTable& latencies, const StreamList& streams,
                    const std::vector<Emission>& emissions, ExchangePlan& plan) {
  for (const Emission& e : emissions) ++plan.send_first[streams.streams[e.stream].source.tile + 1];
  for (const Place& place : streams.destinations) ++plan.receive_first[place.tile + 1];
  accumulate(plan.send_first);
  accumulate(plan.receive_first);
  plan.sends.resize(emissions.size());
  plan.receives.resize(streams.destinations.size());
  std::vector<std::uint32_t> sent(plan.send_first.begin(), plan.send_first.end() - 1);
  std::vector<std::uint32_t> received(plan.receive_first.begin(), plan.receive_first.end() - 1);
  for (const Emission& e : emissions) {
    const Stream& stream = streams.streams[e.stream];
    plan.sends[sent[stream.source.tile]++] = {e.start, stream.words, stream.source.address, e.count,
                                              stream.wide};
    for (std::uint32_t d = e.first; d < e.first + e.count; ++d) {
      const Place& to = streams.destinations[d];
      const std::uint32_t way = stream_latency(latencies, stream, to.tile);
      plan.receives[received[to.tile]++] = {
          e.start + way,      stream.words,          to.address,
          stream.source.tile, stream.source.address, static_cast<std::uint16_t>(way),
          stream.wide};
    }
  }
  for (std::size_t tile = 0; tile + 1 < plan.send_first.size(); ++tile) {
    std::sort(plan.sends.begin() + plan.send_first[tile],
              plan.sends.begin() + plan.send_first[tile + 1],
              [](const Send& a, const Send& b) { return a.start < b.start; });
  }
}

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
  StreamList streams = make_streams(params, list);
  plan.bound = lower_bound(params, latencies, streams);
  ExchangeScheduler scheduler(params, latencies, streams);
  write_programs(latencies, streams, scheduler.schedule(), plan);
  sum_traffic(plan);
  return plan;
}

}  // namespace lacuna::ipu
