// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/streams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

/// Splits transfers into streams while it keeps account of how busy the ports will be.
class StreamMaker {
  // Trains are kept short enough that no port has to wait long for another.
  static constexpr std::uint32_t kLongTrain = 192;
  static constexpr std::uint32_t kTrainsOfAReceiver = 12;

 public:
  StreamMaker(const ChipParams& params, const TransferList& list)
      : params_(params),
        list_(list),
        tiles_(params.ipu.tiles),
        marks_(tiles_ + 1U, 0),
        sending_(tiles_ + 1U, 0),
        receiving_(tiles_ + 1U, 0) {}

  StreamList make() {
    result_.streams.reserve(list_.transfers.size());
    result_.destinations.reserve(list_.destinations.size());
    for (const Transfer& transfer : list_.transfers) check(transfer);
    for (const Transfer& transfer : list_.transfers) count(transfer);
    for (const Transfer& transfer : list_.transfers) split(transfer);
    sort_by_source();
    make_trains();
    return std::move(result_);
  }

 private:
  const Place* begin(const Transfer& t) const { return list_.destinations.data() + t.first; }
  const Place* end(const Transfer& t) const { return begin(t) + t.count; }

  /// Notes the receivers of `transfer`; they are marked until the next call.
  void check(const Transfer& transfer) {
    ++mark_;
    const bool known = transfer.source.tile < tiles_;
    if (known) marks_[transfer.source.tile] = mark_;
    for (const Place* to = begin(transfer); to != end(transfer); ++to) {
      if (!known || to->tile >= tiles_ || marks_[to->tile] == mark_) {
        throw InternalError(
            fmt::format("a transfer from tile {} to tile {}: no such tile, or named twice in it",
                        transfer.source.tile, to->tile));
      }
      marks_[to->tile] = mark_;
    }
  }

  std::uint64_t held(std::uint32_t cycles) const { return held_cycles(params_, cycles); }

  void count(const Transfer& transfer) {
    sending_[transfer.source.tile] += transfer.words;
    for (const Place* to = begin(transfer); to != end(transfer); ++to) {
      receiving_[to->tile] += held(transfer.words);
    }
  }

  void split(const Transfer& transfer) {
    ++mark_;
    for (const Place* to = begin(transfer); to != end(transfer); ++to) marks_[to->tile] = mark_;
    const auto paired = [&](const Place& to) { return complete(to) || lends(transfer, to); };
    const bool wide = params_.exchange.paired && transfer.words >= params_.exchange.paired_words &&
                      pays(transfer, paired);
    if (!wide) {
      add(transfer, false, [](const Place&) { return true; });
      return;
    }
    add(transfer, true, paired);
    const std::size_t before = result_.streams.size();
    add(transfer, false, [&](const Place& to) { return !paired(to); });
    if (result_.streams.size() > before) result_.streams.back().leftover = true;
    book_wide(transfer, paired);
  }

  /// Whether both tiles of the pair need what is being split.
  bool complete(const Place& to) const { return marks_[to.tile ^ 1U] == mark_; }

  /// Whether the partner can receive what only this tile needs.
  bool lends(const Transfer& transfer, const Place& to) const {
    return list_.scratch.has_value() && partner(to.tile) < tiles_ &&
           partner(to.tile) != transfer.source.tile;
  }

  /// The pair of a tile, which the last of an odd number of tiles does not have.
  TileId partner(TileId tile) const { return std::min<TileId>(tile ^ 1U, tiles_); }

  template <class Paired>
  bool pays(const Transfer& transfer, const Paired& paired) const {
    std::uint64_t receiving = 0;
    std::uint32_t pairs = 0;
    for (const Place* to = begin(transfer); to != end(transfer); ++to) {
      if (!paired(*to)) continue;
      ++pairs;
      receiving = std::max(receiving, receiving_[to->tile]);
    }
    if (pairs == 0) return false;
    const TileId source = transfer.source.tile;
    const std::uint64_t wide = (transfer.words + 1) / 2;
    const std::uint64_t rest = pairs == transfer.count ? 0 : transfer.words;
    const std::uint64_t own = sending_[source] - transfer.words + wide + rest;
    return std::max(own, sending_[partner(source)] + wide) <= receiving;
  }

  template <class Paired>
  void book_wide(const Transfer& transfer, const Paired& paired) {
    const TileId source = transfer.source.tile;
    const std::uint64_t wide = (transfer.words + 1) / 2;
    const std::uint64_t held_wide = held(static_cast<std::uint32_t>(wide));
    bool rest = false;
    for (const Place* to = begin(transfer); to != end(transfer); ++to) {
      rest = rest || !paired(*to);
      if (!paired(*to)) continue;
      receiving_[to->tile] -= held(transfer.words) - held_wide;
      if (!complete(*to)) receiving_[to->tile ^ 1U] += held_wide;
    }
    sending_[source] += wide - (rest ? 0 : transfer.words);
    sending_[partner(source)] += wide;
  }

  template <class Takes>
  void add(const Transfer& transfer, bool wide, const Takes& takes) {
    Stream stream{transfer.source, transfer.words,
                  static_cast<std::uint32_t>(result_.destinations.size()), 0, wide};
    for (const Place* to = begin(transfer); to != end(transfer); ++to) {
      if (!takes(*to)) continue;
      result_.destinations.push_back(*to);
      if (wide && !complete(*to)) result_.destinations.push_back({to->tile ^ 1U, *list_.scratch});
    }
    stream.count = static_cast<std::uint32_t>(result_.destinations.size()) - stream.first;
    if (stream.count > 0) result_.streams.push_back(stream);
  }

  /// By source, and those of one source by their first destination; equals stay in their order.
  void sort_by_source() {
    std::vector<std::uint32_t> by_destination(result_.streams.size());
    std::vector<std::uint32_t> next = first_places(
        [this](const Stream& stream) { return result_.destinations[stream.first].tile; });
    for (std::uint32_t s = 0; s < result_.streams.size(); ++s) {
      by_destination[next[result_.destinations[result_.streams[s].first].tile]++] = s;
    }
    next = first_places([](const Stream& stream) { return stream.source.tile; });
    std::vector<std::uint32_t> order(result_.streams.size());
    for (const std::uint32_t s : by_destination) order[next[result_.streams[s].source.tile]++] = s;
    std::vector<Stream> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t s : order) sorted.push_back(result_.streams[s]);
    result_.streams = std::move(sorted);
  }

  /// Where the streams of each tile begin if they are sorted by it.
  template <class TileOf>
  std::vector<std::uint32_t> first_places(const TileOf& tile_of) const {
    std::vector<std::uint32_t> first(tiles_ + 1U, 0);
    for (const Stream& stream : result_.streams) ++first[tile_of(stream) + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    return first;
  }

  void make_trains() {
    const std::uint64_t busiest = *std::max_element(receiving_.begin(), receiving_.end());
    longest_train_ = std::max<std::uint64_t>(kLongTrain, busiest / kTrainsOfAReceiver);
    result_.trains.reserve(result_.streams.size());
    result_.receivers.reserve(result_.destinations.size());
    for (std::uint32_t s = 0; s < result_.streams.size(); ++s) {
      const Stream& stream = result_.streams[s];
      if (!result_.trains.empty() && continues(result_.trains.back(), stream)) {
        Train& train = result_.trains.back();
        ++train.streams;
        train.cycles = train.held + stream.cycles();
        train.held += held_cycles(params_, stream.cycles());
        continue;
      }
      result_.trains.push_back({stream.source.tile, s, 1,
                                static_cast<std::uint32_t>(result_.receivers.size()), stream.count,
                                stream.cycles(), held_cycles(params_, stream.cycles()), stream.wide,
                                stream.leftover});
      for (std::uint32_t d = 0; d < stream.count; ++d) {
        result_.receivers.push_back({result_.destinations[stream.first + d].tile, d});
      }
    }
  }

  bool continues(const Train& train, const Stream& stream) const {
    if (train.source != stream.source.tile || train.wide != stream.wide ||
        train.leftover != stream.leftover || train.count != stream.count ||
        train.held + stream.cycles() > longest_train_) {
      return false;
    }
    const Place* const place = result_.destinations.data() + stream.first;
    return std::equal(place, place + stream.count, result_.receivers.data() + train.first,
                      [](const Place& a, const TrainReceiver& b) { return a.tile == b.tile; });
  }

  const ChipParams& params_;
  const TransferList& list_;
  TileId tiles_;
  StreamList result_;
  std::uint64_t longest_train_ = 0;
  std::vector<std::uint32_t> marks_;  // the transfer that last named a tile
  std::uint32_t mark_ = 0;
  std::vector<std::uint64_t> sending_;  // cycles of work of each port
  std::vector<std::uint64_t> receiving_;
};

}  // namespace

ChipParams exchange_params(const ChipParams& params, const TransferList& list) {
  ChipParams result = params;
  if (!list.paired_words) return result;
  result.exchange.paired_words = *list.paired_words;
  result.exchange.control_events = std::min(1U, params.exchange.control_events.value());
  return result;
}

StreamList make_streams(const ChipParams& params, const TransferList& list) {
  return StreamMaker(params, list).make();
}

PortLoads port_loads(const ChipParams& params, const StreamList& streams) {
  PortLoads loads{std::vector<std::uint64_t>(params.ipu.tiles + 1U, 0),
                  std::vector<std::uint64_t>(params.ipu.tiles, 0)};
  for (const Stream& stream : streams.streams) {
    loads.send[stream.source.tile] += stream.cycles();
    if (stream.wide) loads.send[stream.source.tile ^ 1U] += stream.cycles();
  }
  for (const Train& train : streams.trains) {
    for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
      loads.receive[streams.receivers[d].tile] += train.held;
    }
  }
  return loads;
}

Cycle lower_bound(const ChipParams& params, const LatencyTable& latencies,
                  const StreamList& streams) {
  if (streams.streams.empty()) return 0;
  const PortLoads loads = port_loads(params, streams);
  Cycle shortest = kNever;
  for (const Train& train : streams.trains) {
    for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
      const TileId tile = streams.receivers[d].tile;
      shortest = std::min<Cycle>(shortest, train_latency(latencies, train, tile));
    }
  }
  // The last fragment need not be held beyond its words.
  const std::uint64_t slack = params.exchange.control_events;
  const std::uint64_t receiving = *std::max_element(loads.receive.begin(), loads.receive.end());
  const std::uint64_t sending = *std::max_element(loads.send.begin(), loads.send.end());
  return shortest + std::max(sending, receiving - std::min(slack, receiving));
}

}  // namespace lacuna::ipu
