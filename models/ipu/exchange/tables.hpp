// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ipu/exchange/streams.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {

/// The timetables of the send ports: each busy without a gap from some cycle on, and a few gaps
/// before.
class SendPorts {
 public:
  explicit SendPorts(std::size_t ports) : ends_(ports), gaps_(ports) {}

  std::uint32_t free(TileId port) const { return ends_[port].free; }

  /// The first cycle from `at` on in which `port` is idle for `cycles`.
  std::uint32_t earliest(TileId port, std::uint32_t at, std::uint32_t cycles) const {
    const Ends& ends = ends_[port];
    if (at + cycles > ends.last_gap) return std::max(at, ends.free);
    const Gaps& gaps = gaps_[port];
    for (unsigned g = 0; g < gaps.count; ++g) {
      const std::uint32_t start = std::max(at, gaps.gap[g].begin);
      if (start + cycles <= gaps.gap[g].end) return start;
    }
    return std::max(at, ends.free);
  }

  void reserve(TileId port, std::uint32_t start, std::uint32_t cycles) {
    Ends& ends = ends_[port];
    if (start >= ends.free) {
      if (start > ends.free) keep(port, {ends.free, start});
      ends.free = start + cycles;
      return;
    }
    Gaps& gaps = gaps_[port];
    for (unsigned g = 0; g < gaps.count; ++g) {
      if (start < gaps.gap[g].begin || start >= gaps.gap[g].end) continue;
      const Gap rest{start + cycles, gaps.gap[g].end};
      gaps.gap[g].end = start;
      if (rest.begin < rest.end) keep(port, rest);
      return;
    }
  }

 private:
  static constexpr unsigned kGaps = 6;

  struct Gap {
    std::uint32_t begin;
    std::uint32_t end;
  };

  struct Gaps {
    std::uint32_t count = 0;
    std::array<Gap, kGaps> gap{};
  };

  /// What nearly always suffices: the end of all that is reserved, and of all gaps there were.
  struct Ends {
    std::uint32_t free = 0;
    std::uint32_t last_gap = 0;
  };

  /// Of more gaps than there are places for, the oldest is given up.
  void keep(TileId port, Gap gap) {
    Gaps& gaps = gaps_[port];
    if (gaps.count == kGaps) {
      std::move(gaps.gap.begin() + 1, gaps.gap.end(), gaps.gap.begin());
      --gaps.count;
    }
    gaps.gap[gaps.count++] = gap;
    ends_[port].last_gap = std::max(ends_[port].last_gap, gap.end);
  }

  std::vector<Ends> ends_;
  std::vector<Gaps> gaps_;
};

/// A heap of tiles: the one with the earliest time is first, of several the lowest.
class EarliestTile {
 public:
  explicit EarliestTile(std::size_t tiles) { heap_.reserve(tiles); }

  bool empty() const { return heap_.empty(); }
  std::uint32_t time() const { return static_cast<std::uint32_t>(heap_.front() >> 32U); }
  TileId tile() const { return static_cast<TileId>(heap_.front() & 0xffffffffU); }

  /// Tiles are added in their order, all at time 0: so the heap is one.
  void add(TileId tile) { heap_.push_back(tile); }

  void remove_first() {
    const std::uint64_t last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }

  void delay_first(std::uint32_t time) { sink(std::uint64_t{time} << 32U | tile()); }

 private:
  void sink(std::uint64_t key) {
    std::size_t hole = 0;
    const std::size_t size = heap_.size();
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      child += static_cast<std::size_t>(child + 1 < size && heap_[child + 1] < heap_[child]);
      if (heap_[child] >= key) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = key;
  }

  std::vector<std::uint64_t> heap_;  // time * 2^32 + tile
};

/// What a tile waits for: a train, or what will be left of it. Tables are searched in a random
/// order, so what a choice reads is kept small and together.
struct WaitingTrain {
  std::uint32_t train : 31;
  std::uint32_t alone : 1;  // nobody else waits for the train
  std::uint32_t cycles;
  std::uint32_t held;
  std::uint16_t source;
  std::uint16_t latency;
};

/// A train at single width; one at double width; and one of these whose listeners stand in pairs.
enum class TrainKind : std::uint8_t { narrow, wide, pairs };

/// What of a train is yet to be sent.
struct TrainRest {
  std::uint32_t first;  // of its listeners
  std::uint32_t count;
  std::uint32_t cycles;
  std::uint32_t held;
  std::uint16_t source;
  TrainKind kind;

  bool wide() const { return kind != TrainKind::narrow; }

  std::uint64_t work() const { return std::uint64_t{count} * held; }
};

/// A tile that waits for a train.
struct TrainListener {
  std::uint16_t tile;
  std::uint16_t latency;
};

/// Where its WaitingTrain stands, and what TrainReceiver::position says.
struct ListenerEntry {
  std::uint32_t waiting;
  std::uint32_t position;
};

/// What all tiles wait for, before anything is sent.
class ExchangeQueues {
 public:
  ExchangeQueues(const ChipParams& params, const LatencyTable& latencies, const StreamList& streams)
      : tiles(params.ipu.tiles), first(tiles + 1U, 0) {
    rests.reserve(streams.trains.size());
    for (const Train& t : streams.trains) {
      rests.push_back({t.first, t.count, t.cycles, t.held, static_cast<std::uint16_t>(t.source),
                       kind_of(t, streams)});
    }
    waiting.resize(streams.receivers.size());
    listeners.resize(streams.receivers.size());
    places.resize(streams.receivers.size());
    for (const TrainReceiver& receiver : streams.receivers) ++first[receiver.tile + 1];
    for (std::size_t i = 0; i < tiles; ++i) first[i + 1] += first[i];
    // What is left over of streams to pairs comes first: it keeps few receivers busy, all at once.
    std::vector<std::uint32_t> end(first.begin(), first.end() - 1);
    fill(latencies, streams, true, end);
    leftovers_end = end;
    fill(latencies, streams, false, end);
  }

  TileId tiles;
  std::vector<TrainRest> rests;
  std::vector<std::uint32_t> first;          // of each tile, in `waiting`; one more at the end
  std::vector<std::uint32_t> leftovers_end;  // of each tile
  std::vector<WaitingTrain> waiting;
  std::vector<TrainListener> listeners;  // of the trains, one after another
  std::vector<ListenerEntry> places;

 private:
  static TrainKind kind_of(const Train& train, const StreamList& streams) {
    if (!train.wide) return TrainKind::narrow;
    bool pairs = train.count % 2 == 0;
    for (std::uint32_t d = train.first; pairs && d < train.first + train.count; d += 2) {
      pairs = (streams.receivers[d].tile ^ 1U) == streams.receivers[d + 1].tile;
    }
    return pairs ? TrainKind::pairs : TrainKind::wide;
  }

  void fill(const LatencyTable& latencies, const StreamList& streams, bool leftovers,
            std::vector<std::uint32_t>& end) {
    for (std::uint32_t t = 0; t < streams.trains.size(); ++t) {
      const Train& train = streams.trains[t];
      if (train.leftover != leftovers) continue;
      for (std::uint32_t d = train.first; d < train.first + train.count; ++d) {
        const TrainReceiver& to = streams.receivers[d];
        const auto latency = static_cast<std::uint16_t>(train_latency(latencies, train, to.tile));
        listeners[d] = {static_cast<std::uint16_t>(to.tile), latency};
        places[d] = {end[to.tile]++, to.position};
        waiting[places[d].waiting] = {t & 0x7fffffffU,
                                      train.count == 1 ? 1U : 0U,
                                      train.cycles,
                                      train.held,
                                      static_cast<std::uint16_t>(train.source),
                                      latency};
      }
    }
  }
};

/// Numbers, of which some are crossed out.
class OpenMarks {
 public:
  explicit OpenMarks(std::size_t count) : words_(count / 64 + 1, ~std::uint64_t{0}) {}

  void cross_out(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  /// The first from `i` on that is not crossed out; `end` if there is none before it.
  std::uint32_t next(std::uint32_t i, std::uint32_t end) const {
    if (i >= end) return end;
    std::uint64_t word = words_[i / 64] >> (i % 64);
    while (word == 0) {
      i = (i / 64 + 1) * 64;
      if (i >= end) return end;
      word = words_[i / 64];
    }
    return std::min(end, i + static_cast<std::uint32_t>(__builtin_ctzll(word)));
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace lacuna::ipu
