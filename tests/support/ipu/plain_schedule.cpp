// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ipu/plain_schedule.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

namespace lacuna::ipu::test {
namespace {

constexpr std::uint32_t kEnd = 0xffffffffU;

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

/// In which order a receiver's trains stand: by source, beginning after its own number, so that
/// receivers with the same sources begin one after another; or beginning anywhere, so that any
/// few receivers with the same sources begin far apart.
enum class Order : std::uint8_t { staggered, spread };

/// How a receiver chooses: in which order its trains stand, among how many of the next, and
/// whether it counts what they cost their senders.
struct Policy {
  Order order;
  unsigned choices;
  bool count_sends;
};

/// Places streams on the ports one after another, never before what is already there. The
/// receiver that is free first chooses, among the next few streams it waits for, the one that costs
/// least, in cycles in which receivers wait and in which the sender sends; so all receivers advance
/// together. Receivers that are still busy then do not make it wait: the sender repeats the stream
/// for them later, if it has the time to spare.
class ExchangeScheduler {
 public:
  ExchangeScheduler(const ChipParams& params, const LatencyTable& latencies,
                    const StreamList& streams, const PortLoads& loads, Policy policy)
      : policy_(policy),
        latencies_(latencies),
        trains_(streams.trains),
        receivers_(result_.receivers),
        loads_(loads),
        tiles_(params.ipu.tiles),
        send_(tiles_ + 1U),
        receive_free_(tiles_, 0),
        spare_(tiles_ + 1U, 0) {
    result_.receivers = streams.receivers;
    result_.emissions.reserve(streams.trains.size());
    make_queues();
    find_spare_time();
  }

  /// Gives up, and returns a schedule without end, once it cannot be shorter than `limit`.
  Schedule schedule(Cycle limit) {
    using Turn = std::pair<std::uint32_t, TileId>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (TileId tile = 0; tile < tiles_; ++tile) {
      if (heads_[tile] != kEnd) turns.emplace(0, tile);
    }
    while (!turns.empty()) {
      const auto [at, tile] = turns.top();
      turns.pop();
      if (at >= limit) return {{}, {}, kNever};
      if (receive_free_[tile] == at) {
        const Choice choice = choose(tile);
        if (choice.train == kEnd) continue;
        place(choice.train, choice.start);
      }
      turns.emplace(receive_free_[tile], tile);
    }
    result_.length = *std::max_element(receive_free_.begin(), receive_free_.end());
    return std::move(result_);
  }

 private:
  struct Waiting {
    std::uint32_t train;
    std::uint32_t next;
    bool served;
  };

  /// What is left over of streams to pairs comes first: it keeps few receivers busy, all at once.
  void make_queues() {
    std::vector<std::uint32_t> first(tiles_ + 1U, 0);
    for (const TrainReceiver& receiver : receivers_) ++first[receiver.tile + 1];
    for (std::size_t i = 0; i < tiles_; ++i) first[i + 1] += first[i];
    waiting_.resize(receivers_.size());
    place_of_.resize(receivers_.size());
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    fill_queues(true, fill);
    const std::vector<std::uint32_t> leftovers_end = fill;
    fill_queues(false, fill);
    heads_.assign(tiles_, kEnd);
    for (TileId tile = 0; tile < tiles_; ++tile) {
      std::uint32_t* const rest = link(&heads_[tile], first[tile], leftovers_end[tile]);
      link_after(tile, rest, leftovers_end[tile], first[tile + 1]);
    }
  }

  void fill_queues(bool leftovers, std::vector<std::uint32_t>& fill) {
    for (std::uint32_t t = 0; t < trains_.size(); ++t) {
      const Train& train = trains_[t];
      if (train.leftover != leftovers) continue;
      for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
        place_of_[d] = fill[receivers_[d].tile]++;
        waiting_[place_of_[d]] = {t, kEnd, false};
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

  /// Likewise, turned so that it begins where the policy says.
  void link_after(TileId tile, std::uint32_t* end_of_list, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t middle = begin + beginning(tile, begin, end);
    link(link(end_of_list, middle, end), begin, middle);
  }

  std::uint32_t beginning(TileId tile, std::uint32_t begin, std::uint32_t end) const {
    if (policy_.order == Order::spread) {
      // Multiples of the golden section, modulo 1, lie far apart from their neighbours.
      constexpr std::uint32_t kGoldenSection = 2654435769U;  // * 2^-32
      const std::uint32_t fraction = tile * kGoldenSection;
      return static_cast<std::uint32_t>((std::uint64_t{fraction} * (end - begin)) >> 32U);
    }
    const auto after =
        std::partition_point(waiting_.begin() + begin, waiting_.begin() + end,
                             [&](const Waiting& w) { return trains_[w.train].source <= tile; });
    return static_cast<std::uint32_t>(after - waiting_.begin()) - begin;
  }

  /// The cycles each sender can repeat streams without becoming the slowest port.
  void find_spare_time() {
    const std::uint64_t busiest = *std::max_element(loads_.receive.begin(), loads_.receive.end());
    for (TileId tile = 0; tile < tiles_; ++tile) {
      spare_[tile] = busiest - std::min(busiest, loads_.send[tile]);
    }
  }

  /// The first start from `at` on that suits the sender. At double width its partner is idle.
  std::uint32_t sender_free(const Train& train, std::uint32_t at) const {
    const SendPort& port = send_[train.source];
    if (!train.wide) return port.earliest(at, train.cycles);
    return std::max({at, port.free(), send_[train.source ^ 1U].free()});
  }

  std::uint32_t latency(const Train& train, TileId tile) const {
    return train_latency(latencies_, train, tile);
  }

  /// When `tile`, and for a wide stream its whole pair, can receive.
  std::uint32_t receiver_free(const Train& train, TileId tile) const {
    const std::uint32_t free = receive_free_[tile];
    return train.wide ? std::max(free, receive_free_[tile ^ 1U]) : free;
  }

  /// The first start that suits the sender and `tile`.
  std::uint32_t earliest(const Train& train, TileId tile) const {
    const std::uint32_t way = latency(train, tile);
    const std::uint32_t free = receiver_free(train, tile);
    return sender_free(train, free > way ? free - way : 0);
  }

  bool can_repeat(const Train& train) const {
    return spare_[train.source] >= train.cycles &&
           (!train.wide || spare_[train.source ^ 1U] >= train.cycles);
  }

  /// How much later than `start` the stream must begin to suit destination `d` too.
  std::uint32_t delay(const Train& train, std::uint32_t d, std::uint32_t start) const {
    const TileId tile = receivers_[d].tile;
    const std::uint32_t arrival = start + latency(train, tile);
    const std::uint32_t free = receiver_free(train, tile);
    return free > arrival ? free - arrival : 0;
  }

  /// What a stream is delayed at most for the sake of a receiver that could hear a repeat.
  static std::uint32_t patience(const Train& train) { return train.cycles / 4 + 2; }

  /// The start of `train` if it cannot be before `soonest`: such that it suits all receivers, or
  /// those that are not too late.
  std::uint32_t start_for(const Train& train, std::uint32_t soonest) const {
    const bool leaves = can_repeat(train);
    std::uint32_t later = 0;
    for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
      const std::uint32_t wait = delay(train, d, soonest);
      if (!leaves || wait <= patience(train)) later = std::max(later, wait);
    }
    return later == 0 ? soonest : sender_free(train, soonest + later);
  }

  struct Choice {
    std::uint32_t train = kEnd;  // kEnd: there is none
    std::uint32_t start = 0;
  };

  /// What a choice costs: the cycles its receivers idle before it and, if they count, those of its
  /// sender; and the work it gets done.
  struct Cost {
    std::uint64_t cycles;
    std::uint64_t work;

    bool operator<(const Cost& other) const { return cycles * other.work < other.cycles * work; }
  };

  /// The cost of sending `train` in cycle `start`; once it cannot be below `limit`, any above it.
  Cost cost_of(const Train& train, std::uint32_t start, const Cost& limit) const {
    const std::uint64_t all = std::uint64_t{train.count} * train.held;
    Cost cost{policy_.count_sends ? train.held : 0, 0};
    for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
      const TileId to = receivers_[d].tile;
      const std::uint32_t arrival = start + latency(train, to);
      if (receiver_free(train, to) > arrival) continue;
      cost.cycles += arrival - receive_free_[to];
      cost.work += train.held;
      if (!(Cost{cost.cycles, all} < limit)) return {limit.cycles, limit.work};
    }
    return cost;
  }

  /// The train for `tile` to receive next: of the next few, the one that costs least in proportion
  /// to what is received.
  Choice choose(TileId tile) {
    Choice best;
    Cost least{1, 0};  // infinite
    std::uint32_t* from = &heads_[tile];
    for (unsigned seen = 0; *from != kEnd && seen < policy_.choices;) {
      Waiting& waiting = waiting_[*from];
      if (waiting.served) {
        *from = waiting.next;
        continue;
      }
      ++seen;
      from = &waiting.next;
      const Train& train = trains_[waiting.train];
      const std::uint32_t start = start_for(train, earliest(train, tile));
      const Cost cost = cost_of(train, start, least);
      if (best.train != kEnd && !(cost < least)) continue;
      best = {waiting.train, start};
      least = cost;
      if (least.cycles == 0) break;
    }
    return best;
  }

  void place(std::uint32_t index, std::uint32_t start) {
    Train& train = trains_[index];
    const std::uint32_t served = select(train, start);
    if (served < train.count) {
      spare_[train.source] -= train.cycles;
      if (train.wide) spare_[train.source ^ 1U] -= train.cycles;
    }
    result_.emissions.push_back({index, start, train.first, served});
    send_[train.source].reserve(start, train.cycles);
    if (train.wide) send_[train.source ^ 1U].reserve(start, train.cycles);
    for (std::uint32_t d = train.first; d < train.first + served; ++d) {
      const TileId to = receivers_[d].tile;
      receive_free_[to] = start + latency(train, to) + train.held;
      waiting_[place_of_[d]].served = true;
    }
    train.first += served;
    train.count -= served;
  }

  /// Moves the destinations that can hear a start in cycle `start` to the front and counts them.
  /// The tiles of a pair stay together.
  std::uint32_t select(const Train& train, std::uint32_t start) {
    std::uint32_t front = train.first;
    for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
      if (delay(train, d, start) > 0) continue;
      std::swap(receivers_[d], receivers_[front]);
      std::swap(place_of_[d], place_of_[front]);
      ++front;
    }
    return front - train.first;
  }

  Policy policy_;
  const LatencyTable& latencies_;
  Schedule result_;
  std::vector<Train> trains_;  // what is left of them
  std::vector<TrainReceiver>& receivers_;
  const PortLoads& loads_;
  TileId tiles_;
  std::vector<SendPort> send_;
  std::vector<std::uint32_t> receive_free_;
  std::vector<std::uint64_t> spare_;
  std::vector<Waiting> waiting_;         // by receiver
  std::vector<std::uint32_t> place_of_;  // in waiting_, of each destination
  std::vector<std::uint32_t> heads_;
};

/// What is worth trying: in regular patterns, where every receiver's own order is good, nothing
/// beats keeping to it; the less regular, the more it pays to look around.
constexpr std::array<Policy, 3> kPolicies{
    {{Order::staggered, 1, false}, {Order::spread, 64, true}, {Order::spread, 64, false}}};

/// Large exchanges, whose planning takes long, are tried in fewer ways.
constexpr std::size_t kLarge = 200'000;
constexpr std::array<Policy, 2> kLargePolicies{
    {{Order::spread, 64, true}, {Order::staggered, 1, false}}};

// A schedule this near to the bound is good enough.
constexpr Cycle kNear = 32;  // one part in 32 above it
constexpr Cycle kNearLarge = 5;

}  // namespace

Schedule plain_schedule(const ChipParams& params, const LatencyTable& latencies,
                        const StreamList& streams, Cycle bound) {
  const PortLoads loads = port_loads(params, streams);
  const bool large = streams.receivers.size() > kLarge;
  const Policy* const policies = large ? kLargePolicies.data() : kPolicies.data();
  const std::size_t count = large ? kLargePolicies.size() : kPolicies.size();
  Schedule best;
  best.length = kNever;
  for (std::size_t p = 0; p < count; ++p) {
    ExchangeScheduler scheduler(params, latencies, streams, loads, policies[p]);
    Schedule schedule = scheduler.schedule(best.length);
    if (schedule.length < best.length) best = std::move(schedule);
    if (best.length <= bound + bound / (large ? kNearLarge : kNear)) break;
  }
  return best;
}

}  // namespace lacuna::ipu::test
