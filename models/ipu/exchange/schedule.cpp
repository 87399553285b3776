// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/ipu/exchange/tables.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint32_t kEnd = 0xffffffffU;

/// In which order a receiver's trains stand: by source, beginning after its own number, so that
/// receivers with the same sources begin one after another; or beginning anywhere, so that any
/// few receivers with the same sources begin far apart.
enum class Order : std::uint8_t { staggered, spread };

constexpr unsigned kMostChoices = 64;

/// How a receiver chooses: in which order its trains stand, among how many of the next, and
/// whether it counts what they cost their senders.
struct Policy {
  Order order;
  unsigned choices;
  bool count_sends;
};

/// Places streams on the ports one after another, never before what is already there. The
/// receiver that is free first chooses among the next few streams it waits for. It takes the stream
/// that costs the fewest cycles of waiting receivers and of the sender, so all receivers advance
/// together. A receiver that is still busy holds nobody up: the sender repeats the stream for it
/// later, if it has the time to spare.
class ExchangeScheduler {
 public:
  ExchangeScheduler(const ExchangeQueues& queues, const PortLoads& loads, Policy policy)
      : policy_(policy),
        queues_(queues),
        rests_(queues.rests),
        listeners_(queues.listeners),
        places_(queues.places),
        waits_(queues.waiting.size()),
        orders_(queues.tiles),
        send_(queues.tiles + 1U),
        receive_free_(queues.tiles + 1U, 0),
        pairs_((queues.tiles + 1U) / 2),
        spare_(queues.tiles + 1U, 0) {
    emissions_.reserve(rests_.size());
    for (TileId tile = 0; tile < queues_.tiles; ++tile) orders_[tile] = order_of(tile);
    for (const TrainRest& rest : rests_) most_receivers_ = std::max(most_receivers_, rest.count);
    find_spare_time(loads);
  }

  /// Gives up, and returns a schedule without end, once it cannot be shorter than `limit`.
  Schedule schedule(Cycle limit) {
    EarliestTile waiting(queues_.tiles);
    for (TileId tile = 0; tile < queues_.tiles; ++tile) {
      if (queues_.first[tile] < queues_.first[tile + 1]) waiting.add(tile);
    }
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.time();
      const TileId tile = waiting.tile();
      if (at >= limit) return {{}, {}, kNever};
      if (receive_free_[tile] == at) {
        const Choice choice = choose(tile);
        if (choice.train == kEnd) {
          waiting.remove_first();
          continue;
        }
        place(choice.train, choice.start);
      }
      waiting.delay_first(receive_free_[tile]);
    }
    return result();
  }

 private:
  /// In which order a tile looks at what it waits for: some ranges of ExchangeQueues::waiting.
  struct Range {
    std::uint32_t begin;  // all before it has been served
    std::uint32_t end;
  };
  using Ranges = std::array<Range, 3>;

  Ranges order_of(TileId tile) const {
    const std::uint32_t begin = queues_.leftovers_end[tile];
    const std::uint32_t end = queues_.first[tile + 1];
    const std::uint32_t middle = begin + beginning(tile, begin, end);
    return {{{queues_.first[tile], begin}, {middle, end}, {begin, middle}}};
  }

  /// Where between `begin` and `end` the policy lets the tile's order begin, counted from `begin`.
  std::uint32_t beginning(TileId tile, std::uint32_t begin, std::uint32_t end) const {
    if (policy_.order == Order::spread) {
      // Multiples of the golden section, modulo 1, lie far apart from their neighbours.
      constexpr std::uint32_t kGoldenSection = 2654435769U;  // * 2^-32
      const std::uint32_t fraction = tile * kGoldenSection;
      return static_cast<std::uint32_t>((std::uint64_t{fraction} * (end - begin)) >> 32U);
    }
    const auto from = queues_.waiting.begin();
    const auto after = std::partition_point(
        from + begin, from + end, [&](const WaitingTrain& w) { return w.source <= tile; });
    return static_cast<std::uint32_t>(after - from) - begin;
  }

  /// The cycles each sender can repeat streams without becoming the slowest port.
  void find_spare_time(const PortLoads& loads) {
    const std::uint64_t busiest = *std::max_element(loads.receive.begin(), loads.receive.end());
    for (TileId tile = 0; tile < queues_.tiles; ++tile) {
      spare_[tile] = busiest - std::min(busiest, loads.send[tile]);
    }
  }

  Schedule result() {
    Schedule result{std::move(emissions_), {}, 0};
    result.length = *std::max_element(receive_free_.begin(), receive_free_.end());
    result.receivers.reserve(listeners_.size());
    for (std::size_t d = 0; d < listeners_.size(); ++d) {
      result.receivers.push_back({listeners_[d].tile, places_[d].position});
    }
    return result;
  }

  /// The first start from `at` on that suits the sender. At double width its partner is idle.
  std::uint32_t sender_free(const TrainRest& rest, std::uint32_t at) const {
    if (!rest.wide()) return send_.earliest(rest.source, at, rest.cycles);
    return std::max({at, send_.free(rest.source), send_.free(rest.source ^ 1U)});
  }

  /// When `tile`, and for a wide stream its whole pair, can receive.
  std::uint32_t receiver_free(bool wide, TileId tile) const {
    return wide ? pairs_[tile / 2].free : receive_free_[tile];
  }

  /// When both tiles of a pair can receive, and how much earlier one of them could.
  struct PairTimes {
    std::uint32_t free = 0;
    std::uint32_t apart = 0;
  };

  PairTimes pair_times(TileId tile) const {
    const std::uint32_t a = receive_free_[tile];
    const std::uint32_t b = receive_free_[tile ^ 1U];
    return {std::max(a, b), std::max(a, b) - std::min(a, b)};
  }

  bool can_repeat(const TrainRest& rest) const {
    return spare_[rest.source] >= rest.cycles &&
           (!rest.wide() || spare_[rest.source ^ 1U] >= rest.cycles);
  }

  /// What a stream is delayed at most for the sake of a receiver that could hear a repeat.
  static std::uint32_t patience(const TrainRest& rest) { return rest.cycles / 4 + 2; }

  /// A train that a tile could receive next, when it would start, and what it would cost. The cost
  /// is the cycles in which receivers wait for it and those of the sender, who would otherwise send
  /// to more receivers at once. It is taken in proportion to the cycles for which the train keeps
  /// receivers busy.
  struct Choice {
    std::uint32_t train = kEnd;  // kEnd: there is none
    std::uint32_t start = 0;
    std::uint32_t rank = 0;  // which one it is in the order of the tile
    std::uint64_t cost = 1;
    std::uint64_t work = 0;  // 1 / 0: dearer than any
  };

  static bool better(const Choice& a, const Choice& b) {
    const std::uint64_t left = a.cost * b.work;
    const std::uint64_t right = b.cost * a.work;
    return left < right || (left == right && a.rank < b.rank);
  }

  /// What a start would mean for the receivers of a train.
  struct Outlook {
    std::uint64_t idle = 0;   // cycles of those that hear it, before it
    std::uint32_t hear = 0;   // how many these are
    std::uint32_t later = 0;  // the delay that suits also those that would be too late by little
  };

  /// Of a start in cycle `start`; too late by little is up to `patience`. Looks no further once
  /// they idle for more than `most` cycles.
  template <TrainKind kKind>
  Outlook look_ahead(const TrainRest& rest, std::uint32_t start, std::uint32_t patience,
                     std::uint64_t most) const {
    constexpr std::uint32_t kStep = kKind == TrainKind::pairs ? 2 : 1;
    const TrainListener* const end = listeners_.data() + rest.first + rest.count;
    Outlook outlook;
    for (const TrainListener* to = end - rest.count; to != end && outlook.idle <= most;
         to += kStep) {
      const std::uint32_t arrival = start + to->latency;
      const std::uint32_t free = receiver_free(kKind != TrainKind::narrow, to->tile);
      std::uint32_t idle = arrival - free;
      const std::uint32_t hears = (idle >> 31U) - 1;  // all bits, or none: nobody could predict it
      const std::uint32_t wait = (free - arrival) & ~hears;
      if (kKind == TrainKind::pairs) idle += idle + pairs_[to->tile / 2].apart;
      if (kKind == TrainKind::wide) idle = arrival - receive_free_[to->tile];
      outlook.idle += idle & hears;
      outlook.hear += kStep & hears;
      outlook.later = std::max(outlook.later, wait <= patience ? wait : 0);
    }
    return outlook;
  }

  Outlook look_ahead(const TrainRest& rest, std::uint32_t start, std::uint32_t patience,
                     std::uint64_t most) const {
    switch (rest.kind) {
      case TrainKind::narrow:
        return look_ahead<TrainKind::narrow>(rest, start, patience, most);
      case TrainKind::wide:
        return look_ahead<TrainKind::wide>(rest, start, patience, most);
      case TrainKind::pairs:
        return look_ahead<TrainKind::pairs>(rest, start, patience, most);
    }
    return {};
  }

  /// What a train of so many cycles costs its sender.
  std::uint32_t sends(std::uint32_t cycles) const { return policy_.count_sends ? cycles : 0; }

  /// What `choice` may cost to be better than `best`, if all of its receivers hear it.
  static std::uint64_t most_cost(const Choice& choice, const Choice& best) {
    if (best.work == 0) return ~std::uint64_t{0};
    const std::uint64_t equal = best.cost * choice.work;
    return (choice.rank < best.rank ? equal : equal - 1) / best.work;
  }

  /// Takes `choice` if it is better than `best`; so far it says when the train can start at best,
  /// and what it costs at least. A train starts when it suits all receivers, or those not too late.
  void consider(Choice choice, Choice& best) const {
    const TrainRest& rest = rests_[choice.train];
    const std::uint64_t bar = most_cost(choice, best);
    if (bar < sends(rest.held)) return;
    const std::uint64_t most = bar - sends(rest.held);
    const std::uint32_t wait = can_repeat(rest) ? patience(rest) : kEnd;
    Outlook outlook = look_ahead(rest, choice.start, wait, most);
    if (outlook.idle > most) return;
    if (outlook.later > 0) {
      const std::uint32_t start = sender_free(rest, choice.start + outlook.later);
      // Who would have heard it before waits the longer now.
      const std::uint64_t later = start - choice.start;
      if (outlook.idle + outlook.hear * later > most) return;
      choice.start = start;
      outlook = look_ahead(rest, start, 0, most);
    }
    choice.cost = outlook.idle + sends(rest.held);
    choice.work = std::uint64_t{outlook.hear} * rest.held;
    if (better(choice, best)) best = choice;
  }

  /// What `waiting` of `tile` could be, as far as the tile itself knows: it and its pair idle so
  /// long at least, and no more than all can hear it.
  Choice outline(const WaitingTrain& waiting, TileId tile, std::uint32_t rank) const {
    const std::uint32_t way = waiting.latency;
    const std::uint32_t own = receive_free_[tile];
    if (waiting.alone != 0) {
      const std::uint32_t from = own > way ? own - way : 0;
      const std::uint32_t start = send_.earliest(waiting.source, from, waiting.cycles);
      return {waiting.train, start, rank, start + way - own + sends(waiting.held), waiting.held};
    }
    const TrainRest& rest = rests_[waiting.train];
    const std::uint32_t free = receiver_free(rest.wide(), tile);
    const std::uint32_t start = sender_free(rest, free > way ? free - way : 0);
    std::uint64_t cost = start + way - own + sends(rest.held);
    if (rest.wide()) cost += start + way - receive_free_[tile ^ 1U];
    return {waiting.train, start, rank, cost, rest.work()};
  }

  /// Whether no train could be better: none has more receivers, and none of these idles.
  bool unbeaten(const Choice& best) const {
    if (!policy_.count_sends) return best.cost == 0;
    return best.cost * most_receivers_ <= best.work;
  }

  /// The train for `tile` to receive next: of the next few, the one that costs least in proportion
  /// to what is received, and of equals the first.
  Choice choose(TileId tile) {
    Choice best;
    std::uint32_t rank = 0;
    std::size_t deferred = 0;
    for (Range& range : orders_[tile]) {
      range.begin = waits_.next(range.begin, range.end);
      std::uint32_t next = range.begin;
      for (std::uint32_t i = next; i < range.end && rank < policy_.choices; i = next) {
        next = waits_.next(i + 1, range.end);
        if (next < range.end) __builtin_prefetch(&rests_[queues_.waiting[next].train]);
        const WaitingTrain& waiting = queues_.waiting[i];
        const Choice choice = outline(waiting, tile, rank++);
        if (waiting.alone != 0) {
          if (better(choice, best)) best = choice;
        } else if (choice.cost == sends(waiting.held)) {  // nobody here idles
          consider(choice, best);
        } else {
          __builtin_prefetch(&listeners_[rests_[choice.train].first]);
          deferred_[deferred++] = choice;
        }
        if (unbeaten(best)) return best;
      }
    }
    for (std::size_t i = 0; i < deferred; ++i) {
      if (better(deferred_[i], best)) consider(deferred_[i], best);
    }
    return best;
  }

  void place(std::uint32_t train, std::uint32_t start) {
    TrainRest& rest = rests_[train];
    const std::uint32_t served = select(rest, start);
    if (served < rest.count) {
      spare_[rest.source] -= rest.cycles;
      if (rest.wide()) spare_[rest.source ^ 1U] -= rest.cycles;
    }
    emissions_.push_back({train, start, rest.first, served});
    send_.reserve(rest.source, start, rest.cycles);
    if (rest.wide()) send_.reserve(rest.source ^ 1U, start, rest.cycles);
    for (std::uint32_t d = rest.first; d < rest.first + served; ++d) {
      const TrainListener& to = listeners_[d];
      const std::uint32_t free = start + to.latency + rest.held;
      receive_free_[to.tile] = free;
      pairs_[to.tile / 2] = pair_times(to.tile);
      waits_.cross_out(places_[d].waiting);
    }
    rest.first += served;
    rest.count -= served;
  }

  /// Moves the destinations that can hear a start in cycle `start` to the front and counts them.
  /// The tiles of a pair stay together.
  std::uint32_t select(const TrainRest& rest, std::uint32_t start) {
    std::uint32_t front = rest.first;
    for (std::uint32_t d = rest.first; d < rest.first + rest.count; ++d) {
      if (receiver_free(rest.wide(), listeners_[d].tile) > start + listeners_[d].latency) continue;
      if (d != front) {
        std::swap(listeners_[d], listeners_[front]);
        std::swap(places_[d], places_[front]);
      }
      ++front;
    }
    return front - rest.first;
  }

  Policy policy_;
  const ExchangeQueues& queues_;
  std::vector<Emission> emissions_;
  std::vector<TrainRest> rests_;  // by train
  std::uint32_t most_receivers_ = 1;
  std::vector<TrainListener> listeners_;
  std::vector<ListenerEntry> places_;
  OpenMarks waits_;  // of the waiting, which are not yet served
  std::vector<Ranges> orders_;
  SendPorts send_;
  std::vector<std::uint32_t> receive_free_;
  std::vector<PairTimes> pairs_;
  std::vector<std::uint64_t> spare_;
  std::array<Choice, kMostChoices> deferred_;
};

/// What is worth trying: in regular patterns, where every receiver's own order is good, nothing
/// beats keeping to it; the less regular, the more it pays to look around. Counting the senders'
/// cycles keeps multicasts together, which many short ones need; long ones do better without.
constexpr std::array<Policy, 3> kPolicies{{{Order::staggered, 1, false},
                                           {Order::spread, kMostChoices, true},
                                           {Order::spread, kMostChoices, false}}};

/// Large exchanges, which are gathers, are looked around in first; less near a bound is enough.
constexpr std::size_t kLarge = 200'000;
constexpr std::array<Policy, 2> kLargePolicies{
    {{Order::spread, kMostChoices, true}, {Order::staggered, 1, false}}};

// A schedule this near to the bound is good enough.
constexpr Cycle kNear = 32;  // one part in 32 above it
constexpr Cycle kNearLarge = 5;

}  // namespace

Schedule schedule_trains(const ChipParams& params, const LatencyTable& latencies,
                         const StreamList& streams, Cycle bound) {
  const PortLoads loads = port_loads(params, streams);
  const ExchangeQueues queues(params, latencies, streams);
  const bool large = streams.receivers.size() > kLarge;
  const Policy* const policies = large ? kLargePolicies.data() : kPolicies.data();
  const std::size_t count = large ? kLargePolicies.size() : kPolicies.size();
  Schedule best;
  best.length = kNever;
  for (std::size_t p = 0; p < count; ++p) {
    Schedule schedule = ExchangeScheduler(queues, loads, policies[p]).schedule(best.length);
    if (schedule.length < best.length) best = std::move(schedule);
    if (best.length <= bound + bound / (large ? kNearLarge : kNear)) break;
  }
  return best;
}

}  // namespace lacuna::ipu
